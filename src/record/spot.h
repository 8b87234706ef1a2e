// Spot: one output element that is looked at after timed calls, and who knows its value. Given by src/problem
// to src/measure through the loop, so that measure stays free of mathematics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace kw {

struct Spot {
  int64_t row = 0, col = 0;  // of the output operand
  double before = 0;         // its value before the calls; meaningless when the output is pure
  int64_t calls = 1;         // how often the operand set was run, each call on the output of the one before
};

struct SpotValue {
  double value = 0, bound = 0;  // float64 reference and largest |difference| that passes
};

// operands: contents of one set in the workload's order, span_bytes() long each.
using SpotReference =
    std::function<SpotValue(std::span<const std::span<const std::byte>> operands, const Spot& spot)>;

}  // namespace kw
