// A C or C++ text as the compiler's first phases see it: continued lines joined, comments gone, the insides
// of literals kept apart. In: untrusted text. Out: tokens with their lines. Used by source_rules.cc; expands
// and judges nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct SourceToken {
  enum class Kind { kWord, kNumber, kLiteral, kMark };  // kMark: one character
  Kind kind = Kind::kMark;
  std::string_view text;  // into SourceTokens::joined
  int64_t line = 1;       // of the given text, from 1
  bool starts_line = false;
  bool is_word(std::string_view word) const { return kind == Kind::kWord && text == word; }
  bool is_mark(char mark) const { return kind == Kind::kMark && text[0] == mark; }
};

// Not copied or moved: the tokens point into it.
class SourceTokens {
 public:
  explicit SourceTokens(std::string_view text);
  SourceTokens(const SourceTokens&) = delete;
  SourceTokens& operator=(const SourceTokens&) = delete;

  const std::vector<SourceToken>& tokens() const { return tokens_; }
  // What stands between two tokens, comments included.
  std::string_view between(const SourceToken& first, const SourceToken& last) const;

 private:
  void scan();
  void skip_comment(bool block);
  void add(SourceToken::Kind kind, size_t end);
  size_t find_literal_end() const;
  size_t find_number_end() const;
  size_t find_word_end() const;

  std::string joined_;
  std::vector<SourceToken> tokens_;
  size_t at_ = 0;
  int64_t line_ = 1;
  bool starts_line_ = true;
};

}  // namespace kw
