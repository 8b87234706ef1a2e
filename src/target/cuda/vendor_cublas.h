// cuBLAS: cublasGemmEx with the library's own choice of algorithm, loaded at run time. In: a GEMM. Out: a
// VendorRoutine. Called by vendor.cc.
#pragma once

#include <memory>

#include "target/cuda/vendor.h"

namespace kw::cuda {

// Version, or what is missing. Needs no GPU.
[[nodiscard]] VendorLibrary find_cublas();

// For a problem that find_vendor_refusal lets pass. Gives the library at most the 32 MiB of workspace that it
// takes for itself on Hopper, so that the default stays what a user gets.
[[nodiscard]] Result<std::unique_ptr<VendorRoutine>> open_cublas(const Problem& problem,
                                                                 DevicePointer workspace,
                                                                 size_t workspace_bytes);

}  // namespace kw::cuda
