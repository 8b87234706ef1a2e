// Prints the kernel of a gemm_direct schedule: CUDA text for one layout, element type and schedule; any m, n,
// k, strides and scalars in its domain. Called by emit.cc.
#pragma once

#include "record/candidate.h"
#include "schedule/gemm_direct.h"

namespace kw {

[[nodiscard]] Source print_gemm_direct_kernel(const GemmDirectSchedule& schedule, Layout layout, Dtype dtype);

}  // namespace kw
