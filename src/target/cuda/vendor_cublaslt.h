// cuBLASLt: one chosen algorithm at a time, loaded at run time. In: a GEMM. Out: the algorithms that the
// library's heuristic names for it, and routines that call one of them. Called by vendor.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "target/cuda/vendor.h"
#include "target/cuda/vendor_abi.h"

namespace kw::cuda {

// What tells algorithms apart.
struct LtConfig {
  int32_t algorithm = 0;
  uint32_t tile = 0;
  int32_t split_k = 1;
  uint32_t reduction = 0, swizzle = 0, custom = 0, stages = 0;
  uint16_t inner_shape = 0, cluster = 0;
  bool operator==(const LtConfig&) const = default;
};
// "algorithm 66 tile 128x128 stages 64xAUTO split-K 1 reduction none cluster 2x1x1 swizzle 0 custom 0 inner
// 0"
[[nodiscard]] std::string print_lt_config(const LtConfig& config);

struct LtChoice {
  std::string name;  // "cublaslt_w32_3"
  LtConfig config;
  LtAlgorithm algorithm;
  size_t workspace_bytes = 0;  // that it needs
};

// Algorithms of the first list, then those of the second that it lacks, each config once, named by the list
// and their place in it. The first of all is the heuristic's choice.
[[nodiscard]] std::vector<LtChoice> join_choices(std::vector<LtChoice> small_workspace,
                                                 std::vector<LtChoice> large_workspace);

// Version, or what is missing. Needs no GPU.
[[nodiscard]] VendorLibrary find_cublaslt();

// All algorithms that come back when 64 are asked for, with 32 MiB and with 256 MiB of workspace, each with
// any way to join split sums and with those alone that join them in f32. Needs a current context; empty where
// the library has no algorithm. The last lists are kept, because every open asks again.
[[nodiscard]] Result<std::vector<LtChoice>> list_cublaslt(const Problem& problem);

// Needs operands at addresses that are multiples of 16 bytes; enqueue refuses others.
[[nodiscard]] Result<std::unique_ptr<VendorRoutine>> open_cublaslt(const LtChoice& choice,
                                                                   const Problem& problem,
                                                                   DevicePointer workspace,
                                                                   size_t workspace_bytes);

}  // namespace kw::cuda
