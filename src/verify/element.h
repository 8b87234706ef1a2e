// Elements of an operand as bytes <-> float64, and rounding to narrower formats. Used by compare, poison,
// null kernels and the diagnosis. Knows formats only, no operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/workload.h"

namespace kw {

// Element `index` (in elements from the first byte) of a buffer of `dtype`, exactly.
[[nodiscard]] double read_element(Dtype dtype, std::span<const std::byte> bytes, int64_t index);

// Rounds to nearest even into the format; beyond its range becomes infinite.
void write_element(Dtype dtype, std::span<std::byte> bytes, int64_t index, double value);

// The bit pattern of an element, zero-extended.
[[nodiscard]] uint64_t read_bits(Dtype dtype, std::span<const std::byte> bytes, int64_t index);
void write_bits(Dtype dtype, std::span<std::byte> bytes, int64_t index, uint64_t bits);

// `value` rounded to nearest even in the format's precision and range (subnormals included).
[[nodiscard]] double round_to(Dtype dtype, double value);

// True when two buffers of the operand hold the same elements: equal bits, or NaN in both. Gaps are not
// looked at.
[[nodiscard]] bool same_elements(const Operand& operand, std::span<const std::byte> left,
                                 std::span<const std::byte> right);

// Copies the operand's elements row by row; gaps of pitched rows stay as they are.
void copy_elements(const Operand& operand, std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace kw
