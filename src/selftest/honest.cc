// What right free-form kernels share, and the list of all right kernels. Their styles are in honest_*.cc.
#include "selftest/honest.h"

#include <utility>

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
    float value = alpha != 0 ? alpha * sum : 0;  // BLAS: alpha 0 hides A and B
    if (beta != 0) value += beta * c[i * ldc + j];
    c[i * ldc + j] = value;
  }
};
static long long least(long long x, long long y) { return x < y ? x : y; }
)";
  return text;
}

}  // namespace

CorpusKernel make_free_kernel(std::string name, const std::string& body, Layout layout) {
  CorpusKernel kernel;
  kernel.name = std::move(name);
  kernel.layout = layout;
  kernel.text = make_prologue(layout) + body;
  return kernel;
}

CorpusKernel make_row_kernel(std::string name, const std::string& body, Layout layout) {
  return make_free_kernel(std::move(name),
                          "extern \"C\" void gemm(long long item, const kw_call* call) {\n"
                          "  const Gemm g(call);\n"
                          "  const long long first = item * 8, last = least(first + 8, g.m);\n" +
                              body + "}\n",
                          layout);
}

std::vector<CorpusKernel> make_honest_kernels() {
  std::vector<CorpusKernel> kernels;
  for (const auto add :
       {add_loop_orders, add_sums, add_vectors, add_splits, add_memory, add_contracts, add_printed})
    add(kernels);
  return kernels;
}

}  // namespace kw
