// The part of oneDNN's C API that a matmul needs, declared here so that the build needs no oneDNN header.
// Two major versions: 2 passes descriptors as structs, 3 as handles. Used by vendor_onednn.cc only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace kw::onednn {

// Opaque handles of the library.
using Engine = struct OpaqueEngine*;
using Stream = struct OpaqueStream*;
using Memory = struct OpaqueMemory*;
using Primitive = struct OpaquePrimitive*;
using PrimitiveDesc = struct OpaquePrimitiveDesc*;
using Attributes = struct OpaqueAttributes*;
using PostOps = struct OpaquePostOps*;

// Values that are the same in both major versions.
constexpr int kSuccess = 0, kUnimplemented = 3;
constexpr int kEngineCpu = 1, kF32 = 3, kQueryImplementation = 8;
constexpr unsigned kStreamInOrder = 1, kRuntimeSequential = 1, kRuntimeOpenmp = 2;
constexpr int kArgSource = 1, kArgDestination = 17, kArgWeights = 33, kArgScales = 4096;
constexpr int kMaxDims = 12;

struct Version {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};

struct Argument {
  int index;
  Memory memory;
};

// A memory or operation descriptor. Version 2 writes the struct into `bytes` (696 for a memory, 2800 for a
// matmul in 2.6; room for later 2.x), version 3 sets `handle`.
struct Descriptor {
  alignas(16) std::byte bytes[8192] = {};
  void* handle = nullptr;
};

struct Api {
  std::string path;
  int major = 0;
  const Version* (*version)() = nullptr;
  int (*engine_create)(Engine*, int kind, size_t index) = nullptr;
  int (*engine_destroy)(Engine) = nullptr;
  int (*stream_create)(Stream*, Engine, unsigned flags) = nullptr;
  int (*stream_wait)(Stream) = nullptr;
  int (*stream_destroy)(Stream) = nullptr;
  int (*memory_create)(Memory*, const void* descriptor, Engine, void* data) = nullptr;
  int (*memory_destroy)(Memory) = nullptr;
  int (*attr_create)(Attributes*) = nullptr;
  int (*attr_set_post_ops)(Attributes, PostOps) = nullptr;
  int (*attr_destroy)(Attributes) = nullptr;
  int (*post_ops_create)(PostOps*) = nullptr;
  int (*post_ops_destroy)(PostOps) = nullptr;
  int (*primitive_desc_query)(PrimitiveDesc, int what, int index, void* result) = nullptr;
  int (*primitive_desc_destroy)(PrimitiveDesc) = nullptr;
  int (*primitive_create)(Primitive*, PrimitiveDesc) = nullptr;
  int (*primitive_execute)(Primitive, Stream, int arguments, const Argument*) = nullptr;
  int (*primitive_destroy)(Primitive) = nullptr;
  // Major version 2.
  int (*memory_desc_init_v2)(void*, int dims, const int64_t* sizes, int type,
                             const int64_t* strides) = nullptr;
  int (*matmul_desc_init_v2)(void*, const void* source, const void* weights, const void* bias,
                             const void* destination) = nullptr;
  int (*primitive_desc_create_v2)(PrimitiveDesc*, const void* operation, Attributes, Engine,
                                  PrimitiveDesc hint) = nullptr;
  int (*append_sum_v2)(PostOps, float scale) = nullptr;
  int (*set_output_scales_v2)(Attributes, int64_t count, int mask, const float* scales) = nullptr;
  // Major version 3.
  int (*memory_desc_create_v3)(void**, int dims, const int64_t* sizes, int type,
                               const int64_t* strides) = nullptr;
  int (*memory_desc_destroy_v3)(void*) = nullptr;
  int (*matmul_primitive_desc_create_v3)(PrimitiveDesc*, Engine, const void* source, const void* weights,
                                         const void* bias, const void* destination, Attributes) = nullptr;
  int (*append_sum_v3)(PostOps, float scale, int32_t zero_point, int type) = nullptr;
  int (*set_scales_mask_v3)(Attributes, int argument, int mask) = nullptr;
  // Of the OpenMP runtime the library is linked with; nullptr when it uses none.
  void (*omp_set_num_threads)(int) = nullptr;
  int (*omp_get_max_threads)() = nullptr;
};

// Loads libdnnl and binds the functions of its major version; any other major version is an error.
[[nodiscard]] Result<Api> load_api();

}  // namespace kw::onednn
