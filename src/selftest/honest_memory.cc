// Right kernels by their work items and by the memory they use; contracts that say less than everything.
#include <cstdint>
#include <string>
#include <utility>

#include "selftest/honest.h"

namespace kw {

void add_splits(std::vector<CorpusKernel>& kernels) {
  const auto add = [&](const char* name, const char* items, const std::string& body,
                       Layout layout = Layout::kNN) {
    CorpusKernel kernel = make_free_kernel(name, body, layout);
    kernel.items = items;
    kernels.push_back(std::move(kernel));
  };
  const std::string rectangle = R"(
static void multiply(const Gemm& g, long long i0, long long i1, long long j0, long long j1) {
  for (long long i = i0; i < i1; ++i)
    for (long long j = j0; j < j1; ++j) {
      float sum = 0;
      for (long long p = 0; p < g.k; ++p) sum += g.A(i, p) * g.B(p, j);
      g.store(i, j, sum);
    }
}
)";
  add("one_item", "1",
      rectangle +
          "extern \"C\" void gemm(long long, const kw_call* call) { const Gemm g(call); multiply(g, 0, g.m, "
          "0, g.n); }");
  add("item_per_row", "m",
      rectangle +
          "extern \"C\" void gemm(long long i, const kw_call* call) { const Gemm g(call); multiply(g, i, i + "
          "1, 0, g.n); }");
  add("item_per_column_block", "ceil_div(n, 16)",
      rectangle +
          "extern \"C\" void gemm(long long x, const kw_call* call) {"
          " const Gemm g(call); multiply(g, 0, g.m, 16 * x, least(16 * x + 16, g.n)); }",
      Layout::kTN);
  add("item_per_tile", "ceil_div(m, 8) * ceil_div(n, 16)",
      rectangle +
          "extern \"C\" void gemm(long long x, const kw_call* call) {"
          " const Gemm g(call); const long long across = (g.n + 15) / 16; const long long i = x / across * "
          "8, j = x % across * 16;"
          " multiply(g, i, least(i + 8, g.m), j, least(j + 16, g.n)); }",
      Layout::kNT);
  add("item_per_thread", "threads",
      rectangle +
          "extern \"C\" void gemm(long long x, const kw_call* call) {"
          " const Gemm g(call); multiply(g, g.m * x / call->threads, g.m * (x + 1) / call->threads, 0, g.n); "
          "}");
  add("recursive_quarters", "1", rectangle + R"(
static void divide(const Gemm& g, long long i0, long long i1, long long j0, long long j1) {
  if (i1 - i0 <= 8 && j1 - j0 <= 8) return multiply(g, i0, i1, j0, j1);
  const long long i = i1 - i0 > 8 ? (i0 + i1) / 2 : i1, j = j1 - j0 > 8 ? (j0 + j1) / 2 : j1;
  divide(g, i0, i, j0, j);
  if (i < i1) divide(g, i, i1, j0, j);
  if (j < j1) divide(g, i0, i, j, j1);
  if (i < i1 && j < j1) divide(g, i, i1, j, j1);
}
extern "C" void gemm(long long, const kw_call* call) { const Gemm g(call); divide(g, 0, g.m, 0, g.n); }
)");
}

