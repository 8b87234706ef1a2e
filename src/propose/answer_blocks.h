// Fenced blocks of a model's Markdown answer, as models really write them. In: text. Out: label, content and
// place of every block in order. Used by llm_answer.cc; judges no content.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct AnswerBlock {
  std::string label;    // first word behind the opening fence, in small letters: "json", "cpp", ""
  std::string content;  // lines, each ended by \n; indentation of the fence and \r at line ends are gone
  int64_t line = 0;     // of the opening fence, from 1
  bool closed = false;  // false: the text, or the next labelled fence, came first
};

// A fence is three or more ` or ~; it opens a block at a line's start, or behind other text when nothing or
// only json, c, c++, cpp, cc or cxx follows it. A block ends at a line of at least as many, or at a line that
// ends with them. Fences that open and close on one line hold one line.
[[nodiscard]] std::vector<AnswerBlock> find_answer_blocks(std::string_view text);

}  // namespace kw
