// How far an honest kernel may be from the float64 reference (protocol.md A.2). In: depth and the contract's
// types. Out: the factor in front of |A||B| and the whole per-element bound. Used by make_checks; knows no
// inputs.
#pragma once

#include "record/launch.h"

namespace kw {

// c1 of protocol.md A.2: accumulated_roundoff already covers every order of summation, so nothing is added.
inline constexpr double kBoundScale = 1.0;

// lambda of the probabilistic bound. Roundings behave like independent zero-mean errors of standard deviation
// at most u / sqrt(3); a plain loop over positive data then errs by about sqrt(k) u |A||B| / 3, so 6 stands
// at 18 deviations.
inline constexpr double kRoundoffLambda = 6.0;

// Largest relative error, against |alpha||A||B| + |beta C|, of alpha A B + beta C in any order in the
// accumulator. One term meets at most k + 3 roundings: alpha into the type, times alpha, the product, and k
// additions in the worst tree over k products and beta C. Rigorous: gamma = (1 + u)^(k+3) - 1. For f32 and
// f64 with (k+3) u <= 1/8 the smaller of that and the probabilistic exp(lambda sqrt(k+3) u + (k+3) u^2 /
// (1-u)) - 1 (Higham and Mary 2019, theorem 3.1); narrower accumulators stagnate, where roundings are not
// independent, and keep the rigorous one.
[[nodiscard]] double accumulated_roundoff(int64_t k, Dtype accumulate);

// What the bound of one element depends on.
struct ElementSizes {
  double reference = 0;  // alpha (A B)_ij + beta C_ij, finite
  double product = 0;    // (|A| |B|)_ij
  double previous = 0;   // |C_ij| before the call; 0 when beta is 0
};

// Bound of protocol.md A.2 for all elements of one problem: kBoundScale * roundoff * (|alpha||A||B| + |beta
// C|), the rounding to the output type, the float64 reference's own error, and underflow (f32 and bf16 may
// flush subnormals).
class ErrorBound {
 public:
  ErrorBound(const Problem& problem, const Contract& contract);
  [[nodiscard]] double at(const ElementSizes& sizes) const;

 private:
  double alpha_, beta_, terms_;
  double roundoff_, reference_roundoff_, output_roundoff_;
  double underflow_, output_underflow_;
};

}  // namespace kw