void add_memory(std::vector<CorpusKernel>& kernels) {
  CorpusKernel split = make_free_kernel("split_k_in_workspace", R"(
extern "C" void part(long long item, const kw_call* call) {  // workspace: (4,m,n)
  const Gemm g(call);
  if (item >= 4) return;
  float* sums = reinterpret_cast<float*>(call->workspace) + item * g.m * g.n;
  const long long begin = g.k * item / 4, end = g.k * (item + 1) / 4;
  for (long long i = 0; i < g.m; ++i)
    for (long long j = 0; j < g.n; ++j) {
      float sum = 0;
      for (long long p = begin; p < end; ++p) sum += g.A(i, p) * g.B(p, j);
      sums[i * g.n + j] = sum;
    }
}
extern "C" void join(long long item, const kw_call* call) {
  const Gemm g(call);
  const float* sums = reinterpret_cast<const float*>(call->workspace);
  if (item != 0) return;
  for (long long at = 0; at < g.m * g.n; ++at) {
    float sum = 0;
    for (int x = 0; x < 4; ++x) sum += sums[x * g.m * g.n + at];
    g.store(at / g.n, at % g.n, sum);
  }
}
)");
  split.kernels = {"part", "join"};
  split.items = "4";
  split.workspace_bytes = "16 * m * n";
  kernels.push_back(split);

  CorpusKernel packed_b = make_free_kernel("packed_b_in_workspace", R"(
extern "C" void pack(long long item, const kw_call* call) {  // workspace: B as (n,k)
  const Gemm g(call);
  float* packed = reinterpret_cast<float*>(call->workspace);
  if (item == 0)
    for (long long j = 0; j < g.n; ++j)
      for (long long p = 0; p < g.k; ++p) packed[j * g.k + p] = g.B(p, j);
}
extern "C" void multiply(long long item, const kw_call* call) {
  const Gemm g(call);
  const float* packed = reinterpret_cast<const float*>(call->workspace);
  for (long long i = item * 8; i < least(item * 8 + 8, g.m); ++i)
    for (long long j = 0; j < g.n; ++j) {
      float sum = 0;
      for (long long p = 0; p < g.k; ++p) sum += g.A(i, p) * packed[j * g.k + p];
      g.store(i, j, sum);
    }
}
)",
                                           Layout::kTN);
  packed_b.kernels = {"pack", "multiply"};
  packed_b.items = "max(1, ceil_div(m, 8))";
  packed_b.workspace_bytes = "4 * n * k";
  kernels.push_back(packed_b);

  CorpusKernel packed_a = make_row_kernel("packed_a_in_scratch", R"(
  float* packed = reinterpret_cast<float*>(call->scratch);  // (8,k), zero rows behind the last
  for (long long i = 0; i < 8; ++i)
    for (long long p = 0; p < g.k; ++p) packed[i * g.k + p] = first + i < last ? g.A(first + i, p) : 0;
  for (long long j = 0; j < g.n; ++j) {
    float sum[8] = {};
    for (long long p = 0; p < g.k; ++p)
      for (int i = 0; i < 8; ++i) sum[i] += packed[i * g.k + p] * g.B(p, j);
    for (long long i = first; i < last; ++i) g.store(i, j, sum[i - first]);
  }
)",
                                          Layout::kTT);
  packed_a.scratch_bytes = "32 * k";
  kernels.push_back(packed_a);

  CorpusKernel copies = make_row_kernel("rows_by_memcpy", R"(
  float* row = reinterpret_cast<float*>(call->scratch);
  for (long long i = first; i < last; ++i) {
    __builtin_memset(row, 0, static_cast<unsigned long>(g.n) * 4);
    for (long long p = 0; p < g.k; ++p)
      for (long long j = 0; j < g.n; ++j) row[j] += g.A(i, p) * g.B(p, j);
    for (long long j = 0; j < g.n; ++j) {
      row[j] = g.alpha != 0 ? g.alpha * row[j] : 0;
      if (g.beta != 0) row[j] += g.beta * g.c[i * g.ldc + j];
    }
    __builtin_memcpy(g.c + i * g.ldc, row, static_cast<unsigned long>(g.n) * 4);
  }
)");
  copies.scratch_bytes = "4 * n";
  kernels.push_back(copies);

  CorpusKernel table = make_row_kernel("constant_table", R"(
  for (long long i = first; i < last; ++i)
    for (long long j = 0; j < g.n; ++j) {
      float sum[3] = {0, 0, 0};
      for (long long p = 0; p < g.k; ++p) sum[kOrder[p % 6]] += g.A(i, p) * g.B(p, j);
      g.store(i, j, sum[0] + sum[1] + sum[2]);
    }
)",
                                       Layout::kNT);
  table.text = "static const int kOrder[6] = {2, 0, 1, 1, 2, 0};\n" + table.text;
  kernels.push_back(table);
}

void add_contracts(std::vector<CorpusKernel>& kernels) {
  CorpusKernel random = make_row_kernel("declared_nondeterministic", R"(
  for (long long i = first; i < last; ++i)
    for (long long j = 0; j < g.n; ++j) {
      const long long cut = g.k > 0 ? draw() % g.k : 0;  // the split of the sum changes from call to call
      float low = 0, high = 0;
      for (long long p = 0; p < cut; ++p) low += g.A(i, p) * g.B(p, j);
      for (long long p = cut; p < g.k; ++p) high += g.A(i, p) * g.B(p, j);
      g.store(i, j, low + high);
    }
)");
  random.text =
      "__attribute__((target(\"rdrnd\"))) static unsigned draw() {"
      " unsigned x = 0; __builtin_ia32_rdrand32_step(&x); return x; }\n" +
      random.text;
  random.deterministic = false;
  kernels.push_back(random);

  CorpusKernel whole_fours = make_row_kernel("only_k_in_fours", R"(
  for (long long i = first; i < last; ++i)
    for (long long j = 0; j < g.n; ++j) {
      float sum = 0;
      for (long long p = 0; p < g.k; p += 4)
        sum += g.A(i, p) * g.B(p, j) + g.A(i, p + 1) * g.B(p + 1, j) + g.A(i, p + 2) * g.B(p + 2, j) +
               g.A(i, p + 3) * g.B(p + 3, j);
      g.store(i, j, sum);
    }
)");
  whole_fours.domain = {{"k", 0, INT64_MAX, 4}};
  kernels.push_back(whole_fours);
}

}  // namespace kw
