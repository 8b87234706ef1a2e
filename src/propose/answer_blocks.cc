#include "propose/answer_blocks.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace kw {
namespace {

constexpr size_t kShortestFence = 3;
constexpr size_t kLongestLabel = 20;
constexpr std::string_view kBlanks = " \t\r";

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// Length of the run of `mark` that `text` begins or ends with.
size_t count_front(std::string_view text, char mark) {
  return std::min(text.find_first_not_of(mark), text.size());
}
size_t count_back(std::string_view text, char mark) {
  return text.size() - (text.find_last_not_of(mark) + 1);
}

struct Fence {
  char mark = '`';
  size_t length = 0, at = 0;  // at: position in the line
};

std::optional<Fence> find_fence(std::string_view line) {
  const size_t start = line.find_first_not_of(kBlanks);
  if (start == std::string_view::npos) return std::nullopt;
  for (const char mark : {'`', '~'})
    if (const size_t length = count_front(line.substr(start), mark); length >= kShortestFence)
      return Fence{mark, length, start};
  const size_t at = line.find("```");
  if (at == std::string_view::npos) return std::nullopt;
  return Fence{'`', count_front(line.substr(at), '`'), at};
}

bool is_label(std::string_view word) {
  return word.size() <= kLongestLabel && std::all_of(word.begin(), word.end(), [](char letter) {
           return std::isalnum(static_cast<unsigned char>(letter)) ||
                  std::string_view("+-_#.").find(letter) != std::string_view::npos;
         });
}

// What may follow a fence that stands behind other text; anything else there is prose about fences.
bool is_language(std::string_view word) {
  constexpr std::string_view kLanguages[] = {"", "json", "c", "c++", "cpp", "cc", "cxx"};
  return std::find(std::begin(kLanguages), std::end(kLanguages), word) != std::end(kLanguages);
}

std::string take_label(std::string_view& rest) {
  rest = trim(rest);
  const std::string_view word = rest.substr(0, std::min(rest.find_first_of(" \t{"), rest.size()));
  if (!is_label(word)) return {};
  rest = trim(rest.substr(word.size()));
  std::string label(word);
  for (char& letter : label) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return label;
}

class BlockReader {
 public:
  void read_line(std::string_view line) {
    ++line_number_;
    if (fence_)
      read_inside(line);
    else
      read_outside(line);
  }
  std::vector<AnswerBlock> take() { return std::move(blocks_); }

 private:
  void read_outside(std::string_view line) {
    const auto fence = find_fence(line);
    if (!fence) return;
    std::string_view rest = line.substr(fence->at + fence->length);
    const size_t end = rest.find(std::string(fence->length, fence->mark));
    const bool at_start = trim(line.substr(0, fence->at)).empty();
    if (end != std::string_view::npos) {
      if (at_start) open(rest.substr(0, end), true);
      return;
    }
    if (!at_start && !is_language(trim(rest))) return;
    open(rest, false);
    fence_ = fence;
    indentation_ = at_start ? fence->at : 0;
  }

  // `rest` is what follows the fence on its line: a label, and content where that begins with "{".
  void open(std::string_view rest, bool closed) {
    AnswerBlock block;
    block.line = line_number_;
    block.label = take_label(rest);
    block.closed = closed;
    blocks_.push_back(std::move(block));
    if (closed || rest.starts_with('{')) add_line(rest);
  }

  void read_inside(std::string_view line) {
    line.remove_prefix(std::min({indentation_, line.find_first_not_of(" \t"), line.size()}));
    const std::string_view trimmed = trim(line);
    const size_t front = count_front(trimmed, fence_->mark), back = count_back(trimmed, fence_->mark);
    const bool only_fence = front == trimmed.size();
    if (front >= fence_->length && !only_fence && is_label(trim(trimmed.substr(front)))) {
      fence_.reset();  // the block above was never closed
      return read_outside(line);
    }
    if (back < fence_->length || (fence_->mark == '~' && !only_fence)) return add_line(line);
    if (!only_fence) add_line(line.substr(0, line.find_last_of(fence_->mark) + 1 - back));
    blocks_.back().closed = true;
    fence_.reset();
  }

  void add_line(std::string_view line) {
    std::string& content = blocks_.back().content;
    content += line.substr(0, line.find_last_not_of('\r') + 1);
    content += '\n';
  }

  std::vector<AnswerBlock> blocks_;
  std::optional<Fence> fence_;  // of the block that is open
  size_t indentation_ = 0;
  int64_t line_number_ = 0;
};

}  // namespace

std::vector<AnswerBlock> find_answer_blocks(std::string_view text) {
  BlockReader reader;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    reader.read_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

}  // namespace kw
