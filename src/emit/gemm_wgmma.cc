// A gemm_wgmma kernel: constants, device files, the product instruction for its tile width, the entry with
// one or two tensor maps an operand; and how it is launched.
#include "emit/gemm_wgmma.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "emit/cuda_text.h"
#include "schedule/cuda_limits.h"

namespace kw {
namespace {

constexpr int kBlockDepth = 64;  // steps of k in a 128-byte swizzled line

// One operand as the kernel sees it.
struct Side {
  std::string name;                // "x", "y": of the kernel's parameters
  std::string operand, lines, ld;  // "a", "m", "lda"
  bool by_depth = true;
  int tile_lines = 0;
  // In steps of two blocks k may end inside a block; a second map then copies single blocks.
  bool has_block_map(int depth) const { return by_depth && depth > kBlockDepth; }
};

struct Sides {
  Side x, y;
};

Sides make_sides(const GemmWgmmaSchedule& s, Layout layout) {
  const Side a = {"", "a", "m", "lda", true, 0};
  const Side b = {"", "b", "n", "ldb", layout == Layout::kNT, 0};
  Sides sides = s.swapped ? Sides{b, a} : Sides{a, b};
  sides.x.name = "x", sides.x.tile_lines = s.rows();
  sides.y.name = "y", sides.y.tile_lines = s.columns;
  return sides;
}

// multiply: wgmma of 64 x columns x 16 with float sums.
std::string print_product(const GemmWgmmaSchedule& s, const Sides& sides, Dtype dtype) {
  const int floats = s.columns / 2;
  std::string numbers, sums;
  for (int i = 0; i < floats; ++i) {
    numbers += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    sums += fmt::format("{}\"+f\"(sums[{}])", i == 0 ? "" : i % 6 == 0 ? ",\n        " : ", ", i);
  }
  const std::string_view type = dtype == Dtype::kBf16 ? "bf16" : "f16";
  return fmt::format(
      "// sums = X * Y + (add ? sums : 0) over 16 steps of k, 64 rows of X given by their descriptor.\n"
      "KW_DEVICE void multiply(float (&sums)[{0}], u64 x, u64 y, int add) {{\n"
      "  asm volatile(\n"
      "      \"{{\\n.reg .pred p;\\n\"\n"
      "      \"setp.ne.b32 p, %{1}, 0;\\n\"\n"
      "      \"wgmma.mma_async.sync.aligned.m64n{2}k16.f32.{3}.{3} {{{4}}}, \"\n"
      "      \"%{0}, %{5}, p, 1, 1, {6}, {7};\\n}}\"\n"
      "      : {8}\n"
      "      : \"l\"(x), \"l\"(y), \"r\"(add));\n"
      "}}\n\n",
      floats, floats + 2, s.columns, type, numbers, floats + 1, sides.x.by_depth ? 0 : 1,
      sides.y.by_depth ? 0 : 1, sums);
}

std::string print_entry(const GemmWgmmaSchedule& s, const Sides& sides) {
  std::string parameters, maps;
  for (const Side* side : {&sides.x, &sides.y}) {
    const bool two = side->has_block_map(s.depth);
    parameters += fmt::format("const __grid_constant__ TensorMap {},\n               ", side->name);
    if (two)
      parameters += fmt::format("const __grid_constant__ TensorMap {}_block,\n               ", side->name);
    maps += fmt::format("&{0}, {1}, ", side->name, two ? fmt::format("&{}_block", side->name) : "nullptr");
  }
  maps.resize(maps.size() - 2);
  return fmt::format(
      "extern \"C\" __global__ void __launch_bounds__({0}, 1)\n"
      "    gemm_wgmma({1}u16* c, int m, int n, int k, i64 ldc, float alpha, float beta) {{\n"
      "  run_gemm_wgmma({{{2}}}, {{c, m, n, ldc, alpha, beta}}, k);\n"
      "}}\n",
      s.threads(), parameters, maps);
}

Argument make_map(const Side& side, std::vector<std::string> sizes, std::vector<std::string> stride_bytes,
                  std::vector<int64_t> box, int64_t swizzle_bytes) {
  TensorMap map;
  map.operand = side.operand;
  for (const std::string& size : sizes) map.sizes.push_back(make_expression(size));
  for (const std::string& stride : stride_bytes) map.stride_bytes.push_back(make_expression(stride));
  map.box = std::move(box);
  map.swizzle_bytes = swizzle_bytes;
  return {Argument::Kind::kTensorMap, "", {}, std::move(map)};
}

void add_maps(std::vector<Argument>& arguments, const Side& side, int depth) {
  const std::string stride = fmt::format("2 * {}", side.ld);
  if (!side.by_depth) {  // panels of (depth, lines)
    const int64_t panel = std::min(side.tile_lines, kBlockDepth);
    arguments.push_back(make_map(side, {side.lines, "k"}, {stride}, {panel, depth}, 2 * panel));
    return;
  }
  // All whole blocks of 64 k as a third dimension; what is left of k behind them is not in this map.
  if (side.has_block_map(depth))
    arguments.push_back(make_map(side, {"min(k, 64)", side.lines, "max(k / 64, 1)"}, {stride, "128"},
                                 {kBlockDepth, side.tile_lines, depth / kBlockDepth}, 128));
  arguments.push_back(make_map(side, {"k", side.lines}, {stride}, {kBlockDepth, side.tile_lines}, 128));
}

LaunchRecord make_launch(const GemmWgmmaSchedule& s, const Sides& sides, Layout layout, Dtype dtype) {
  CudaLaunch launch;
  launch.name = "gemm_wgmma";
  launch.isa = "sm_90a";
  launch.grid_x = fmt::format("{} * ceil_div({}, {})", s.split, sides.y.lines, s.columns);
  launch.grid_y = fmt::format("ceil_div({}, {})", sides.x.lines, s.rows());
  launch.threads = s.threads();
  launch.cluster = s.split;
  launch.shared_bytes = s.shared_bytes();
  launch.pdl = s.pdl;
  add_maps(launch.arguments, sides.x, s.depth);
  add_maps(launch.arguments, sides.y, s.depth);
  for (const Argument& argument : {make_operand("c"), make_int32("m"), make_int32("n"), make_int32("k"),
                                   make_int64("ldc"), make_scalar("alpha"), make_scalar("beta")})
    launch.arguments.push_back(argument);
  const int64_t most_x = std::min(kMaxCudaSize, kMaxGridY * s.rows());
  launch.domain = {{"m", 0, s.swapped ? kMaxCudaSize : most_x, 1},
                   {"n", 0, s.swapped ? most_x : kMaxCudaSize, 1},
                   {"k", 1, kMaxCudaSize, 1},
                   {"lda", 8, kMaxCudaStride, 8},
                   {"ldb", 8, kMaxCudaStride, 8},
                   {"ldc", 1, kMaxCudaStride, 1}};
  return make_cuda_record(std::move(launch), dtype, layout);
}

}  // namespace

Source print_gemm_wgmma_kernel(const GemmWgmmaSchedule& s, Layout layout, Dtype dtype) {
  const Sides sides = make_sides(s, layout);
  KW_CHECK(sides.y.by_depth || s.columns >= 32, "schedule {} for layout {}", print_gemm_wgmma(s),
           print_layout(layout));
  Source source;
  source.language = "cuda";
  source.name = fmt::format("gemm_wgmma_{}_{}_{}{}x{}_s{}", print_dtype(dtype), print_layout(layout),
                            s.swapped ? "swapped_" : "", s.rows(), s.columns, s.split);
  source.text =
      print_cuda_head("gemm_wgmma", dtype, layout, print_gemm_wgmma(s),
                      {{"bool", "kBf16", dtype == Dtype::kBf16, "else f16"},
                       {"bool", "kPdl", s.pdl, "programmatic dependent launch"},
                       {"bool", "kSwapped", s.swapped, "X = B and Y = A, else X = A and Y = B"},
                       {"bool", "kXByDepth", sides.x.by_depth, "X stored (lines, k), else (k, lines)"},
                       {"bool", "kYByDepth", sides.y.by_depth, "Y stored (lines, k), else (k, lines)"},
                       {"int", "kGroups", s.groups, "warpgroups that multiply, 64 rows each"},
                       {"int", "kColumns", s.columns, "of the tile"},
                       {"int", "kDepth", s.depth, "steps of k in a stage"},
                       {"int", "kStages", s.stages, "of the ring"},
                       {"int", "kSplit", s.split, "blocks of a cluster that share k"}}) +
      paste_device_files({"cuda_types.h", "cuda_store.h", "cuda_barrier.h", "cuda_cluster.h", "cuda_wgmma.h",
                          "cuda_descriptor.h"}) +
      print_product(s, sides, dtype) + paste_device_files({"cuda_gemm_wgmma.h"}) + print_entry(s, sides);
  source.launch = make_launch(s, sides, layout, dtype);
  return source;
}

}  // namespace kw
