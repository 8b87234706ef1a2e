// Right kernels in many styles: loop orders, blocking, packing, splits of k, vectors, compensated and wide
// sums, every layout. None may be rejected. Run by corpus_sections.cc.
#include <string>
#include <utility>

#include "selftest/corpus.h"

namespace kw {
namespace {

// Operands, sizes and scalars under their usual names; A(i, p) and B(p, j) by layout.
std::string make_prologue(Layout layout) {
  const bool a_transposed = layout == Layout::kTN || layout == Layout::kTT;
  const bool b_transposed = layout == Layout::kNT || layout == Layout::kTT;
  std::string text = R"(
struct Gemm {
  const float* a; const float* b; float* c;
  long long m, n, k, lda, ldb, ldc;
  float alpha, beta;
  explicit Gemm(const kw_call* call)
      : a(static_cast<const float*>(call->operand[0])), b(static_cast<const float*>(call->operand[1])),
        c(static_cast<float*>(call->operand[2])), m(call->size[0]), n(call->size[1]), k(call->size[2]),
        lda(call->size[3]), ldb(call->size[4]), ldc(call->size[5]),
        alpha(static_cast<float>(call->scalar[0])), beta(static_cast<float>(call->scalar[1])) {}
)";
  text += a_transposed ? "  float A(long long i, long long p) const { return a[p * lda + i]; }\n"
                       : "  float A(long long i, long long p) const { return a[i * lda + p]; }\n";
  text += b_transposed ? "  float B(long long p, long long j) const { return b[j * ldb + p]; }\n"
                       : "  float B(long long p, long long j) const { return b[p * ldb + j]; }\n";
  text += R"(
  void store(long long i, long long j, float sum) const {
    float value = alpha * sum;
    if (beta != 0) value += beta * c[i * ldc + j];
    c[i * ldc + j] = value;
  }
};
static long long least(long long x, long long y) { return x < y ? x : y; }
)";
  return text;
}

CorpusKernel make_kernel(std::string name, const std::string& body, Layout layout = Layout::kNN) {
  CorpusKernel kernel;
  kernel.name = std::move(name);
  kernel.layout = layout;
  kernel.text = make_prologue(layout) + body;
  return kernel;
}

// The body of gemm with `item` = 8 rows: `g`, first, last are at hand.
CorpusKernel make_row_kernel(std::string name, const std::string& body, Layout layout = Layout::kNN) {
  return make_kernel(std::move(name),
                     "extern \"C\" void gemm(long long item, const kw_call* call) {\n"
                     "  const Gemm g(call);\n"
                     "  const long long first = item * 8, last = least(first + 8, g.m);\n" +
                         body + "}\n",
                     layout);
}

constexpr const char* kPlainBody = R"(
  for (long long i = first; i < last; ++i)
    for (long long j = 0; j < g.n; ++j) {
      float sum = 0;
      for (long long p = 0; p < g.k; ++p) sum += g.A(i, p) * g.B(p, j);
      g.store(i, j, sum);
    }
)";

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
      double value = g.alpha * sum;
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
  kernels.push_back(make_kernel("pairwise", R"(
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

void add_splits(std::vector<CorpusKernel>& kernels) {
  const auto add = [&](const char* name, const char* items, const std::string& body,
                       Layout layout = Layout::kNN) {
    CorpusKernel kernel = make_kernel(name, body, layout);
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
  CorpusKernel split = make_kernel("split_k_in_workspace", R"(
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

  CorpusKernel packed_b = make_kernel("packed_b_in_workspace", R"(
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
      row[j] *= g.alpha;
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

}  // namespace

std::vector<CorpusKernel> make_honest_kernels() {
  std::vector<CorpusKernel> kernels;
  add_loop_orders(kernels);
  add_sums(kernels);
  add_vectors(kernels);
  add_splits(kernels);
  add_memory(kernels);
  add_contracts(kernels);
  return kernels;
}

}  // namespace kw
