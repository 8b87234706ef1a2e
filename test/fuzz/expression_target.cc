// Launch arithmetic: the same expression gives the same value or the same refusal, whatever the sizes, and
// means the same inside parentheses.
#include <array>

#include "base/check.h"
#include "record/launch.h"
#include "target.h"

namespace kw::fuzz {
namespace {

constexpr std::array<int64_t, 8> kSizes = {0,         1,        7, -1, int64_t{1} << 31, int64_t{1} << 62,
                                           INT64_MAX, INT64_MIN};

void compare(const Expression& plain, const Expression& wrapped, const Variables& variables) {
  const auto value = plain.evaluate(variables), again = wrapped.evaluate(variables);
  if (!value) demand_plain(value.error());
  KW_CHECK(value.has_value() == again.has_value(), "{} changes in parentheses", plain.text());
  KW_CHECK(!value || *value == *again, "{} is {} and in parentheses {}", plain.text(), *value, *again);
}

}  // namespace

void run_expression(std::string_view input) {
  const auto expression = Expression::parse(input);
  if (!expression) return demand_plain(expression.error());
  KW_CHECK(expression->text() == input, "text changed: {}", expression->text());
  const auto wrapped = Expression::parse("(" + expression->text() + ")");
  if (!wrapped) return demand_plain(wrapped.error());  // longer or deeper than allowed
  for (const int64_t size : kSizes)
    for (const int64_t other : kSizes)
      compare(*expression, *wrapped,
              {{"m", size}, {"n", other}, {"k", size}, {"lda", other}, {"threads", size}});
  const auto unknown = expression->evaluate({});
  if (!unknown) demand_plain(unknown.error());
}

}  // namespace kw::fuzz
