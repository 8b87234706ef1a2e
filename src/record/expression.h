// Launch arithmetic as text over a workload's sizes: "ceil_div(m,64)". Read from launch records; evaluated by
// target.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw {

using Variables = std::map<std::string, int64_t, std::less<>>;

// int64 arithmetic: numbers, names, + - * / %, parentheses, min(a,b) max(a,b) ceil_div(a,b).
// Overflow, division by zero and unknown names are errors, never wrapped values.
class Expression {
 public:
  Expression() : text_("0") {}
  [[nodiscard]] static Result<Expression> parse(std::string_view text);
  [[nodiscard]] Result<int64_t> evaluate(const Variables& variables) const;
  const std::string& text() const { return text_; }
  bool operator==(const Expression& other) const { return text_ == other.text_; }

 private:
  std::string text_;
};

// The value, or a user error when it lies outside [least, most]; `what` is its name in messages.
[[nodiscard]] Result<int64_t> evaluate_within(const Expression& expression, const Variables& variables,
                                              std::string_view what, int64_t least, int64_t most);

}  // namespace kw
