// Kernels printed by our own family gemm_cpu as corpus kernels: the same text that a search compiles, so that
// mutants can change it and honest ones are not only free-form. Used by mutants_printed.cc and
// honest_printed.cc.
#pragma once

#include <string>
#include <string_view>

#include "schedule/gemm_cpu.h"
#include "selftest/corpus.h"

namespace kw {

// A problem large enough for every kind of schedule, and a machine of two threads (AVX-512 or AVX2) on which
// they are legal: the corpus is the same wherever it runs.
[[nodiscard]] Problem make_printed_problem(Layout layout);
[[nodiscard]] DeviceFacts make_printed_device(bool avx512);

// A schedule that is not legal there is a mistake of ours.
[[nodiscard]] CorpusKernel make_printed_kernel(std::string name, std::string_view schedule, Layout layout);

}  // namespace kw
