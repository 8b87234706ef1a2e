#include "verify/element.h"

#include <cmath>
#include <cstring>

namespace kw {

uint64_t read_bits(Dtype dtype, std::span<const std::byte> bytes, int64_t index) {
  uint64_t bits = 0;
  const int64_t size = dtype_bytes(dtype);
  std::memcpy(&bits, bytes.data() + index * size, static_cast<size_t>(size));
  return bits;
}

void write_bits(Dtype dtype, std::span<std::byte> bytes, int64_t index, uint64_t bits) {
  const int64_t size = dtype_bytes(dtype);
  std::memcpy(bytes.data() + index * size, &bits, static_cast<size_t>(size));
}

bool same_elements(const Operand& operand, std::span<const std::byte> left,
                   std::span<const std::byte> right) {
  if (operand.span() == 0) return true;
  const int64_t size = dtype_bytes(operand.dtype);
  for (int64_t row = 0; row < operand.rows; ++row) {
    const auto start = static_cast<size_t>(row * operand.ld * size);
    const auto length = static_cast<size_t>(operand.cols * size);
    if (std::memcmp(left.data() + start, right.data() + start, length) == 0) continue;
    for (int64_t col = 0; col < operand.cols; ++col) {
      const int64_t index = row * operand.ld + col;
      if (read_bits(operand.dtype, left, index) == read_bits(operand.dtype, right, index)) continue;
      const bool both_nan = std::isnan(load_element(operand.dtype, left, index)) &&
                            std::isnan(load_element(operand.dtype, right, index));
      if (!both_nan) return false;
    }
  }
  return true;
}

void copy_elements(const Operand& operand, std::span<const std::byte> from, std::span<std::byte> to) {
  if (operand.span() == 0) return;
  const int64_t size = dtype_bytes(operand.dtype);
  for (int64_t row = 0; row < operand.rows; ++row) {
    const auto start = static_cast<size_t>(row * operand.ld * size);
    std::memcpy(to.data() + start, from.data() + start, static_cast<size_t>(operand.cols * size));
  }
}

}  // namespace kw
