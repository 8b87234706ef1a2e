// Schedules that stand for the CUDA families in tests: the measured winners and the corners of each family,
// with problems for which they are legal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "emit/emit.h"

namespace kw {

struct MenuEntry {
  std::string_view family, key;
  Problem problem;
};

inline DeviceFacts make_cuda_device(std::string isa = "sm_90a") {
  DeviceFacts device;
  device.target = "cuda";
  device.isa = std::move(isa);
  device.cores = 132;
  device.l2_bytes = 60 << 20;
  return device;
}

inline Problem make_cuda_problem(int64_t m, int64_t n, int64_t k, Layout layout, Dtype dtype,
                                 int64_t gap = 0) {
  Problem problem;
  problem.layout = layout;
  problem.dtype = dtype;
  problem.m = m, problem.n = n, problem.k = k;
  problem = with_tight_strides(problem);
  problem.lda += gap, problem.ldb += gap, problem.ldc += gap;
  return problem;
}

// Each schedule for both layouts where it is legal, with the element types in turn.
inline std::vector<MenuEntry> list_menu() {
  struct Line {
    std::string_view family, key;
    int64_t m, n, k, gap = 0;
  };
  const std::vector<Line> lines = {
      {"gemm_wgmma", "g1 n32 k128 st4 s1 swap0 pdl0", 256, 256, 512},
      {"gemm_wgmma", "g1 n32 k128 st8 s1 swap0 pdl1", 256, 256, 2048},
      {"gemm_wgmma", "g1 n32 k128 st4 s8 swap0 pdl0", 128, 128, 4096},
      {"gemm_wgmma", "g1 n32 k128 st3 s16 swap0 pdl1", 64, 64, 4096},
      {"gemm_wgmma", "g1 n16 k64 st16 s1 swap0 pdl0", 256, 256, 1024},
      {"gemm_wgmma", "g1 n64 k128 st6 s8 swap0 pdl0", 128, 128, 8192},
      {"gemm_wgmma", "g1 n64 k128 st3 s4 swap0 pdl1", 256, 256, 1024},
      {"gemm_wgmma", "g1 n64 k64 st12 s2 swap0 pdl0", 256, 256, 2048},
      {"gemm_wgmma", "g1 n8 k128 st9 s1 swap1 pdl0", 8, 4096, 4096},
      {"gemm_wgmma", "g1 n8 k64 st10 s8 swap1 pdl1", 4, 896, 4864},
      {"gemm_wgmma", "g1 n32 k128 st5 s2 swap1 pdl0", 32, 4096, 4096},
      {"gemm_wgmma", "g2 n16 k64 st9 s4 swap1 pdl0", 16, 4096, 4096},
      {"gemm_wgmma", "g2 n64 k128 st4 s1 swap0 pdl0", 512, 512, 2048},
      {"gemm_wgmma", "g2 n128 k64 st5 s4 swap0 pdl0", 512, 256, 2048},
      {"gemm_wgmma", "g1 n128 k128 st4 s1 swap0 pdl0", 512, 512, 1024},
      {"gemm_wgmma", "g1 n256 k64 st4 s8 swap0 pdl0", 128, 512, 4096},
      {"gemm_wgmma", "g2 n256 k64 st4 s1 swap0 pdl1", 1024, 1024, 1024},
      {"gemm_direct", "mt1 nt2 wm1 wn1 wk1 c2 pdl0", 64, 64, 64},
      {"gemm_direct", "mt1 nt2 wm1 wn1 wk2 c2 pdl1", 128, 128, 128},
      {"gemm_direct", "mt1 nt2 wm1 wn1 wk4 c2 pdl0", 128, 128, 512},
      {"gemm_direct", "mt1 nt2 wm1 wn1 wk4 c4 pdl0", 256, 256, 512},
      {"gemm_direct", "mt1 nt2 wm1 wn1 wk16 c2 pdl0", 64, 64, 1024},
      {"gemm_direct", "mt1 nt4 wm1 wn2 wk4 c2 pdl0", 128, 256, 512},
      {"gemm_direct", "mt2 nt4 wm2 wn1 wk2 c2 pdl0", 256, 256, 512},
      {"gemm_direct", "mt1 nt8 wm1 wn1 wk8 c2 pdl1", 64, 512, 1024},
      {"gemm_direct", "mt2 nt8 wm1 wn4 wk1 c1 pdl0", 256, 512, 64},
      {"gemm_direct", "mt2 nt8 wm1 wn1 wk4 c2 pdl0", 256, 512, 1024},
      {"gemm_direct", "mt2 nt2 wm1 wn1 wk8 c4 pdl0", 256, 256, 2048},
      {"gemm_async", "ca16 cb16 m64 n64 k64 wm2 wn2 wk1 st4 pdl0", 256, 256, 512},
      {"gemm_async", "ca16 cb16 m16 n32 k128 wm1 wn1 wk4 st4 pdl1", 64, 64, 1024},
      {"gemm_async", "ca16 cb16 m32 n64 k64 wm1 wn2 wk2 st6 pdl0", 128, 128, 1024},
      {"gemm_async", "ca16 cb16 m128 n128 k64 wm2 wn4 wk1 st4 pdl0", 512, 512, 1024},
      {"gemm_async", "ca16 cb16 m128 n128 k32 wm2 wn2 wk1 st4 pdl0", 512, 512, 1024},
      {"gemm_async", "ca16 cb16 m16 n16 k32 wm1 wn1 wk1 st2 pdl0", 1, 1, 1, 7},
      {"gemm_async", "ca8 cb8 m64 n32 k32 wm2 wn1 wk2 st3 pdl0", 128, 128, 128, 4},
      {"gemm_async", "ca4 cb4 m32 n32 k64 wm1 wn1 wk4 st4 pdl0", 128, 128, 256, 2},
      {"gemm_async", "ca2 cb2 m64 n64 k64 wm2 wn2 wk1 st3 pdl0", 256, 256, 512, 1},
      {"gemm_async", "ca2 cb2 m16 n64 k128 wm1 wn4 wk2 st2 pdl0", 64, 128, 512, 1},
  };
  std::vector<MenuEntry> menu;
  size_t index = 0;
  for (const Line& line : lines)
    for (const Layout layout : {Layout::kNT, Layout::kNN}) {
      if (line.key.find(" n16 k64 st16") != std::string_view::npos && layout == Layout::kNN) continue;
      const Dtype dtype = index++ % 3 == 0 ? Dtype::kBf16 : Dtype::kF16;
      menu.push_back(
          {line.family, line.key, make_cuda_problem(line.m, line.n, line.k, layout, dtype, line.gap)});
    }
  return menu;
}

inline Source print_menu_entry(const MenuEntry& entry) {
  Proposal proposal;
  proposal.family = entry.family;
  proposal.schedule = entry.key;
  const auto source = make_source(entry.problem, proposal, make_cuda_device());
  KW_CHECK(source, "{} for {}: {}", entry.key, print_problem(entry.problem), source.error().evidence.dump());
  return *source;
}

}  // namespace kw
