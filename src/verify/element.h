// Elements of an operand as bit patterns: comparing and copying rows without their gaps. Used by poison, null
// kernels and the comparison of repeats. Values are record/element.h's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/element.h"
#include "record/workload.h"

namespace kw {

// The bit pattern of an element, zero-extended.
[[nodiscard]] uint64_t read_bits(Dtype dtype, std::span<const std::byte> bytes, int64_t index);
void write_bits(Dtype dtype, std::span<std::byte> bytes, int64_t index, uint64_t bits);

// True when two buffers of the operand hold the same elements: equal bits, or NaN in both. Gaps are not
// looked at.
[[nodiscard]] bool same_elements(const Operand& operand, std::span<const std::byte> left,
                                 std::span<const std::byte> right);

// Copies the operand's elements row by row; gaps of pitched rows stay as they are.
void copy_elements(const Operand& operand, std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace kw
