// Our declarations of cuBLAS and cuBLASLt against the toolkit's own, where its headers are installed:
// numbers, sizes, and every function argument by argument.
#include "target/cuda/vendor_abi.h"

#include <gtest/gtest.h>

#include <regex>
#include <type_traits>

#include "base/file.h"
#include "target/cuda/vendor_names.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <cublas_v2.h>
#define KW_HAS_CUBLAS_H 1
#endif

namespace kw::cuda {
namespace {

TEST(VendorAbi, has_the_sizes_that_the_libraries_expect) {
  EXPECT_EQ(sizeof(LtAlgorithm), 64u);
  EXPECT_EQ(sizeof(LtResult), 96u);
}

#ifdef KW_HAS_CUBLAS_H

// Passed in the same register: pointers as pointers, whole numbers and enumerations by their size.
template <class Ours, class Theirs>
constexpr bool kSameArgument =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    (std::is_pointer_v<Ours> || (std::is_integral_v<Ours> && !std::is_floating_point_v<Theirs>));

template <class Ours, class Theirs>
struct SameFunction : std::false_type {};
template <class R1, class... A1, class R2, class... A2>
requires(sizeof...(A1) == sizeof...(A2)) struct SameFunction<R1 (*)(A1...), R2(A2...)>
    : std::bool_constant<kSameArgument<R1, R2> && (kSameArgument<A1, A2> && ...)> {
};

#define KW_SAME(table, member, function) \
  static_assert(SameFunction<decltype(table::member), decltype(function)>::value, #function)
KW_SAME(BlasFunctions, create, cublasCreate_v2);
KW_SAME(BlasFunctions, get_property, cublasGetProperty);
KW_SAME(BlasFunctions, set_stream, cublasSetStream_v2);
KW_SAME(BlasFunctions, set_workspace, cublasSetWorkspace_v2);
KW_SAME(BlasFunctions, set_math_mode, cublasSetMathMode);
KW_SAME(BlasFunctions, get_status_name, cublasGetStatusName);
KW_SAME(BlasFunctions, get_status_string, cublasGetStatusString);
KW_SAME(LtFunctions, create, cublasLtCreate);
KW_SAME(LtFunctions, get_version, cublasLtGetVersion);
KW_SAME(LtFunctions, matmul_desc_create, cublasLtMatmulDescCreate);
KW_SAME(LtFunctions, matmul_desc_destroy, cublasLtMatmulDescDestroy);
KW_SAME(LtFunctions, matmul_desc_set_attribute, cublasLtMatmulDescSetAttribute);
KW_SAME(LtFunctions, matrix_layout_create, cublasLtMatrixLayoutCreate);
KW_SAME(LtFunctions, matrix_layout_destroy, cublasLtMatrixLayoutDestroy);
KW_SAME(LtFunctions, matmul_preference_create, cublasLtMatmulPreferenceCreate);
KW_SAME(LtFunctions, matmul_preference_destroy, cublasLtMatmulPreferenceDestroy);
KW_SAME(LtFunctions, matmul_preference_set_attribute, cublasLtMatmulPreferenceSetAttribute);
KW_SAME(LtFunctions, matmul_algo_get_heuristic, cublasLtMatmulAlgoGetHeuristic);
KW_SAME(LtFunctions, matmul_algo_config_get_attribute, cublasLtMatmulAlgoConfigGetAttribute);
KW_SAME(LtFunctions, matmul, cublasLtMatmul);
KW_SAME(LtFunctions, get_status_name, cublasLtGetStatusName);
KW_SAME(LtFunctions, get_status_string, cublasLtGetStatusString);

// Overloaded in C++ by the header: the C function is the one that takes a compute type.
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void*, const void*, cudaDataType, int, const void*, cudaDataType, int,
                              const void*, void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
[[maybe_unused]] constexpr GemmEx* kGemmEx = cublasGemmEx;
static_assert(SameFunction<decltype(BlasFunctions::gemm_ex), GemmEx>::value);

static_assert(sizeof(BlasStatus) == sizeof(cublasStatus_t));
static_assert(kBlasSuccess == CUBLAS_STATUS_SUCCESS && kBlasNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(+kBlasF32 == CUDA_R_32F && +kBlasF16 == CUDA_R_16F && +kBlasBf16 == CUDA_R_16BF);
static_assert(+kBlasAsStored == CUBLAS_OP_N && +kBlasTransposed == CUBLAS_OP_T);
static_assert(kBlasComputeF32 == CUBLAS_COMPUTE_32F && kBlasDefaultAlgorithm == CUBLAS_GEMM_DEFAULT);
static_assert(kBlasDefaultMath == CUBLAS_DEFAULT_MATH);
static_assert(+kBlasMajor == MAJOR_VERSION && +kBlasMinor == MINOR_VERSION && +kBlasPatch == PATCH_LEVEL);
static_assert(+kLtTransposeFirst == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(+kLtTransposeSecond == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(+kLtMaxWorkspaceBytes == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(+kLtReductionMask == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
static_assert(+kLtMinAlignmentFirst == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(+kLtMinAlignmentSecond == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(+kLtMinAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(+kLtMinAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(+kLtReductionNone == CUBLASLT_REDUCTION_SCHEME_NONE);
static_assert(+kLtReductionInPlace == CUBLASLT_REDUCTION_SCHEME_INPLACE);
static_assert(+kLtReductionComputeType == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
static_assert(+kLtReductionOutputType == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
static_assert(+kLtReductionAll == CUBLASLT_REDUCTION_SCHEME_MASK);
static_assert(+kLtConfigAlgorithm == CUBLASLT_ALGO_CONFIG_ID);
static_assert(+kLtConfigTile == CUBLASLT_ALGO_CONFIG_TILE_ID);
static_assert(+kLtConfigSplitK == CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
static_assert(+kLtConfigReduction == CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
static_assert(+kLtConfigSwizzle == CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING);
static_assert(+kLtConfigCustom == CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION);
static_assert(+kLtConfigStages == CUBLASLT_ALGO_CONFIG_STAGES_ID);
static_assert(+kLtConfigInnerShape == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID);
static_assert(+kLtConfigCluster == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
static_assert(sizeof(LtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(LtResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(LtResult, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(LtResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(LtResult, waves) == offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

// Every id of the header under the name that the header gives it.
void check_names(const std::string& header, const char* pattern, std::string (*print)(uint32_t)) {
  const std::regex entry(pattern);
  int found = 0;
  for (std::sregex_iterator at(header.begin(), header.end(), entry), end; at != end; ++at, ++found)
    EXPECT_EQ(print(static_cast<uint32_t>(std::stoul((*at)[2]))), (*at)[1].str());
  EXPECT_GT(found, 30) << pattern;
}

TEST(VendorNames, are_those_of_the_installed_header) {
  const auto header = read_file("/usr/local/cuda/include/cublasLt.h");
  if (!header) GTEST_SKIP() << header.error().message;
  check_names(*header, "CUBLASLT_MATMUL_TILE_([0-9]+x[0-9]+) = ([0-9]+)", print_lt_tile);
  check_names(*header, "CUBLASLT_MATMUL_STAGES_([0-9]+x\\w+) = ([0-9]+)", print_lt_stages);
  check_names(*header, "CUBLASLT_CLUSTER_SHAPE_([0-9]+x\\w+) = ([0-9]+)", print_lt_cluster);
}
#endif

}  // namespace
}  // namespace kw::cuda
