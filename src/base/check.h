// KW_CHECK(condition, format, values...): a mistake of ours stops the program with file, line and values.
// On in every build. Never used for bad input, a failed experiment or a failing world.
#pragma once

#include <fmt/format.h>

#include <string>

namespace kw {
[[noreturn]] void stop_on_broken_invariant(const char* file, int line, const char* condition,
                                           const std::string& values);
}

#define KW_CHECK(condition, ...)                                                              \
  do {                                                                                        \
    if (!(condition))                                                                         \
      kw::stop_on_broken_invariant(__FILE__, __LINE__, #condition, fmt::format(__VA_ARGS__)); \
  } while (false)
