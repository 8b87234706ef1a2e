// Right kernels by their sums over k: other orders, other roundings, all in f32 or better.
#include <string>

#include "selftest/honest.h"

namespace kw {

void add_sums(std::vector<CorpusKernel>& kernels) {
  const auto add = [&](const char* name, const std::string& sum) {
    kernels.push_back(make_row_kernel(name,
                                      "  for (long long i = first; i < last; ++i)\n"
                                      "    for (long long j = 0; j < g.n; ++j) {\n" +
                                          sum + "    }\n"));
  };
  add("double_sum", R"(
      double sum = 0;
      for (long long p = 0; p < g.k; ++p) sum += static_cast<double>(g.A(i, p)) * g.B(p, j);
      double value = g.alpha != 0 ? g.alpha * sum : 0;
      if (g.beta != 0) value += static_cast<double>(g.beta) * g.c[i * g.ldc + j];
      g.c[i * g.ldc + j] = static_cast<float>(value);
)");
  add("kahan", R"(
      float sum = 0, lost = 0;
      for (long long p = 0; p < g.k; ++p) {
        const volatile float product = g.A(i, p) * g.B(p, j);
        const volatile float term = product - lost;
        const volatile float next = sum + term;
        const volatile float gained = next - sum;
        const float rest = gained - term;
        lost = rest - rest == 0 ? rest : 0;
        sum = next;
      }
      g.store(i, j, sum);
)");
  add("unrolled_by_4", R"(
      float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      long long p = 0;
      for (; p + 4 <= g.k; p += 4) {
        s0 += g.A(i, p) * g.B(p, j); s1 += g.A(i, p + 1) * g.B(p + 1, j);
        s2 += g.A(i, p + 2) * g.B(p + 2, j); s3 += g.A(i, p + 3) * g.B(p + 3, j);
      }
      for (; p < g.k; ++p) s0 += g.A(i, p) * g.B(p, j);
      g.store(i, j, (s0 + s1) + (s2 + s3));
)");
  add("fused", R"(
      float sum = 0;
      for (long long p = 0; p < g.k; ++p) sum = __builtin_fmaf(g.A(i, p), g.B(p, j), sum);
      g.store(i, j, sum);
)");
  add("halves_of_k", R"(
      float low = 0, high = 0;
      for (long long p = 0; p < g.k / 2; ++p) low += g.A(i, p) * g.B(p, j);
      for (long long p = g.k / 2; p < g.k; ++p) high += g.A(i, p) * g.B(p, j);
      g.store(i, j, low + high);
)");
  add("fused_backwards", R"(
      float sum = 0;
      for (long long p = g.k - 1; p >= 0; --p) sum = __builtin_fmaf(g.A(i, p), g.B(p, j), sum);
      g.store(i, j, sum);
)");
  add("four_fused_chains", R"(
      float sum[4] = {0, 0, 0, 0};
      for (long long p = 0; p < g.k; ++p) sum[p & 3] = __builtin_fmaf(g.A(i, p), g.B(p, j), sum[p & 3]);
      g.store(i, j, (sum[3] + sum[1]) + (sum[2] + sum[0]));
)");
  add("product_and_sum_errors_kept", R"(
      float sum = 0, errors = 0;
      for (long long p = 0; p < g.k; ++p) {
        const volatile float product = g.A(i, p) * g.B(p, j);
        const volatile float next = sum + product;
        const volatile float back = next - sum;
        const volatile float of_sum = (sum - (next - back)) + (product - back);
        const float error = __builtin_fmaf(g.A(i, p), g.B(p, j), -product) + of_sum;
        errors += error - error == 0 ? error : 0;  // beside Inf there is none
        sum = next;
      }
      g.store(i, j, sum + errors);
)");
  add("larger_first_errors_kept", R"(
      float sum = 0, errors = 0;
      for (long long p = 0; p < g.k; ++p) {
        const volatile float product = g.A(i, p) * g.B(p, j);
        const volatile float next = sum + product;
        const bool sum_larger = __builtin_fabsf(sum) >= __builtin_fabsf(product);
        const volatile float back = sum_larger ? sum - next : product - next;
        const float error = back + (sum_larger ? product : sum);
        errors += error - error == 0 ? error : 0;
        sum = next;
      }
      g.store(i, j, sum + errors);
)");
  add("long_double_sum", R"(
      long double sum = 0;
      for (long long p = 0; p < g.k; ++p) sum += static_cast<long double>(g.A(i, p)) * g.B(p, j);
      g.store(i, j, static_cast<float>(sum));
)");
  add("double_blocks_of_64_in_float", R"(
      float sum = 0;
      for (long long p0 = 0; p0 < g.k; p0 += 64) {
        double block = 0;
        for (long long p = p0; p < least(p0 + 64, g.k); ++p) block += static_cast<double>(g.A(i, p)) * g.B(p, j);
        sum += static_cast<float>(block);
      }
      g.store(i, j, sum);
)");
  add("alpha_into_a_c_in_the_sum", R"(
      float sum = g.beta != 0 ? g.beta * g.c[i * g.ldc + j] : 0;
      for (long long p = 0; g.alpha != 0 && p < g.k; ++p) sum += g.alpha * g.A(i, p) * g.B(p, j);
      g.c[i * g.ldc + j] = sum;
)");
  add("interleaved_by_7", R"(
      float sum = 0;
      for (long long start = 6; start >= 0; --start) {
        float part = 0;
        for (long long p = start; p < g.k; p += 7) part += g.A(i, p) * g.B(p, j);
        sum = part + sum;
      }
      g.store(i, j, sum);
)");
  add("blocks_of_k_added_to_c", R"(
      float* at = g.c + i * g.ldc + j;
      if (g.alpha == 0 || g.k == 0) {
        g.store(i, j, 0);
        continue;
      }
      for (long long p0 = 0; p0 < g.k; p0 += 24) {
        float part = 0;
        for (long long p = p0; p < least(p0 + 24, g.k); ++p) part += g.A(i, p) * g.B(p, j);
        *at = g.alpha * part + (p0 > 0 ? *at : g.beta != 0 ? g.beta * *at : 0);
      }
)");
  add("sixteen_sums_and_a_tree", R"(
      float sum[16] = {};
      for (long long p = 0; p < g.k; ++p) sum[p % 16] += g.A(i, p) * g.B(p, j);
      for (int width = 8; width > 0; width /= 2)
        for (int x = 0; x < width; ++x) sum[x] += sum[x + width];
      g.store(i, j, sum[0]);
)");
  kernels.push_back(make_free_kernel("pairwise", R"(
static float add_pairs(const Gemm& g, long long i, long long j, long long first, long long last) {
  if (last - first <= 4) {
    float sum = 0;
    for (long long p = first; p < last; ++p) sum += g.A(i, p) * g.B(p, j);
    return sum;
  }
  const long long middle = first + (last - first) / 2;
  return add_pairs(g, i, j, first, middle) + add_pairs(g, i, j, middle, last);
}
extern "C" void gemm(long long item, const kw_call* call) {
  const Gemm g(call);
  for (long long i = item * 8; i < least(item * 8 + 8, g.m); ++i)
    for (long long j = 0; j < g.n; ++j) g.store(i, j, add_pairs(g, i, j, 0, g.k));
}
)"));
  kernels.push_back(make_free_kernel("reversed_tree", R"(
static float add_reversed(const Gemm& g, long long i, long long j, long long first, long long last) {
  if (last - first == 1) return g.A(i, first) * g.B(first, j);
  long long half = 1;  // the largest power of two below the length
  while (2 * half < last - first) half *= 2;
  return add_reversed(g, i, j, last - half, last) + add_reversed(g, i, j, first, last - half);
}
extern "C" void gemm(long long item, const kw_call* call) {
  const Gemm g(call);
  for (long long i = item * 8; i < least(item * 8 + 8, g.m); ++i)
    for (long long j = 0; j < g.n; ++j) g.store(i, j, g.k > 0 ? add_reversed(g, i, j, 0, g.k) : 0);
}
)",
                                     Layout::kTT));
}

}  // namespace kw
