// Text from outside made fit for a message, a terminal or a JSON document. In: any bytes. Out: UTF-8 without
// control characters, of bounded length. Used where errors and verdicts quote what a file or a model said.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kw {

inline constexpr size_t kMaxPrintedBytes = 2000;

// Well-formed as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);

// UTF-8 without control characters and direction marks, but for tabs and line ends: may become a name in a
// database, a JSON document or a terminal as it is.
[[nodiscard]] bool is_readable(std::string_view text);

// One line: white space becomes a blank; control characters, direction marks and bytes that are not UTF-8
// become "?"; what would exceed most_bytes (3 or more) is cut between characters and ends in "...".
[[nodiscard]] std::string print_line(std::string_view text, size_t most_bytes = kMaxPrintedBytes);

// The same, but line ends and tabs stay.
[[nodiscard]] std::string print_lines(std::string_view text, size_t most_bytes);

}  // namespace kw
