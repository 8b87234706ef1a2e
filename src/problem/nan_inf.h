// NaN and Inf in single elements of operands that hold finite values (protocol.md A.3). In: contents as
// stored and what is compared. Out: the same contents, spoiled. Used by the nan_inf family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "problem/reference.h"
#include "record/launch.h"

namespace kw {

// One NaN and one Inf in A and in B, in rows and columns that `compared` sees, and a NaN in C when beta is
// not 0, as far as one output stays finite (1 x 1: one Inf). With alpha 0 those in A and B must not show,
// as BLAS defines; none are put there when alpha only vanishes in the accumulator. No order of summation
// turns these NaN into Inf or back: finite sums do not overflow here, so every non-finite output is the one
// IEEE gives.
void place_nan_inf(const Workload& workload, const Contract& contract, const std::vector<Rectangle>& compared,
                   uint64_t seed, std::vector<std::vector<std::byte>>& contents);

}  // namespace kw
