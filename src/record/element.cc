// In: float64 values. Out: their bits in f32, f16, bf16, f64, and back. Formats are IEEE 754 binary16/32/64
// and bfloat16 (binary32 cut to 16 bits).
#include "record/element.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace kw {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Exact: the argument is already a value of the format.
uint16_t encode_f16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (std::isinf(value)) return sign | 0x7c00;
  if (size < 0x1p-14) return sign | static_cast<uint16_t>(size * 0x1p24);
  const int exponent = std::ilogb(size);
  const auto fraction = static_cast<uint16_t>(std::ldexp(size, 10 - exponent) - 1024);
  return sign | static_cast<uint16_t>((exponent + 15) << 10) | fraction;
}

uint16_t encode_bf16(double value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

template <class T>
void put(std::span<std::byte> contents, int64_t index, T bits) {
  std::memcpy(contents.data() + index * static_cast<int64_t>(sizeof bits), &bits, sizeof bits);
}

template <class T>
T get(std::span<const std::byte> contents, int64_t index) {
  T bits;
  std::memcpy(&bits, contents.data() + index * static_cast<int64_t>(sizeof bits), sizeof bits);
  return bits;
}

}  // namespace

DtypeFacts get_dtype_facts(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return {24, 0x1p-24, 0x1.fffffep127, 0x1p-126, 0x1p-149};
    case Dtype::kF16:
      return {11, 0x1p-11, 65504, 0x1p-14, 0x1p-24};
    case Dtype::kBf16:
      return {8, 0x1p-8, 0x1.fep127, 0x1p-126, 0x1p-133};
    case Dtype::kF64:
      return {53, 0x1p-53, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074};
  }
  KW_CHECK(false, "dtype {}", static_cast<int>(dtype));
}

double round_to_dtype(Dtype dtype, double value) {
  if (dtype == Dtype::kF64 || !std::isfinite(value) || value == 0) return value;
  if (dtype == Dtype::kF32) return static_cast<float>(value);
  const DtypeFacts facts = get_dtype_facts(dtype);
  const int exponent = std::max(std::ilogb(value), std::ilogb(facts.smallest_normal));
  const double quantum = std::ldexp(1.0, exponent - (facts.precision_bits - 1));
  const double rounded = std::nearbyint(value / quantum) * quantum;
  return std::fabs(rounded) > facts.largest ? std::copysign(kInfinity, value) : rounded;
}

void store_elements(Dtype dtype, std::span<std::byte> contents, int64_t first,
                    std::span<const double> values) {
  const auto count = static_cast<int64_t>(values.size());
  KW_CHECK(first >= 0 && (first + count) * dtype_bytes(dtype) <= static_cast<int64_t>(contents.size()),
           "elements [{}, {}) of {} bytes", first, first + count, contents.size());
  switch (dtype) {
    case Dtype::kF32:
      for (int64_t i = 0; i < count; ++i) put(contents, first + i, static_cast<float>(values[i]));
      return;
    case Dtype::kF16:
      for (int64_t i = 0; i < count; ++i)
        put(contents, first + i, encode_f16(round_to_dtype(dtype, values[i])));
      return;
    case Dtype::kBf16:
      for (int64_t i = 0; i < count; ++i)
        put(contents, first + i, encode_bf16(round_to_dtype(dtype, values[i])));
      return;
    case Dtype::kF64:
      for (int64_t i = 0; i < count; ++i) put(contents, first + i, values[i]);
      return;
  }
}

void store_element(Dtype dtype, std::span<std::byte> contents, int64_t index, double value) {
  store_elements(dtype, contents, index, {&value, 1});
}

double decode_f16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * kInfinity;
  if (exponent == 0) return sign * fraction * 0x1p-24;
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double load_element(Dtype dtype, std::span<const std::byte> contents, int64_t index) {
  KW_CHECK(index >= 0 && (index + 1) * dtype_bytes(dtype) <= static_cast<int64_t>(contents.size()),
           "element {} of {} bytes", index, contents.size());
  switch (dtype) {
    case Dtype::kF32:
      return get<float>(contents, index);
    case Dtype::kF16:
      return decode_f16(get<uint16_t>(contents, index));
    case Dtype::kBf16:
      return std::bit_cast<float>(static_cast<uint32_t>(get<uint16_t>(contents, index)) << 16);
    case Dtype::kF64:
      return get<double>(contents, index);
  }
  KW_CHECK(false, "dtype {}", static_cast<int>(dtype));
}

}  // namespace kw
