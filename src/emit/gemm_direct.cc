// Constants and device files of a gemm_direct kernel, and how it is launched.
#include "emit/gemm_direct.h"

#include <fmt/format.h>

#include <algorithm>

#include "emit/cuda_text.h"
#include "schedule/cuda_limits.h"

namespace kw {

Source print_gemm_direct_kernel(const GemmDirectSchedule& s, Layout layout, Dtype dtype) {
  const bool b_by_depth = layout == Layout::kNT;
  Source source;
  source.language = "cuda";
  source.name = fmt::format("gemm_direct_{}_{}_{}x{}_k{}", print_dtype(dtype), print_layout(layout), s.rows(),
                            s.columns(), s.warps_k);
  source.text =
      print_cuda_head("gemm_direct", dtype, layout, print_gemm_direct(s),
                      {{"bool", "kBf16", dtype == Dtype::kBf16, "else f16"},
                       {"bool", "kPdl", s.pdl, "programmatic dependent launch"},
                       {"bool", "kBByDepth", b_by_depth, "B stored (n, k), else (k, n)"},
                       {"int", "kRowTiles", s.row_tiles, "of 16 rows in a warp's tile"},
                       {"int", "kColumnTiles", s.column_tiles, "of 8 columns in a warp's tile"},
                       {"int", "kWarpsM", s.warps_m, "warps along m"},
                       {"int", "kWarpsN", s.warps_n, "warps along n"},
                       {"int", "kWarpsK", s.warps_k, "warps that share a tile, each with a part of k"},
                       {"int", "kChunks", s.chunks, "of 32 k, loaded before they are multiplied"}}) +
      paste_device_files({"cuda_types.h", "cuda_store.h", "cuda_mma.h", "cuda_loads.h", "cuda_parts.h",
                          "cuda_gemm_direct.h"});

  CudaLaunch launch;
  launch.name = "gemm_direct";
  launch.isa = s.pdl ? "sm_90" : "sm_80";
  launch.grid_x = fmt::format("ceil_div(n, {})", s.columns());
  launch.grid_y = fmt::format("ceil_div(m, {})", s.rows());
  launch.threads = s.threads();
  launch.shared_bytes = s.shared_bytes();
  launch.pdl = s.pdl;
  launch.arguments = make_gemm_arguments();
  launch.domain = {{"m", 0, std::min(kMaxCudaSize, kMaxGridY * s.rows()), 1},
                   {"n", 0, kMaxCudaSize, 1},
                   {"k", 0, kMaxCudaSize, 1},
                   {"lda", 8, kMaxCudaStride, 8},
                   {"ldb", s.b_unit(layout), kMaxCudaStride, s.b_unit(layout)},
                   {"ldc", 1, kMaxCudaStride, 1}};
  source.launch = make_cuda_record(std::move(launch), dtype, layout);
  return source;
}

}  // namespace kw
