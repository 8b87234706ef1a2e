// Output bytes that are right by construction, and single elements of them moved out of their bound. Used
// where the checks themselves are on trial: null kernels and sensitivity. Runs no kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/check.h"

namespace kw {

[[nodiscard]] const Operand& get_output(const Check& check);

// The output operand as a run finds it: C where the output is read too, else poison.
[[nodiscard]] std::vector<std::byte> make_before(const Check& check);

// The reference, rounded to the output type, on the patches; elsewhere what was there.
[[nodiscard]] std::vector<std::byte> make_right_answer(const Check& check);

// An element of the output whose value and bound are finite.
struct Place {
  int64_t row = 0, col = 0;
  double value = 0, bound = 0;
};
[[nodiscard]] std::vector<Place> list_places(const Check& check);

// The value that the output type has four bounds away (direction 1 or -1); its neighbour where the bound is
// 0.
[[nodiscard]] double move_away(Dtype dtype, const Place& place, int direction);

// False without products (no depth, or a first scalar of 0): then the answer may be what lies there, or zero.
[[nodiscard]] bool has_products(const Workload& workload);
[[nodiscard]] bool has_output(const Check& check);

}  // namespace kw
