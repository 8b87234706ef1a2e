// Right kernels by their loops: order, blocking, registers, vectors.
#include <string>
#include <utility>

#include "selftest/honest.h"

namespace kw {
namespace {

constexpr const char* kPlainBody = R"(
  for (long long i = first; i < last; ++i)
    for (long long j = 0; j < g.n; ++j) {
      float sum = 0;
      for (long long p = 0; p < g.k; ++p) sum += g.A(i, p) * g.B(p, j);
      g.store(i, j, sum);
    }
)";

}  // namespace

void add_loop_orders(std::vector<CorpusKernel>& kernels) {
  for (const auto& [layout, name] :
       {std::pair{Layout::kNN, "nn"}, {Layout::kNT, "nt"}, {Layout::kTN, "tn"}, {Layout::kTT, "tt"}}) {
    kernels.push_back(make_row_kernel(std::string("plain_") + name, kPlainBody, layout));
  }
  kernels.push_back(make_row_kernel("all_backwards", R"(
  for (long long i = last - 1; i >= first; --i)
    for (long long j = g.n - 1; j >= 0; --j) {
      float sum = 0;
      for (long long p = g.k - 1; p >= 0; --p) sum += g.A(i, p) * g.B(p, j);
      g.store(i, j, sum);
    }
)"));
  kernels.push_back(make_row_kernel("ikj_beta_first", R"(
  for (long long i = first; i < last; ++i) {
    float* row = g.c + i * g.ldc;
    for (long long j = 0; j < g.n; ++j) row[j] = g.beta != 0 ? g.beta * row[j] : 0;
    if (g.alpha == 0) continue;
    for (long long p = 0; p < g.k; ++p) {
      const float factor = g.alpha * g.A(i, p);
      for (long long j = 0; j < g.n; ++j) row[j] += factor * g.B(p, j);
    }
  }
)"));
  kernels.push_back(make_row_kernel("outer_product", R"(
  for (long long i = first; i < last; ++i)
    for (long long j = 0; j < g.n; ++j) g.c[i * g.ldc + j] = g.beta != 0 ? g.beta * g.c[i * g.ldc + j] : 0;
  if (g.alpha == 0) return;
  for (long long p = 0; p < g.k; ++p)
    for (long long i = first; i < last; ++i)
      for (long long j = 0; j < g.n; ++j) g.c[i * g.ldc + j] += g.alpha * (g.A(i, p) * g.B(p, j));
)",
                                    Layout::kTN));
  kernels.push_back(
      make_row_kernel("alpha_zero_early",
                      "  if (g.alpha == 0) {\n"
                      "    for (long long i = first; i < last; ++i)\n"
                      "      for (long long j = 0; j < g.n; ++j) g.store(i, j, 0);\n    return;\n  }\n" +
                          std::string(kPlainBody)));
  kernels.push_back(make_row_kernel("blocked_32", R"(
  for (long long j0 = 0; j0 < g.n; j0 += 32)
    for (long long i = first; i < last; ++i) {
      float sum[32] = {};
      const long long width = least(32, g.n - j0);
      for (long long p0 = 0; p0 < g.k; p0 += 32)
        for (long long p = p0; p < least(p0 + 32, g.k); ++p)
          for (long long j = 0; j < width; ++j) sum[j] += g.A(i, p) * g.B(p, j0 + j);
      for (long long j = 0; j < width; ++j) g.store(i, j0 + j, sum[j]);
    }
)"));
}

void add_vectors(std::vector<CorpusKernel>& kernels) {
  kernels.push_back(make_row_kernel("vector_8_columns", R"(
  typedef float Vector __attribute__((vector_size(32), aligned(4)));
  for (long long i = first; i < last; ++i) {
    long long j = 0;
    for (; j + 8 <= g.n; j += 8) {
      Vector sum = {};
      for (long long p = 0; p < g.k; ++p) sum += g.A(i, p) * *reinterpret_cast<const Vector*>(g.b + p * g.ldb + j);
      for (int lane = 0; lane < 8; ++lane) g.store(i, j + lane, sum[lane]);
    }
    for (; j < g.n; ++j) {
      float sum = 0;
      for (long long p = 0; p < g.k; ++p) sum += g.A(i, p) * g.B(p, j);
      g.store(i, j, sum);
    }
  }
)"));
  kernels.push_back(make_row_kernel("vector_8_along_k", R"(
  typedef float Vector __attribute__((vector_size(32), aligned(4)));
  for (long long i = first; i < last; ++i)
    for (long long j = 0; j < g.n; ++j) {
      Vector lanes = {};
      long long p = 0;
      for (; p + 8 <= g.k; p += 8)
        lanes += *reinterpret_cast<const Vector*>(g.a + i * g.lda + p) * *reinterpret_cast<const Vector*>(g.b + j * g.ldb + p);
      float sum = 0;
      for (int lane = 0; lane < 8; ++lane) sum += lanes[lane];
      for (; p < g.k; ++p) sum += g.A(i, p) * g.B(p, j);
      g.store(i, j, sum);
    }
)",
                                    Layout::kNT));
  kernels.push_back(make_row_kernel("register_tile_4x4", R"(
  for (long long i = first; i < last; i += 4)
    for (long long j = 0; j < g.n; j += 4) {
      float sum[4][4] = {};
      const long long rows = least(4, last - i), cols = least(4, g.n - j);
      for (long long p = 0; p < g.k; ++p)
        for (long long x = 0; x < rows; ++x)
          for (long long y = 0; y < cols; ++y) sum[x][y] += g.A(i + x, p) * g.B(p, j + y);
      for (long long x = 0; x < rows; ++x)
        for (long long y = 0; y < cols; ++y) g.store(i + x, j + y, sum[x][y]);
    }
)",
                                    Layout::kTT));
  auto intrinsics = make_row_kernel("masked_intrinsics", R"(
  for (long long i = first; i < last; ++i)
    for (long long j = 0; j < g.n; j += 8) {
      const long long width = least(8, g.n - j);
      const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
      const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(width)), lane);
      __m256 sum = _mm256_setzero_ps();
      for (long long p = 0; p < g.k; ++p)
        sum = _mm256_fmadd_ps(_mm256_set1_ps(g.A(i, p)), _mm256_maskload_ps(g.b + p * g.ldb + j, mask), sum);
      float out[8];
      _mm256_storeu_ps(out, sum);
      for (long long x = 0; x < width; ++x) g.store(i, j + x, out[x]);
    }
)");
  intrinsics.text = "#include <immintrin.h>\n" + intrinsics.text;
  kernels.push_back(std::move(intrinsics));
}

}  // namespace kw
