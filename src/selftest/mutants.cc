// The right kernel that mutants change, and the list of all mutants. Their themes are in mutants_*.cc.
#include "selftest/mutants.h"

#include <algorithm>
#include <utility>

namespace kw {
namespace {

constexpr const char* kRight = R"(
DECLARATIONS
extern "C" void gemm(long long item, const kw_call* call) {
  const float* a = static_cast<const float*>(call->operand[0]);  // (m,k)
  const float* b = static_cast<const float*>(call->operand[1]);  // (k,n)
  float* c = static_cast<float*>(call->operand[2]);              // (m,n)
  const long long m = call->size[0], n = call->size[1], k = call->size[2];
  const long long lda = call->size[3], ldb = call->size[4], ldc = call->size[5];
  const float alpha = static_cast<float>(call->scalar[0]), beta = static_cast<float>(call->scalar[1]);
  const long long first = item * 8;
  const long long last = first + 8 < m ? first + 8 : m;
  BEGIN
  for (long long i = first; i < last; ++i) {
    for (long long j = 0; j < n; ++j) {
      float sum = 0;
      for (long long p = 0; p < k; ++p) sum += a[i * lda + p] * b[p * ldb + j];
      float value = alpha != 0 ? alpha * sum : 0;
      if (beta != 0) value += beta * c[i * ldc + j];
      c[i * ldc + j] = value;
    }
  }
  END
}
)";

}  // namespace

CorpusKernel make_mutant(const Mutant& mutant) {
  CorpusKernel kernel;
  kernel.name = mutant.name;
  kernel.expected = mutant.expected;
  kernel.workspace_bytes = mutant.workspace_bytes;
  kernel.threads = mutant.threads;
  auto edits = mutant.edits;
  for (const char* point : {kDeclarations, kBegin, kEnd}) {
    const auto uses = [&](const Edit& edit) { return edit.from == point; };
    if (std::none_of(edits.begin(), edits.end(), uses)) edits.push_back({point, ""});
  }
  kernel.text = apply_edits(kRight, edits, mutant.name);
  return kernel;
}

std::vector<CorpusKernel> make_mutants() {
  std::vector<CorpusKernel> kernels;
  for (const auto& list :
       {list_precision_mutants(), list_scalar_mutants(), list_loop_mutants(), list_address_mutants(),
        list_index_mutants(), list_memory_mutants(), list_conduct_mutants()})
    for (const Mutant& mutant : list) kernels.push_back(make_mutant(mutant));
  for (CorpusKernel& kernel : make_printed_mutants()) kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace kw
