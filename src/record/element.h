// Numbers of every Dtype as float64 and back: facts of the format, rounding to nearest even, loads and stores
// of rows. Used by problem to fill operands and by verify to compare them. No arithmetic in the narrow types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/problem.h"

namespace kw {

struct DtypeFacts {
  int precision_bits;    // significand with its hidden bit: f32 24, f16 11, bf16 8, f64 53
  double unit_roundoff;  // 2^-precision_bits: largest relative error of one rounding to nearest
  double largest;        // largest finite value
  double smallest_normal;
  double smallest_subnormal;
};

[[nodiscard]] DtypeFacts get_dtype_facts(Dtype dtype);

// Nearest value of the dtype, ties to even; beyond the largest finite one, infinity. NaN stays NaN.
[[nodiscard]] double round_to_dtype(Dtype dtype, double value);

// Rounds and writes values[i] to element first + i.
void store_elements(Dtype dtype, std::span<std::byte> contents, int64_t first,
                    std::span<const double> values);

// The same for one value.
void store_element(Dtype dtype, std::span<std::byte> contents, int64_t index, double value);

[[nodiscard]] double load_element(Dtype dtype, std::span<const std::byte> contents, int64_t index);

// f16 bits to float64, exact.
[[nodiscard]] double decode_f16(uint16_t bits);

}  // namespace kw
