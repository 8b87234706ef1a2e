#include "target/cuda/vendor_gemm.h"

#include <fmt/format.h>

#include <algorithm>

namespace kw::cuda {
namespace {

constexpr int64_t kMaxSize = INT32_MAX;  // BLAS takes int

int get_blas_type(Dtype dtype) {
  if (dtype == Dtype::kF16) return kBlasF16;
  return dtype == Dtype::kBf16 ? kBlasBf16 : kBlasF32;
}

// Row-major (rows, cols) lies as column-major (cols, rows), so what is stored as used needs no operation.
ColumnMajorInput make_input(int operand, bool transposed, int64_t rows, int64_t cols, int64_t ld) {
  if (transposed) std::swap(rows, cols);
  return {operand, transposed ? kBlasTransposed : kBlasAsStored, cols, rows, ld};
}

}  // namespace

ColumnMajorGemm make_column_major(const Problem& p) {
  const bool a_transposed = p.layout == Layout::kTN || p.layout == Layout::kTT;
  const bool b_transposed = p.layout == Layout::kNT || p.layout == Layout::kTT;
  ColumnMajorGemm gemm;
  gemm.first = make_input(1, b_transposed, p.k, p.n, p.ldb);
  gemm.second = make_input(0, a_transposed, p.m, p.k, p.lda);
  gemm.m = p.n;
  gemm.n = p.m;
  gemm.k = p.k;
  gemm.ldc = p.ldc;
  gemm.type = get_blas_type(p.dtype);
  gemm.alpha = static_cast<float>(p.alpha);
  gemm.beta = static_cast<float>(p.beta);
  return gemm;
}

std::optional<std::string> find_vendor_refusal(const Problem& p) {
  if (p.op != "gemm") return fmt::format("{} is not a matrix product", p.op);
  if (p.dtype == Dtype::kF64) return "f64; f32, f16 and bf16 are called";
  if (p.m < 1 || p.n < 1 || p.k < 1) return fmt::format("an empty product: {}x{}x{}", p.m, p.n, p.k);
  if (std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc}) > kMaxSize)
    return fmt::format("a size above {}, the most that BLAS takes", kMaxSize);
  return std::nullopt;
}

}  // namespace kw::cuda
