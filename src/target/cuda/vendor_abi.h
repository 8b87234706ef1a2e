// The part of cuBLAS' and cuBLASLt's C interfaces that we call, declared here so that the program builds
// without the toolkit. Layouts and numbers stand since version 12; vendor_abi_test.cc holds them, and the
// functions, against the toolkit's headers where they are installed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "target/cuda/driver_abi.h"

namespace kw::cuda {

using BlasStatus = int;
inline constexpr BlasStatus kBlasSuccess = 0, kBlasNotSupported = 15;

struct BlasTag;
struct LtTag;
struct LtOperationTag;
struct LtLayoutTag;
struct LtPreferenceTag;
using BlasHandle = BlasTag*;
using LtHandle = LtTag*;
using LtOperation = LtOperationTag*;    // what is computed, in which types
using LtLayout = LtLayoutTag*;          // how one matrix lies
using LtPreference = LtPreferenceTag*;  // what the heuristic may choose from

enum BlasType { kBlasF32 = 0, kBlasF16 = 2, kBlasBf16 = 14 };
enum BlasOperation { kBlasAsStored = 0, kBlasTransposed = 1 };
inline constexpr int kBlasComputeF32 = 68, kBlasDefaultAlgorithm = -1, kBlasDefaultMath = 0;
enum BlasProperty { kBlasMajor = 0, kBlasMinor = 1, kBlasPatch = 2 };

enum LtOperationAttribute { kLtTransposeFirst = 3, kLtTransposeSecond = 4 };  // int32 each

enum LtPreferenceAttribute {
  kLtMaxWorkspaceBytes = 1,  // uint64
  kLtReductionMask = 3,      // uint32
  kLtMinAlignmentFirst = 5,  // uint32, bytes; the next three as well
  kLtMinAlignmentSecond = 6,
  kLtMinAlignmentC = 7,
  kLtMinAlignmentD = 8,
};

// Where the parts of a split sum meet; a mask in the preference.
enum LtReduction {
  kLtReductionNone = 0,
  kLtReductionInPlace = 1,      // in the output, in its type
  kLtReductionComputeType = 2,  // in the workspace, in the accumulator's type
  kLtReductionOutputType = 4,   // in the workspace, in the output's type
  kLtReductionAll = 7,
};

enum LtConfigAttribute {
  kLtConfigAlgorithm = 0,   // int32
  kLtConfigTile = 1,        // uint32, vendor_names.h
  kLtConfigSplitK = 2,      // int32
  kLtConfigReduction = 3,   // uint32
  kLtConfigSwizzle = 4,     // uint32
  kLtConfigCustom = 5,      // uint32
  kLtConfigStages = 6,      // uint32, vendor_names.h
  kLtConfigInnerShape = 7,  // uint16
  kLtConfigCluster = 8,     // uint16, vendor_names.h
};

struct LtAlgorithm {
  uint64_t data[8] = {};
};

struct LtResult {
  LtAlgorithm algorithm;
  size_t workspace_bytes = 0;
  BlasStatus state = 0;  // the other fields hold only when this is success
  float waves = 0;
  int reserved[4] = {};
};

// The functions under their own names, without the prefix. All matrices are column-major.
struct BlasFunctions {
  BlasStatus (*create)(BlasHandle* handle);
  BlasStatus (*get_property)(int property, int* value);
  BlasStatus (*set_stream)(BlasHandle handle, Stream stream);
  BlasStatus (*set_workspace)(BlasHandle handle, void* workspace, size_t bytes);
  BlasStatus (*set_math_mode)(BlasHandle handle, int mode);
  BlasStatus (*gemm_ex)(BlasHandle handle, int transpose_a, int transpose_b, int m, int n, int k,
                        const void* alpha, const void* a, int a_type, int lda, const void* b, int b_type,
                        int ldb, const void* beta, void* c, int c_type, int ldc, int compute_type,
                        int algorithm);
  const char* (*get_status_name)(BlasStatus status);
  const char* (*get_status_string)(BlasStatus status);
};

struct LtFunctions {
  BlasStatus (*create)(LtHandle* handle);
  size_t (*get_version)();
  BlasStatus (*matmul_desc_create)(LtOperation* operation, int compute_type, int scale_type);
  BlasStatus (*matmul_desc_destroy)(LtOperation operation);
  BlasStatus (*matmul_desc_set_attribute)(LtOperation operation, int attribute, const void* value,
                                          size_t bytes);
  BlasStatus (*matrix_layout_create)(LtLayout* layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
  BlasStatus (*matrix_layout_destroy)(LtLayout layout);
  BlasStatus (*matmul_preference_create)(LtPreference* preference);
  BlasStatus (*matmul_preference_destroy)(LtPreference preference);
  BlasStatus (*matmul_preference_set_attribute)(LtPreference preference, int attribute, const void* value,
                                                size_t bytes);
  BlasStatus (*matmul_algo_get_heuristic)(LtHandle handle, LtOperation operation, LtLayout a, LtLayout b,
                                          LtLayout c, LtLayout d, LtPreference preference, int wanted,
                                          LtResult* results, int* returned);
  BlasStatus (*matmul_algo_config_get_attribute)(const LtAlgorithm* algorithm, int attribute, void* value,
                                                 size_t bytes, size_t* written);
  BlasStatus (*matmul)(LtHandle handle, LtOperation operation, const void* alpha, const void* a,
                       LtLayout a_layout, const void* b, LtLayout b_layout, const void* beta, const void* c,
                       LtLayout c_layout, void* d, LtLayout d_layout, const LtAlgorithm* algorithm,
                       void* workspace, size_t workspace_bytes, Stream stream);
  const char* (*get_status_name)(BlasStatus status);
  const char* (*get_status_string)(BlasStatus status);
};

}  // namespace kw::cuda
