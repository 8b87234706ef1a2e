#include "record/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kw {
namespace {

double pass_through(Dtype dtype, double value) {
  std::vector<std::byte> bytes(static_cast<size_t>(dtype_bytes(dtype)));
  store_elements(dtype, bytes, 0, std::span(&value, 1));
  return load_element(dtype, bytes, 0);
}

TEST(Element, rounds_to_nearest_even) {
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 2049), 2048);  // tie, down to even
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 2051), 2052);  // tie, up to even
  EXPECT_EQ(round_to_dtype(Dtype::kBf16, 257), 256);
  EXPECT_EQ(round_to_dtype(Dtype::kBf16, 259), 260);
  EXPECT_EQ(round_to_dtype(Dtype::kF32, 16777217), 16777216);
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 0x1p-25), 0);  // half the smallest subnormal
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 0x1.8p-25), 0x1p-24);
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 65519), 65504);
  EXPECT_EQ(round_to_dtype(Dtype::kF16, -65520), -std::numeric_limits<double>::infinity());
}

TEST(Element, survives_store_and_load_in_every_type) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBf16, Dtype::kF64}) {
    for (const double value : {0.0, 1.0, -1.5, 0.1, 3e-5, 6e4, -3e-8, infinity, -infinity})
      EXPECT_EQ(pass_through(dtype, value), round_to_dtype(dtype, value))
          << print_dtype(dtype) << " " << value;
    EXPECT_TRUE(std::isnan(pass_through(dtype, std::nan(""))));
  }
}

TEST(Element, survives_every_f16_bit_pattern) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const double value = decode_f16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(pass_through(Dtype::kF16, value), value) << bits;
    ASSERT_EQ(std::signbit(pass_through(Dtype::kF16, value)), (bits & 0x8000) != 0) << bits;
  }
}

}  // namespace
}  // namespace kw
