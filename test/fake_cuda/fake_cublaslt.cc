// libcublasLt without a GPU: a few algorithms, of which some are what a bench must not fall for. Named to the
// program by KERNELWRIGHT_CUBLASLT; needs the fake driver.
#include <algorithm>
#include <cstring>

#include "fake_product.h"
#include "target/cuda/vendor_abi.h"

namespace kw::cuda {

struct LtTag {};

struct LtOperationTag {
  int32_t transpose[2] = {kBlasAsStored, kBlasAsStored};  // first, second
};

struct LtLayoutTag {
  int type = 0;
  int64_t rows = 0, cols = 0, ld = 0;
};

struct LtPreferenceTag {
  uint64_t workspace_bytes = 0;
  uint32_t reductions = kLtReductionAll;
};

}  // namespace kw::cuda

namespace kw::fake {
namespace {

using cuda::BlasStatus;
using cuda::LtAlgorithm;
using cuda::LtHandle;
using cuda::LtLayout;
using cuda::LtOperation;
using cuda::LtPreference;

constexpr size_t kVersion = 120'800;
constexpr int64_t kDepth = 64;  // of the steps in k whose rest the wrong one forgets

enum class Manner { kRight, kForgetsRest, kRefusesToStart };

struct Algorithm {
  Manner manner;
  int times_computed;
  size_t workspace_bytes;
  int32_t id;
  uint32_t tile;
  int32_t split_k;
  cuda::LtReduction reduction;
};

// In the order of the heuristic, which does not put the fastest first. Names in the list of the program:
// cublaslt_w32_0 to cublaslt_w32_4, cublaslt_w256_0.
constexpr Algorithm kAlgorithms[] = {
    {Manner::kRight, 3, 0, 66, 20, 1, cuda::kLtReductionNone},
    {Manner::kForgetsRest, 1, 0, 66, 24, 1, cuda::kLtReductionNone},
    {Manner::kRight, 1, 0, 66, 15, 1, cuda::kLtReductionNone},
    {Manner::kRight, 40, 0, 66, 1, 1, cuda::kLtReductionNone},
    {Manner::kRefusesToStart, 1, 0, 67, 23, 1, cuda::kLtReductionNone},
    {Manner::kRight, 3, size_t{64} << 20, 66, 20, 4, cuda::kLtReductionComputeType},
};

const Algorithm* find_algorithm(const LtAlgorithm* algorithm) {
  const uint64_t place = algorithm == nullptr ? UINT64_MAX : algorithm->data[0];
  return place < std::size(kAlgorithms) ? &kAlgorithms[place] : nullptr;
}

bool is_allowed(const Algorithm& algorithm, const cuda::LtPreferenceTag& preference) {
  const bool reduction_allowed =
      algorithm.reduction == cuda::kLtReductionNone || (preference.reductions & algorithm.reduction) != 0;
  return reduction_allowed && algorithm.workspace_bytes <= preference.workspace_bytes;
}

// Writes a value of the attribute's own size, as the caller must have it.
template <class T>
BlasStatus give(T from, void* value, size_t bytes, size_t* written) {
  if (bytes != sizeof from) return kBlasInvalidValue;
  std::memcpy(value, &from, sizeof from);
  if (written != nullptr) *written = sizeof from;
  return cuda::kBlasSuccess;
}

template <class T>
BlasStatus take(T& to, const void* value, size_t bytes) {
  if (bytes != sizeof to) return kBlasInvalidValue;
  std::memcpy(&to, value, sizeof to);
  return cuda::kBlasSuccess;
}

template <class Handle, class... Fields>
BlasStatus make(Handle* handle, Fields... fields) {
  *handle = new std::remove_pointer_t<Handle>{fields...};
  return cuda::kBlasSuccess;
}

template <class Handle>
BlasStatus destroy(Handle handle) {
  delete handle;
  return cuda::kBlasSuccess;
}

}  // namespace

extern "C" {

BlasStatus cublasLtCreate(LtHandle* handle) { return make(handle); }

size_t cublasLtGetVersion() { return kVersion; }

BlasStatus cublasLtMatmulDescCreate(LtOperation* operation, int compute_type, int scale_type) {
  if (compute_type != cuda::kBlasComputeF32 || scale_type != cuda::kBlasF32) return cuda::kBlasNotSupported;
  return make(operation);
}

BlasStatus cublasLtMatmulDescDestroy(LtOperation operation) { return destroy(operation); }

BlasStatus cublasLtMatmulDescSetAttribute(LtOperation operation, int attribute, const void* value,
                                          size_t bytes) {
  if (attribute != cuda::kLtTransposeFirst && attribute != cuda::kLtTransposeSecond) return kBlasInvalidValue;
  return take(operation->transpose[attribute - cuda::kLtTransposeFirst], value, bytes);
}

BlasStatus cublasLtMatrixLayoutCreate(LtLayout* layout, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  return make(layout, type, static_cast<int64_t>(rows), static_cast<int64_t>(cols), ld);
}

BlasStatus cublasLtMatrixLayoutDestroy(LtLayout layout) { return destroy(layout); }

BlasStatus cublasLtMatmulPreferenceCreate(LtPreference* preference) { return make(preference); }

BlasStatus cublasLtMatmulPreferenceDestroy(LtPreference preference) { return destroy(preference); }

BlasStatus cublasLtMatmulPreferenceSetAttribute(LtPreference preference, int attribute, const void* value,
                                                size_t bytes) {
  uint32_t alignment = 0;
  switch (attribute) {
    case cuda::kLtMaxWorkspaceBytes:
      return take(preference->workspace_bytes, value, bytes);
    case cuda::kLtReductionMask:
      return take(preference->reductions, value, bytes);
    case cuda::kLtMinAlignmentFirst:
    case cuda::kLtMinAlignmentSecond:
    case cuda::kLtMinAlignmentC:
    case cuda::kLtMinAlignmentD:
      return take(alignment, value, bytes);
    default:
      return kBlasInvalidValue;
  }
}

BlasStatus cublasLtMatmulAlgoGetHeuristic(LtHandle, LtOperation, LtLayout, LtLayout, LtLayout, LtLayout,
                                          LtPreference preference, int wanted, cuda::LtResult* results,
                                          int* returned) {
  *returned = 0;
  for (size_t place = 0; place < std::size(kAlgorithms) && *returned < wanted; ++place) {
    if (!is_allowed(kAlgorithms[place], *preference)) continue;
    cuda::LtResult& result = results[(*returned)++];
    result = {.workspace_bytes = kAlgorithms[place].workspace_bytes};
    result.algorithm.data[0] = place;
  }
  return *returned > 0 ? cuda::kBlasSuccess : cuda::kBlasNotSupported;
}

BlasStatus cublasLtMatmulAlgoConfigGetAttribute(const LtAlgorithm* algorithm, int attribute, void* value,
                                                size_t bytes, size_t* written) {
  const Algorithm* const found = find_algorithm(algorithm);
  if (found == nullptr) return kBlasInvalidValue;
  switch (attribute) {
    case cuda::kLtConfigAlgorithm:
      return give(found->id, value, bytes, written);
    case cuda::kLtConfigTile:
      return give(found->tile, value, bytes, written);
    case cuda::kLtConfigSplitK:
      return give(found->split_k, value, bytes, written);
    case cuda::kLtConfigReduction:
      return give(uint32_t{found->reduction}, value, bytes, written);
    case cuda::kLtConfigSwizzle:
    case cuda::kLtConfigCustom:
    case cuda::kLtConfigStages:
      return give(uint32_t{0}, value, bytes, written);
    case cuda::kLtConfigInnerShape:
    case cuda::kLtConfigCluster:
      return give(uint16_t{0}, value, bytes, written);
    default:
      return kBlasInvalidValue;
  }
}

BlasStatus cublasLtMatmul(LtHandle handle, LtOperation operation, const void* alpha, const void* a,
                          LtLayout a_layout, const void* b, LtLayout b_layout, const void* beta,
                          const void* c, LtLayout, void* d, LtLayout d_layout, const LtAlgorithm* algorithm,
                          void* workspace, size_t workspace_bytes, cuda::Stream stream) {
  const Algorithm* const found = find_algorithm(algorithm);
  if (handle == nullptr) return kBlasNotInitialized;
  if (found == nullptr || c != d || workspace_bytes < found->workspace_bytes) return kBlasInvalidValue;
  if (workspace == nullptr && found->workspace_bytes > 0) return kBlasInvalidValue;
  if (found->manner == Manner::kRefusesToStart) return kBlasInternalError;
  const auto input = [&](int which, const LtLayout layout) {
    return cuda::ColumnMajorInput{.operation = static_cast<cuda::BlasOperation>(operation->transpose[which]),
                                  .ld = layout->ld};
  };
  const int64_t k = operation->transpose[0] == cuda::kBlasAsStored ? a_layout->cols : a_layout->rows;
  Product product{.first = a,
                  .second = b,
                  .c = d,
                  .summed_k = found->manner == Manner::kForgetsRest ? k / kDepth * kDepth : k,
                  .times_computed = found->times_computed};
  product.gemm = {.first = input(0, a_layout),
                  .second = input(1, b_layout),
                  .m = d_layout->rows,
                  .n = d_layout->cols,
                  .k = k,
                  .ldc = d_layout->ld,
                  .type = d_layout->type,
                  .alpha = *static_cast<const float*>(alpha),
                  .beta = *static_cast<const float*>(beta)};
  return enqueue_product(product, stream);
}

const char* cublasLtGetStatusName(BlasStatus status) { return find_status_name(status); }

const char* cublasLtGetStatusString(BlasStatus status) { return find_status_text(status); }

}  // extern "C"

namespace {

// Compiles only while these functions are of the types through which the program calls them.
[[maybe_unused]] constexpr cuda::LtFunctions kTypes = {
    .create = cublasLtCreate,
    .get_version = cublasLtGetVersion,
    .matmul_desc_create = cublasLtMatmulDescCreate,
    .matmul_desc_destroy = cublasLtMatmulDescDestroy,
    .matmul_desc_set_attribute = cublasLtMatmulDescSetAttribute,
    .matrix_layout_create = cublasLtMatrixLayoutCreate,
    .matrix_layout_destroy = cublasLtMatrixLayoutDestroy,
    .matmul_preference_create = cublasLtMatmulPreferenceCreate,
    .matmul_preference_destroy = cublasLtMatmulPreferenceDestroy,
    .matmul_preference_set_attribute = cublasLtMatmulPreferenceSetAttribute,
    .matmul_algo_get_heuristic = cublasLtMatmulAlgoGetHeuristic,
    .matmul_algo_config_get_attribute = cublasLtMatmulAlgoConfigGetAttribute,
    .matmul = cublasLtMatmul,
    .get_status_name = cublasLtGetStatusName,
    .get_status_string = cublasLtGetStatusString};

}  // namespace
}  // namespace kw::fake
