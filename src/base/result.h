// Result<T>: a value or an Error with one readable line. Used by every folder; see design.md section 5.
// In: what failed. Out: a line a user can act on, printable whatever it quotes. Does not log and does not
// exit.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/text.h"

namespace kw {

enum class ErrorKind {
  kWorld,  // disk full, library missing, database locked: exit code 1
  kUser,   // the user typed or wrote something wrong: one line, exit code 2
};

struct Error {
  std::string message;
  ErrorKind kind = ErrorKind::kWorld;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// Failure of the world; the message names what, which value, and what to do.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(Error{print_line(fmt::format(text, std::forward<Args>(args)...)), ErrorKind::kWorld});
}

// Bad input from the user; the message says the value and what is allowed.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail_user(fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(Error{print_line(fmt::format(text, std::forward<Args>(args)...)), ErrorKind::kUser});
}

// Passes an error up with context in front: "store.db: disk full".
[[nodiscard]] inline tl::unexpected<Error> with_context(const Error& error, const std::string& context) {
  return tl::unexpected(Error{print_line(context + ": " + error.message), error.kind});
}

}  // namespace kw

#define KW_CONCAT_INNER(a, b) a##b
#define KW_CONCAT(a, b) KW_CONCAT_INNER(a, b)

// KW_TRY(auto x, f()): returns f's error from the enclosing function, else binds x to its value.
#define KW_TRY(declaration, ...) KW_TRY_NAMED(KW_CONCAT(kw_try_, __LINE__), declaration, __VA_ARGS__)
#define KW_TRY_NAMED(name, declaration, ...)                 \
  auto name = (__VA_ARGS__);                                 \
  if (!name) return tl::unexpected(std::move(name).error()); \
  declaration = std::move(*name)

// KW_TRY_VOID(f()): the same for Status.
#define KW_TRY_VOID(expression)                                                  \
  do {                                                                           \
    auto kw_try_status = (expression);                                           \
    if (!kw_try_status) return tl::unexpected(std::move(kw_try_status).error()); \
  } while (false)
