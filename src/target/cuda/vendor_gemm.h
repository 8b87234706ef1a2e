// A row-major GEMM as the column-major one that BLAS computes: C^T = alpha op(B)^T op(A)^T + beta C^T, the
// same memory read by columns. In: a problem. Out: operand order, operations, sizes, types. Used by the two
// vendor libraries; calls nothing.
#pragma once

#include <optional>
#include <string>

#include "record/problem.h"
#include "target/cuda/vendor_abi.h"

namespace kw::cuda {

// One input as BLAS sees it: column-major, rows x cols as stored.
struct ColumnMajorInput {
  int operand = 0;  // index in the workload
  BlasOperation operation = kBlasAsStored;
  int64_t rows = 0, cols = 0, ld = 0;
};

struct ColumnMajorGemm {
  ColumnMajorInput first, second;  // first: B, second: A
  int64_t m = 0, n = 0, k = 0;     // of BLAS: m = the problem's n, n = the problem's m
  int64_t ldc = 0;                 // C: (m, n) column-major
  int type = kBlasF32;             // of all operands
  float alpha = 1, beta = 0;
};

[[nodiscard]] ColumnMajorGemm make_column_major(const Problem& problem);

// Why no vendor routine of this folder computes the problem; nullopt = they do.
[[nodiscard]] std::optional<std::string> find_vendor_refusal(const Problem& problem);

}  // namespace kw::cuda
