// See poison.h. One random draw per element.
#include "verify/poison.h"

#include <bit>

#include "base/random.h"
#include "verify/element.h"

namespace kw {
namespace {

// Quiet NaN of the format with `payload` in its low mantissa bits.
uint64_t make_nan_bits(Dtype dtype, uint64_t payload) {
  switch (dtype) {
    case Dtype::kF32:
      return 0x7fc00000 | (payload & 0x3fffff);
    case Dtype::kF16:
      return 0x7e00 | (payload & 0x1ff);
    case Dtype::kBf16:
      return 0x7fc0 | (payload & 0x3f);
    case Dtype::kF64:
      return 0x7ff8000000000000 | (payload & 0x7ffffffffffff);
  }
  return 0;
}

// Magnitudes from 1/8 to 128.
double make_finite(uint64_t draw) {
  const auto exponent = static_cast<uint64_t>(1020 + draw % 10);
  return std::bit_cast<double>((draw & 0x800) << 52 | exponent << 52 | draw >> 12);
}

}  // namespace

void poison_elements(const Operand& operand, std::span<std::byte> bytes, PoisonKind kind, uint64_t seed) {
  if (operand.span() == 0) return;
  Random random(seed, 0x706f69736f6e);
  for (int64_t row = 0; row < operand.rows; ++row) {
    for (int64_t col = 0; col < operand.cols; ++col) {
      const int64_t index = row * operand.ld + col;
      const uint64_t draw = random.next();
      if (kind == PoisonKind::kNan) {
        write_bits(operand.dtype, bytes, index, make_nan_bits(operand.dtype, draw));
      } else {
        store_element(operand.dtype, bytes, index, make_finite(draw));
      }
    }
  }
}

}  // namespace kw
