// Prints the kernel of a gemm_wgmma schedule: CUDA text for one layout, element type and schedule; any m, n,
// k, strides and scalars in its domain. Called by emit.cc.
#pragma once

#include "record/candidate.h"
#include "schedule/gemm_wgmma.h"

namespace kw {

[[nodiscard]] Source print_gemm_wgmma_kernel(const GemmWgmmaSchedule& schedule, Layout layout, Dtype dtype);

}  // namespace kw
