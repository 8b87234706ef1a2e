// Shape list: every shape is a legal problem, and printing the list and reading it again changes nothing.
#include "base/check.h"
#include "problem/model.h"
#include "target.h"

namespace kw::fuzz {
namespace {

void demand_legal(const ProblemUse& use) {
  KW_CHECK(check_problem(use.problem).has_value(), "{}", print_problem(use.problem));
  const auto again = parse_problem(print_problem(use.problem));
  KW_CHECK(again.has_value() && *again == use.problem, "{}", print_problem(use.problem));
  KW_CHECK(use.count >= 1 && use.tokens >= 0, "count {} tokens {}", use.count, use.tokens);
  demand_text(use.name, 1 << 16);
  demand_text(use.phase, 1 << 16);
}

}  // namespace

void run_shapes_csv(std::string_view input) {
  const auto uses = parse_shapes_csv(input, "shapes.csv");
  if (!uses) return demand_plain(uses.error());
  int64_t calls = 0, merged_calls = 0;
  for (const ProblemUse& use : *uses) {
    demand_legal(use);
    calls += use.count;
  }
  const std::string printed = print_shapes_csv(*uses);
  const auto again = parse_shapes_csv(printed, "printed");
  KW_CHECK(again.has_value(), "{}", again.error().message);
  KW_CHECK(again->size() == uses->size() && print_shapes_csv(*again) == printed, "changed by printing: {}",
           printed);
  for (size_t i = 0; i < uses->size(); ++i) {
    const ProblemUse &a = (*uses)[i], &b = (*again)[i];
    KW_CHECK(a.problem == b.problem && a.name == b.name && a.phase == b.phase && a.tokens == b.tokens &&
                 a.count == b.count,
             "line {} of {}", i, printed);
  }
  for (const ProblemUse& use : merge_uses(*uses)) merged_calls += use.count;
  KW_CHECK(calls == merged_calls, "{} calls, {} after merging", calls, merged_calls);
}

}  // namespace kw::fuzz
