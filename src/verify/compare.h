// Output bytes against a Check's patches: which elements are wrong and by how much. Called after every run;
// names nothing (pattern.h does that).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/json.h"
#include "record/check.h"

namespace kw {

struct WrongElement {
  int64_t row = 0, col = 0;
  double got = 0, want = 0, bound = 0;
};

struct Comparison {
  int64_t compared = 0, wrong = 0;  // elements
  double worst_ratio = 0;  // largest |got - want| / bound; infinite when a wrong element has no such ratio
  // Largest |got - want| of the right elements with a finite bound, and the bound of that element.
  double error = 0, error_bound = 0;
  std::vector<WrongElement> elements;  // the wrong ones, patch by patch, row-major; at most kMaxWrongElements
};

// What a kernel found when it ran. Only the naming of errors reads it.
struct Scene {
  std::span<const std::byte> before;           // the output operand before the call
  std::vector<std::vector<std::byte>> memory;  // all operands with what stood in their gaps
};

inline constexpr size_t kMaxWrongElements = size_t{1} << 18;

// One element: want NaN -> NaN demanded, want infinite -> the same infinity, else |got - want| <= bound. An
// infinite bound beside a NaN or infinite want accepts any non-finite value (the order of summation decides
// which).
[[nodiscard]] bool is_right(double got, double want, double bound);

// `output`: the compared operand's bytes, span_bytes() long.
[[nodiscard]] Comparison compare_patches(const Check& check, std::span<const std::byte> output);

// A number for evidence: JSON number, or "nan", "inf", "-inf".
[[nodiscard]] Json print_number(double value);

// Evidence of a comparison: worst element, counts, first wrong rows and columns.
[[nodiscard]] Json print_comparison(const Comparison& comparison);

}  // namespace kw
