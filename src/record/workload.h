// Workload: what hardware needs to know of a problem, free of its mathematics: operands, sizes, scalars.
// Made by src/problem; read by target, verify and measure, which therefore work for any operation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/problem.h"

namespace kw {

enum class Access { kIn, kOut, kInOut };

struct Operand {
  std::string name;  // "a", "b", "c"
  Dtype dtype = Dtype::kF32;
  int64_t rows = 0, cols = 0;  // as stored, row-major
  int64_t ld = 0;              // elements from one row to the next, >= cols
  Access access = Access::kIn;
  // Elements from the first to the last that belongs to the operand; 0 when rows or cols is 0.
  int64_t span() const { return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols; }
  int64_t span_bytes() const { return span() * dtype_bytes(dtype); }
};

struct Workload {
  Problem problem;
  std::vector<Operand> operands;  // order of the kernel's operand array
  std::vector<std::string>
      size_names;               // "m" "n" "k" "lda" "ldb" "ldc"; also the variables of launch expressions
  std::vector<int64_t> sizes;   // same order
  std::vector<double> scalars;  // alpha, beta
  double flops = 0;             // useful operations of one call
  double bytes = 0;             // least traffic: inputs read once, outputs written once
};

}  // namespace kw
