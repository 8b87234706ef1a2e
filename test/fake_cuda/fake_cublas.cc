// libcublas without a GPU: the one product that the program calls, right and at a middling speed. Named to
// the program by KERNELWRIGHT_CUBLAS; needs the fake driver.
#include "fake_product.h"
#include "target/cuda/vendor_abi.h"

namespace kw::cuda {

struct BlasTag {
  Stream stream = nullptr;
};

}  // namespace kw::cuda

namespace kw::fake {

using cuda::BlasHandle;
using cuda::BlasStatus;

extern "C" {

BlasStatus cublasCreate_v2(BlasHandle* handle) {
  *handle = new cuda::BlasTag;
  return cuda::kBlasSuccess;
}

// Version 12.8.0, of no real build.
BlasStatus cublasGetProperty(int property, int* value) {
  *value = property == cuda::kBlasMajor ? 12 : property == cuda::kBlasMinor ? 8 : 0;
  return cuda::kBlasSuccess;
}

BlasStatus cublasSetStream_v2(BlasHandle handle, cuda::Stream stream) {
  if (handle == nullptr) return kBlasNotInitialized;
  handle->stream = stream;
  return cuda::kBlasSuccess;
}

BlasStatus cublasSetWorkspace_v2(BlasHandle handle, void* workspace, size_t) {
  if (handle == nullptr) return kBlasNotInitialized;
  const bool aligned = reinterpret_cast<uintptr_t>(workspace) % 256 == 0;
  return aligned ? cuda::kBlasSuccess : kBlasInvalidValue;
}

BlasStatus cublasSetMathMode(BlasHandle handle, int mode) {
  if (handle == nullptr) return kBlasNotInitialized;
  return mode == cuda::kBlasDefaultMath ? cuda::kBlasSuccess : kBlasInvalidValue;
}

BlasStatus cublasGemmEx(BlasHandle handle, int transpose_a, int transpose_b, int m, int n, int k,
                        const void* alpha, const void* a, int a_type, int lda, const void* b, int b_type,
                        int ldb, const void* beta, void* c, int c_type, int ldc, int compute_type,
                        int algorithm) {
  if (handle == nullptr) return kBlasNotInitialized;
  if (a_type != b_type || b_type != c_type || compute_type != cuda::kBlasComputeF32 ||
      algorithm != cuda::kBlasDefaultAlgorithm)
    return cuda::kBlasNotSupported;
  Product product{.first = a, .second = b, .c = c, .summed_k = k, .times_computed = 3};
  product.gemm = {.first = {.operation = static_cast<cuda::BlasOperation>(transpose_a), .ld = lda},
                  .second = {.operation = static_cast<cuda::BlasOperation>(transpose_b), .ld = ldb},
                  .m = m,
                  .n = n,
                  .k = k,
                  .ldc = ldc,
                  .type = c_type,
                  .alpha = *static_cast<const float*>(alpha),
                  .beta = *static_cast<const float*>(beta)};
  return enqueue_product(product, handle->stream);
}

const char* cublasGetStatusName(BlasStatus status) { return find_status_name(status); }

const char* cublasGetStatusString(BlasStatus status) { return find_status_text(status); }

}  // extern "C"

namespace {

// Compiles only while these functions are of the types through which the program calls them.
[[maybe_unused]] constexpr cuda::BlasFunctions kTypes = {.create = cublasCreate_v2,
                                                         .get_property = cublasGetProperty,
                                                         .set_stream = cublasSetStream_v2,
                                                         .set_workspace = cublasSetWorkspace_v2,
                                                         .set_math_mode = cublasSetMathMode,
                                                         .gemm_ex = cublasGemmEx,
                                                         .get_status_name = cublasGetStatusName,
                                                         .get_status_string = cublasGetStatusString};

}  // namespace
}  // namespace kw::fake
