// Model file: the products of a step are legal problems, few, and survive a shape list.
#include <algorithm>

#include "base/check.h"
#include "problem/model.h"
#include "target.h"

namespace kw::fuzz {
namespace {

constexpr size_t kMostProductsPerStep = 64;

void run_plan(std::string_view input, const ModelPlan& plan) {
  const auto uses = parse_model(input, "config.json", plan);
  if (!uses) return demand_plain(uses.error());
  KW_CHECK(uses->size() <= kMostProductsPerStep * plan.tokens.size(), "{} products", uses->size());
  for (const ProblemUse& use : *uses) {
    KW_CHECK(check_problem(use.problem).has_value(), "{}", print_problem(use.problem));
    KW_CHECK(use.count >= 1 && use.problem.dtype == plan.dtype, "{} x {}", use.count,
             print_problem(use.problem));
    KW_CHECK(std::find(plan.tokens.begin(), plan.tokens.end(), use.tokens) != plan.tokens.end(), "{} tokens",
             use.tokens);
  }
  const std::string printed = print_shapes_csv(*uses);
  const auto again = parse_shapes_csv(printed, "printed");
  KW_CHECK(again.has_value(), "{}", again.error().message);
  KW_CHECK(print_shapes_csv(*again) == printed, "changed by printing: {}", printed);
}

}  // namespace

void run_model(std::string_view input) {
  run_plan(input, {.tokens = {1, 512}});
  run_plan(input, {.tokens = {int64_t{1} << 24}, .training = true, .dtype = Dtype::kBf16});
}

}  // namespace kw::fuzz
