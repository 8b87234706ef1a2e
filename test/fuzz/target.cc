#include "target.h"

#include "base/check.h"

namespace kw::fuzz {

void demand_line(std::string_view message) {
  KW_CHECK(!message.empty(), "an error without a message");
  demand_text(message, kMaxPrintedBytes);
  KW_CHECK(print_line(message) == message, "not a plain line: {}", message);
}

void demand_plain(const Error& error) {
  KW_CHECK(error.kind == ErrorKind::kUser, "bad text reported as a failure of the world: {}", error.message);
  demand_line(error.message);
}

void demand_text(std::string_view text, size_t most_bytes) {
  KW_CHECK(text.size() <= most_bytes, "{} bytes, at most {}", text.size(), most_bytes);
  KW_CHECK(is_utf8(text), "not UTF-8: {}", print_line(text));
}

}  // namespace kw::fuzz
