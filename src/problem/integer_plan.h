// Whole numbers for which alpha A B + beta C is exact in any order of summation. In: problem, contract, terms
// per sum. Out: magnitudes, or that there are none. Used by the exact_integers and permutation families;
// draws nothing.
#pragma once

#include <cstdint>

#include "record/launch.h"

namespace kw {

// With unit = 2^e the largest power of two (at most 1) that both alpha and beta are multiples of, every
// partial result is a multiple of unit; the magnitudes keep each below 2^precision * unit of the accumulator,
// so none rounds.
struct IntegerPlan {
  bool exact =
      false;  // false: no such numbers (alpha = 0.1, or too many terms); the usual bound holds instead
  int64_t small = 8;  // |a|, |b| in [1, small]
  int64_t wide =
      0;  // one element per row of A and column of B is odd and in (wide / 2, wide]: as many bits as
          // the input type has, at most 13, so that inputs cut to a narrower type differ; 0 = none
  int64_t largest_c = 1;  // |c| in [1, largest_c]
};

// terms: products in one sum that are not 0 (k, or 1 where an operand only selects).
[[nodiscard]] IntegerPlan plan_integers(const Problem& problem, const Contract& contract, int64_t terms);

}  // namespace kw
