// Wrong kernels as changes to the text of one readable right kernel (mutants.cc, nn), by theme, and the
// verdict that each must get. The changes to printed gemm_cpu kernels are in mutants_printed.cc. Put together
// by make_mutants; compiled and judged by corpus_sections.cc.
#pragma once

#include <string>
#include <vector>

#include "selftest/corpus.h"
#include "selftest/edit.h"

namespace kw {

struct Mutant {
  std::string name, expected;
  std::vector<Edit> edits;
  std::string workspace_bytes = "0";
  int threads = 1;
};

// Places in the right kernel. kDeclarations stands in front of it, kBegin in front of its loops, kEnd behind
// them.
inline constexpr const char* kDeclarations = "DECLARATIONS";
inline constexpr const char* kBegin = "BEGIN";
inline constexpr const char* kEnd = "END";
inline constexpr const char* kFirst = "const long long first = item * 8;";
inline constexpr const char* kLast = "const long long last = first + 8 < m ? first + 8 : m;";
inline constexpr const char* kProductLoop =
    "for (long long p = 0; p < k; ++p) sum += a[i * lda + p] * b[p * ldb + j];";
inline constexpr const char* kValue = "float value = alpha != 0 ? alpha * sum : 0;";
inline constexpr const char* kAddC = "if (beta != 0) value += beta * c[i * ldc + j];";
inline constexpr const char* kStore = "c[i * ldc + j] = value;";

// The right kernel with the edits.
[[nodiscard]] CorpusKernel make_mutant(const Mutant& mutant);

[[nodiscard]] std::vector<Mutant> list_precision_mutants();  // narrower inputs, sums, outputs
[[nodiscard]] std::vector<Mutant> list_scalar_mutants();     // alpha, beta, signs, NaN and Inf
[[nodiscard]] std::vector<Mutant> list_loop_mutants();       // tails, gaps, elements left out or twice
[[nodiscard]] std::vector<Mutant> list_address_mutants();    // strides, places, bounds
[[nodiscard]] std::vector<Mutant> list_index_mutants();      // right until offsets pass 32 bits
[[nodiscard]] std::vector<Mutant> list_memory_mutants();   // calls that remember, races, uninitialised memory
[[nodiscard]] std::vector<Mutant> list_conduct_mutants();  // hangs, crashes, what the trust rule forbids
[[nodiscard]] std::vector<CorpusKernel> make_printed_mutants();

}  // namespace kw
