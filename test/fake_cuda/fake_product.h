// What the two fake vendor libraries share: a matrix product on the CPU as work of the fake driver, and the
// names of what goes wrong.
#pragma once

#include "target/cuda/vendor_gemm.h"

namespace kw::fake {

// Numbers of the real libraries, as far as vendor_abi.h does not have them.
inline constexpr cuda::BlasStatus kBlasNotInitialized = 1, kBlasInvalidValue = 7, kBlasExecutionFailed = 13,
                                  kBlasInternalError = 14;

// One call, column-major. All that it points to lies in device memory.
struct Product {
  cuda::ColumnMajorGemm gemm;  // `rows` and `cols` of the inputs are not looked at
  const void *first = nullptr, *second = nullptr;
  void* c = nullptr;       // (m, n)
  int64_t summed_k = 0;    // products that are added up: k, or fewer where the routine is a wrong one
  int times_computed = 1;  // 2: half as fast
};

// Enqueues the call; kBlasInvalidValue for what the real libraries refuse too.
cuda::BlasStatus enqueue_product(const Product& product, cuda::Stream stream);

const char* find_status_name(cuda::BlasStatus status);
const char* find_status_text(cuda::BlasStatus status);

}  // namespace kw::fake
