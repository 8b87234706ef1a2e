// The float64 reference of protocol.md A.1: op(A) op(B) and |op(A)| |op(B)| on a rectangle of the output,
// full depth. In: operands as stored. Out: two float64 rectangles. Used by make_checks. Knows no alpha, beta,
// C or bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "record/workload.h"

namespace kw {

// Part of the output: rows [row, row + rows), columns [col, col + cols).
struct Rectangle {
  int64_t row = 0, col = 0, rows = 0, cols = 0;
  int64_t elements() const { return rows * cols; }
  bool operator==(const Rectangle&) const = default;
};

struct Sums {
  std::vector<double> value;      // (rows, cols) sum over k of a * b
  std::vector<double> magnitude;  // (rows, cols) sum over k of |a| * |b|; empty when not asked for
};

// contents holds at least operands a and b, span_bytes() long each. The order of summation is fixed by k
// alone, so the result does not depend on the number of threads or on the rectangle.
[[nodiscard]] Sums compute_sums(const Workload& workload, std::span<const std::vector<std::byte>> contents,
                                const Rectangle& where, bool with_magnitude);

}  // namespace kw
