// Constants and device files of a gemm_async kernel, and how it is launched.
#include "emit/gemm_async.h"

#include <fmt/format.h>

#include <algorithm>

#include "emit/cuda_text.h"
#include "schedule/cuda_limits.h"

namespace kw {

Source print_gemm_async_kernel(const GemmAsyncSchedule& s, Layout layout, Dtype dtype) {
  const bool b_by_depth = layout == Layout::kNT;
  Source source;
  source.language = "cuda";
  source.name = fmt::format("gemm_async_{}_{}_{}x{}x{}_c{}_{}", print_dtype(dtype), print_layout(layout),
                            s.rows, s.columns, s.depth, s.copy_a, s.copy_b);
  source.text =
      print_cuda_head("gemm_async", dtype, layout, print_gemm_async(s),
                      {{"bool", "kBf16", dtype == Dtype::kBf16, "else f16"},
                       {"bool", "kPdl", s.pdl, "programmatic dependent launch"},
                       {"bool", "kBByDepth", b_by_depth, "B stored (n, k), else (k, n)"},
                       {"int", "kCopyA", s.copy_a, "bytes at a time from rows of A"},
                       {"int", "kCopyB", s.copy_b, "bytes at a time from rows of B"},
                       {"int", "kRows", s.rows, "of the tile"},
                       {"int", "kColumns", s.columns, "of the tile"},
                       {"int", "kDepth", s.depth, "steps of k in a stage"},
                       {"int", "kWarpsM", s.warps_m, "warps along m"},
                       {"int", "kWarpsN", s.warps_n, "warps along n"},
                       {"int", "kWarpsK", s.warps_k, "warps that share a tile, each with a part of a stage"},
                       {"int", "kStages", s.stages, "of the ring"}}) +
      paste_device_files({"cuda_types.h", "cuda_store.h", "cuda_mma.h", "cuda_async_copy.h", "cuda_parts.h",
                          "cuda_gemm_async.h"});

  CudaLaunch launch;
  launch.name = "gemm_async";
  launch.isa = s.pdl ? "sm_90" : "sm_80";
  launch.grid_x = fmt::format("ceil_div(n, {})", s.columns);
  launch.grid_y = fmt::format("ceil_div(m, {})", s.rows);
  launch.threads = s.threads();
  launch.shared_bytes = s.shared_bytes();
  launch.pdl = s.pdl;
  launch.arguments = make_gemm_arguments();
  launch.domain = {{"m", 0, std::min(kMaxCudaSize, kMaxGridY * s.rows), 1},
                   {"n", 0, kMaxCudaSize, 1},
                   {"k", 0, kMaxCudaSize, 1},
                   {"lda", s.copy_a / 2, kMaxCudaStride, s.copy_a / 2},
                   {"ldb", s.copy_b / 2, kMaxCudaStride, s.copy_b / 2},
                   {"ldc", 1, kMaxCudaStride, 1}};
  source.launch = make_cuda_record(std::move(launch), dtype, layout);
  return source;
}

}  // namespace kw
