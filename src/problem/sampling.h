// Which part of the output is compared: all of it, or samples of a huge problem (protocol.md A.1).
// In: sizes and limits. Out: rectangles inside the output. Used by make_checks; computes no values.
#pragma once

#include <vector>

#include "base/random.h"
#include "problem/reference.h"

namespace kw {

// Elements of one family's reference kept in memory (16 bytes each), whatever the flop limit allows.
inline constexpr int64_t kMaxReferenceElements = int64_t{1} << 21;

// One rectangle over everything when 2 m n k <= max_flops and m n <= kMaxReferenceElements. Else a quarter of
// that for each of: random row blocks over all columns, the last rows, random column blocks over all rows,
// the last columns; where not even one full row (column) fits, a random stretch of it and its end. Empty when
// m or n is 0.
[[nodiscard]] std::vector<Rectangle> plan_rectangles(int64_t m, int64_t n, int64_t k, double max_flops,
                                                     Random& random);

}  // namespace kw
