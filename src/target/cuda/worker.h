// The hidden role `cuda_worker ORDINAL`: owns one GPU's context, operand blocks, modules, graphs and the
// clock. Reads requests on descriptor 3, answers there, ends with the first fault of the GPU. Host code of a
// candidate never runs here, only its device code.
#pragma once

namespace kw::cuda {

inline constexpr const char* kCudaWorkerArgument = "cuda_worker";

[[nodiscard]] int run_cuda_worker(int ordinal);

}  // namespace kw::cuda
