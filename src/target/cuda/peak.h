// What this GPU can do at most, measured in the worker: a large product through cuBLAS, a large copy, an
// empty launch in a graph. Used by the worker's request `measure`.
#pragma once

#include "target/cuda/gpu.h"

namespace kw::cuda {

// {"peak_gflops": f16 in, f32 accumulate; "bandwidth_gbs": copy, read + written; "launch_floor_us"}. Best of
// many short runs with rests between, so that nothing honest is ever faster.
[[nodiscard]] tl::expected<Json, Fault> measure_peaks(Gpu& gpu);

}  // namespace kw::cuda
