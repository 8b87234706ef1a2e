#include "problem/integer_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "record/element.h"

namespace kw {
namespace {

constexpr int64_t kLargestSmall = 8;
constexpr int64_t kLargestC = 1000;
constexpr int kWidestBits = 13;  // more than tf32 and f16 (11) and bf16 (8) have

// A power of two (at most 1) that value is a multiple of; nullopt when that is below the type's normal range.
std::optional<double> find_unit(double value, double smallest_normal) {
  double unit = 1;
  while (unit >= smallest_normal && std::fmod(value, unit) != 0) unit /= 2;
  return unit >= smallest_normal ? std::optional(unit) : std::nullopt;
}

}  // namespace

IntegerPlan plan_integers(const Problem& problem, const Contract& contract, int64_t terms) {
  const DtypeFacts input = get_dtype_facts(contract.input), accumulate = get_dtype_facts(contract.accumulate);
  const int64_t widest = (int64_t{1} << std::min(input.precision_bits, kWidestBits)) - 1;
  const std::optional<double> alpha_unit = find_unit(problem.alpha, accumulate.smallest_normal);
  const std::optional<double> beta_unit = find_unit(problem.beta, accumulate.smallest_normal);
  const IntegerPlan inexact{false, kLargestSmall, 0, kLargestC};
  if (!alpha_unit || !beta_unit) return inexact;

  const double capacity = std::ldexp(std::min(*alpha_unit, *beta_unit), accumulate.precision_bits);
  const double alpha = std::max(1.0, std::fabs(problem.alpha)), beta = std::max(1.0, std::fabs(problem.beta));
  const int64_t c_limit =
      std::min({kLargestC, (int64_t{1} << get_dtype_facts(contract.output).precision_bits) - 1});
  for (const int64_t wide : {widest, int64_t{0}}) {
    for (const int64_t largest_c :
         {problem.beta == 0 ? int64_t{0} : c_limit, problem.beta == 0 ? int64_t{0} : int64_t{8}}) {
      for (int64_t small = kLargestSmall; small >= 1; --small) {
        const double sum = static_cast<double>(terms) * static_cast<double>(small * small) +
                           2.0 * static_cast<double>(small * wide);
        if (alpha * sum + beta * static_cast<double>(largest_c) <= capacity)
          return {true, small, wide, std::max<int64_t>(largest_c, 1)};
      }
    }
  }
  return inexact;
}

}  // namespace kw
