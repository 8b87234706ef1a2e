// Prints the kernel of a gemm_cpu schedule: C++ text for one layout and schedule, any m, n, k, strides and
// scalars. Called by emit.cc; the pieces of device/ that a schedule needs are pasted in.
#pragma once

#include <string>
#include <vector>

#include "record/candidate.h"
#include "schedule/gemm_cpu.h"

namespace kw {

// The schedule must be legal for a problem of this layout (KW_CHECK on what the text itself relies on).
[[nodiscard]] Source print_gemm_cpu_kernel(const GemmCpuSchedule& schedule, Layout layout);

// What the compiler needs for kernels of an instruction set.
[[nodiscard]] std::vector<std::string> get_cpu_flags(bool avx512);

}  // namespace kw
