#include "problem/rounding.h"

#include <algorithm>
#include <cmath>

#include "record/element.h"

namespace kw {
namespace {

constexpr int64_t kExtraRoundings = 3;
constexpr double kProbabilisticLimit = 0.125;

}  // namespace

double accumulated_roundoff(int64_t k, Dtype accumulate) {
  const double u = get_dtype_facts(accumulate).unit_roundoff;
  const double roundings = static_cast<double>(k + kExtraRoundings);
  const double rigorous = std::expm1(roundings * std::log1p(u));
  const bool wide = accumulate == Dtype::kF32 || accumulate == Dtype::kF64;
  if (!wide || roundings * u > kProbabilisticLimit) return rigorous;
  return std::min(rigorous,
                  std::expm1(kRoundoffLambda * std::sqrt(roundings) * u + roundings * u * u / (1 - u)));
}

ErrorBound::ErrorBound(const Problem& problem, const Contract& contract)
    : alpha_(std::fabs(problem.alpha)),
      beta_(std::fabs(problem.beta)),
      terms_(static_cast<double>(problem.k + kExtraRoundings)),
      roundoff_(kBoundScale * accumulated_roundoff(problem.k, contract.accumulate)),
      reference_roundoff_(accumulated_roundoff(problem.k, Dtype::kF64)),
      output_roundoff_(get_dtype_facts(contract.output).unit_roundoff) {
  const DtypeFacts accumulate = get_dtype_facts(contract.accumulate);
  underflow_ =
      contract.accumulate == Dtype::kF16 ? accumulate.smallest_subnormal : accumulate.smallest_normal;
  output_underflow_ = get_dtype_facts(contract.output).smallest_subnormal;
}

double ErrorBound::at(const ElementSizes& sizes) const {
  const double weight = alpha_ * sizes.product + beta_ * sizes.previous;
  const double accumulated = roundoff_ * weight;
  // A flushed product, or a scalar that is subnormal in the accumulator's type and so carries no relative
  // accuracy.
  const double underflow = underflow_ * (std::max(1.0, alpha_) * terms_ + sizes.product + sizes.previous);
  return accumulated + reference_roundoff_ * weight +
         output_roundoff_ * (std::fabs(sizes.reference) + accumulated) + underflow + output_underflow_;
}

}  // namespace kw
