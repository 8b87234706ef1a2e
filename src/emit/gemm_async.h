// Prints the kernel of a gemm_async schedule: CUDA text for one layout, element type and schedule; any m, n,
// k, strides and scalars in its domain. Called by emit.cc.
#pragma once

#include "record/candidate.h"
#include "schedule/gemm_async.h"

namespace kw {

[[nodiscard]] Source print_gemm_async_kernel(const GemmAsyncSchedule& schedule, Layout layout, Dtype dtype);

}  // namespace kw
