#include "emit/source_tokens.h"

#include <algorithm>

namespace kw {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
// Bytes above 0x7f are letters: GCC takes them in names.
bool is_word_part(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Joins lines that end in a backslash, with blanks behind it or not. The line ends taken out come back behind
// the joined line, so that later lines keep their numbers.
std::string join_lines(std::string_view text) {
  std::string joined;
  size_t held = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      size_t end = i + 1;
      while (end < text.size() && is_blank(text[end])) ++end;
      if (end < text.size() && text[end] == '\n') {
        ++held;
        i = end;
        continue;
      }
    }
    joined += text[i];
    if (text[i] != '\n') continue;
    joined.append(held, '\n');
    held = 0;
  }
  return joined;
}

}  // namespace

SourceTokens::SourceTokens(std::string_view text) : joined_(join_lines(text)) { scan(); }

std::string_view SourceTokens::between(const SourceToken& first, const SourceToken& last) const {
  const auto begin = static_cast<size_t>(first.text.data() - joined_.data()) + first.text.size();
  return std::string_view(joined_).substr(begin,
                                          static_cast<size_t>(last.text.data() - joined_.data()) - begin);
}

void SourceTokens::scan() {
  while (at_ < joined_.size()) {
    const char c = joined_[at_], next = at_ + 1 < joined_.size() ? joined_[at_ + 1] : '\0';
    if (c == '\n') {
      ++line_, ++at_;
      starts_line_ = true;
    } else if (is_blank(c)) {
      ++at_;
    } else if (c == '/' && (next == '/' || next == '*')) {
      skip_comment(next == '*');
    } else if (c == '"' || c == '\'') {
      add(SourceToken::Kind::kLiteral, find_literal_end());
    } else if (is_digit(c) || (c == '.' && is_digit(next))) {
      add(SourceToken::Kind::kNumber, find_number_end());
    } else if (is_word_part(c)) {
      add(SourceToken::Kind::kWord, find_word_end());
    } else {
      add(SourceToken::Kind::kMark, at_ + 1);
    }
  }
}

void SourceTokens::skip_comment(bool block) {
  const size_t found = block ? joined_.find("*/", at_ + 2) : joined_.find('\n', at_);
  const size_t end = found == std::string::npos ? joined_.size() : found + (block ? 2 : 0);
  line_ += std::count(joined_.begin() + static_cast<std::ptrdiff_t>(at_),
                      joined_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  at_ = end;
}

void SourceTokens::add(SourceToken::Kind kind, size_t end) {
  tokens_.push_back({kind, std::string_view(joined_).substr(at_, end - at_), line_, starts_line_});
  starts_line_ = false;
  at_ = end;
}

// A literal ends at its quote, or at the line's end where that is missing.
size_t SourceTokens::find_literal_end() const {
  for (size_t i = at_ + 1; i < joined_.size(); ++i) {
    if (joined_[i] == '\n') return i;
    if (joined_[i] == joined_[at_]) return i + 1;
    if (joined_[i] == '\\' && i + 1 < joined_.size() && joined_[i + 1] != '\n') ++i;
  }
  return joined_.size();
}

// A preprocessing number without digit separators.
size_t SourceTokens::find_number_end() const {
  size_t end = at_ + 1;
  while (end < joined_.size()) {
    const bool sign = joined_[end] == '+' || joined_[end] == '-';
    const bool after_exponent = std::string_view("eEpP").find(joined_[end - 1]) != std::string_view::npos;
    if (!is_word_part(joined_[end]) && joined_[end] != '.' && !(sign && after_exponent)) break;
    ++end;
  }
  return end;
}

size_t SourceTokens::find_word_end() const {
  size_t end = at_ + 1;
  while (end < joined_.size() && is_word_part(joined_[end])) ++end;
  return end;
}

}  // namespace kw
