// Element formats by their IEEE layouts; see element.h. Called on every compared element, so f32 comes first.
#include "verify/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace kw {
namespace {

struct Format {
  int significant_bits;  // with the hidden one
  int least_exponent;    // frexp exponent of the least normal number
  double largest;
};

Format get_format(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return {11, -13, 65504.0};
    case Dtype::kBf16:
      return {8, -125, 0x1.FEp127};
    case Dtype::kF32:
      return {24, -125, 0x1.FFFFFEp127};
    case Dtype::kF64:
      return {53, -1021, 0x1.FFFFFFFFFFFFFp1023};
  }
  KW_CHECK(false, "dtype {}", static_cast<int>(dtype));
}

double decode_f16(uint16_t bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

uint16_t encode_f16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double rounded = std::fabs(round_to(Dtype::kF16, value));
  if (std::isinf(rounded)) return sign | 0x7c00;
  if (rounded < 0x1p-14) return sign | static_cast<uint16_t>(std::ldexp(rounded, 24));
  int exponent = 0;
  std::frexp(rounded, &exponent);
  const auto mantissa = static_cast<int>(std::ldexp(rounded, 11 - exponent)) - 1024;
  return static_cast<uint16_t>(sign | (exponent + 14) << 10 | mantissa);
}

uint16_t encode_bf16(double value) {
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(round_to(Dtype::kBf16, value))) >>
                               16);
}

}  // namespace

double round_to(Dtype dtype, double value) {
  if (dtype == Dtype::kF64) return value;
  if (dtype == Dtype::kF32) return static_cast<float>(value);
  if (!std::isfinite(value) || value == 0) return value;
  const Format format = get_format(dtype);
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent, format.least_exponent) - format.significant_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::fabs(rounded) <= format.largest ? rounded : std::copysign(INFINITY, value);
}

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

double read_element(Dtype dtype, std::span<const std::byte> bytes, int64_t index) {
  if (dtype == Dtype::kF32) {  // most elements: a copy of known size
    float value = 0;
    std::memcpy(&value, bytes.data() + index * 4, sizeof value);
    return value;
  }
  const uint64_t bits = read_bits(dtype, bytes, index);
  switch (dtype) {
    case Dtype::kF32:
      break;
    case Dtype::kF16:
      return decode_f16(static_cast<uint16_t>(bits));
    case Dtype::kBf16:
      return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
    case Dtype::kF64:
      return std::bit_cast<double>(bits);
  }
  KW_CHECK(false, "dtype {}", static_cast<int>(dtype));
}

void write_element(Dtype dtype, std::span<std::byte> bytes, int64_t index, double value) {
  uint64_t bits = 0;
  switch (dtype) {
    case Dtype::kF32:
      bits = std::bit_cast<uint32_t>(static_cast<float>(value));
      break;
    case Dtype::kF16:
      bits = encode_f16(value);
      break;
    case Dtype::kBf16:
      bits = encode_bf16(value);
      break;
    case Dtype::kF64:
      bits = std::bit_cast<uint64_t>(value);
      break;
  }
  write_bits(dtype, bytes, index, bits);
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
      const bool both_nan = std::isnan(read_element(operand.dtype, left, index)) &&
                            std::isnan(read_element(operand.dtype, right, index));
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
