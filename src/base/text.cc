#include "base/text.h"

#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace kw {
namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: the text does not begin with a well-formed character
};

Character read_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  uint32_t code = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = code < (bytes == 3 ? 0x800u : bytes == 4 ? 0x10000u : 0x80u);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {code, bytes};
}

// C0 and C1 controls, line and paragraph separators, marks that turn the direction of what follows.
bool is_hidden(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

bool is_space(uint32_t code) { return code == '\n' || code == '\t' || code == '\r'; }

std::string print_readable(std::string_view text, size_t most_bytes, bool one_line) {
  constexpr std::string_view kCut = "...";
  KW_CHECK(most_bytes >= kCut.size(), "{} bytes", most_bytes);
  std::string line;
  size_t fits_before_cut = 0;  // length of the longest start that leaves room for "..."
  while (!text.empty()) {
    const Character next = read_character(text);
    std::string_view shown = text.substr(0, next.bytes);
    if (next.bytes == 0 || is_hidden(next.code)) shown = "?";
    if (is_space(next.code)) shown = one_line || next.code == '\r' ? " " : text.substr(0, 1);
    if (line.size() + shown.size() > most_bytes) return line.substr(0, fits_before_cut).append(kCut);
    line += shown;
    if (line.size() + kCut.size() <= most_bytes) fits_before_cut = line.size();
    text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
  return line;
}

}  // namespace

bool is_utf8(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  while (!text.empty()) {
    for (uint64_t eight = 0; text.size() >= sizeof eight; text.remove_prefix(sizeof eight)) {
      std::memcpy(&eight, text.data(), sizeof eight);
      if ((eight & kHighBits) != 0) break;
    }
    if (text.empty()) return true;
    const size_t bytes = read_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

bool is_readable(std::string_view text) {
  while (!text.empty()) {
    const Character next = read_character(text);
    if (next.bytes == 0 || (is_hidden(next.code) && !is_space(next.code))) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

std::string print_line(std::string_view text, size_t most_bytes) {
  return print_readable(text, most_bytes, true);
}

std::string print_lines(std::string_view text, size_t most_bytes) {
  return print_readable(text, most_bytes, false);
}

}  // namespace kw
