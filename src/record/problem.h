// Problem: one computation to make fast. Today C = alpha * op(A) * op(B) + beta * C with row-major storage.
// Only src/problem, src/schedule and src/emit look inside; everyone else carries it and uses its key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw {

enum class Dtype { kF32, kF16, kBf16, kF64 };

// First letter: A, second: B; n = stored as used, t = stored transposed. Row-major, so in `nt` A is m x k and
// B is n x k (a Linear layer's weight).
enum class Layout { kNN, kNT, kTN, kTT };

struct Problem {
  std::string op = "gemm";
  Dtype dtype = Dtype::kF32;
  Layout layout = Layout::kNN;
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;  // elements between rows as stored
  double alpha = 1, beta = 0;
  bool operator==(const Problem&) const = default;
};

// A problem as a model or a list uses it.
struct ProblemUse {
  Problem problem;
  std::string name;    // "layers.q_proj"
  std::string phase;   // "prefill", "decode", "forward", "dgrad", "wgrad" or "" for plain lists
  int64_t tokens = 0;  // rows of activations this use belongs to; 0 = not from a model
  int64_t count = 1;   // calls per step
};

[[nodiscard]] std::string_view print_dtype(Dtype dtype);
[[nodiscard]] Result<Dtype> parse_dtype(std::string_view text);
[[nodiscard]] std::string_view print_layout(Layout layout);
[[nodiscard]] Result<Layout> parse_layout(std::string_view text);
[[nodiscard]] int64_t dtype_bytes(Dtype dtype);

// Smallest legal leading dimensions for the layout (at least 1).
[[nodiscard]] Problem with_tight_strides(Problem problem);

// Refuses negative sizes, strides below the row length, products beyond 2^62, non-finite scalars; says which.
[[nodiscard]] Status check_problem(const Problem& problem);

// "gemm f32 nt m128 n896 k4864 lda4864 ldb4864 ldc896 alpha1 beta0": canonical, parse and print are inverse.
[[nodiscard]] std::string print_problem(const Problem& problem);
[[nodiscard]] Result<Problem> parse_problem(std::string_view text);

// For people: "128x896x4864 nt f32" with strides and scalars only where they are not the plain ones.
[[nodiscard]] std::string describe_problem(const Problem& problem);

}  // namespace kw
