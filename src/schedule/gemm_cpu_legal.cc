// The rules of gemm_cpu schedules, each once and with its reason. In: schedule, problem, device. Out: the
// first broken rule's reason. Speed is no rule here, but schedules that differ only in fields without effect
// are cut to one.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/gemm_cpu.h"
#include "schedule/gemm_cpu_space.h"

namespace kw {
namespace {

using Reason = std::optional<std::string>;

constexpr int kMaxBody = 160;     // register FMAs in one loop round: code that stays in the uop cache
constexpr int kLatencyTile = 16;  // accumulators beyond which two 4-cycle FMA ports are busy
constexpr int64_t kMaxScratchBytes = int64_t{64} << 20;
constexpr int64_t kMinSplitDepth = 64;  // k steps one split-k item must have
constexpr int kMaxItemsPerThread = 4;
constexpr int kSmallUnroll = 4;      // always allowed: the rest of the loop handles shorter k
constexpr int kMinAccumulators = 8;  // two ports x four cycles of FMA latency

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

Reason find_tile_problem(const GemmCpuSchedule& s, const TileView& view) {
  for (const int field : {s.rows, s.width, s.sums, s.unroll})
    if (field < 1 || field > kMaxBody)
      return fmt::format("tile, sums and unroll must lie in [1, {}], not {}", kMaxBody, field);
  const int registers = s.avx512 ? 32 : 16;
  const int needed = s.rows * s.width * s.sums + s.width + 1;
  if (needed > registers)
    return fmt::format("the tile needs {} vector registers and {} has {}", needed,
                       s.avx512 ? "avx512" : "avx2", registers);
  if (s.sums != 1 && s.sums != 2 && s.sums != 4) return "partial sums are 1, 2 or 4";
  if (s.sums > 1 && s.rows * s.width * s.sums > kLatencyTile)
    return fmt::format("{} accumulators hide the FMA latency already; more partial sums only cost registers",
                       s.rows * s.width * s.sums / 2);
  if (s.unroll % s.sums != 0) return "unroll must be a multiple of the partial sums";
  if (s.rows * s.width * s.unroll > kMaxBody)
    return fmt::format("an unrolled body of {} FMAs exceeds {}", s.rows * s.width * s.unroll, kMaxBody);
  if (s.rows > std::max<int64_t>(1, view.rows)) return "the tile has more rows than the problem";
  if (s.width > std::max<int64_t>(1, ceil_div(view.columns, s.column_unit())))
    return "the tile is wider than the problem";
  const bool can_grow = 2 * s.rows <= view.rows || 2 * s.width * s.column_unit() <= view.columns;
  if (s.rows * s.width * s.sums < kMinAccumulators && can_grow)
    return fmt::format("{} accumulators leave the FMA ports idle and the problem has room for a larger tile",
                       s.rows * s.width * s.sums);
  const int64_t steps = s.dot() ? ceil_div(view.depth, s.lanes()) : view.depth;
  if (s.unroll > std::max<int64_t>(kSmallUnroll, steps)) return "the loop is unrolled beyond k";
  if (s.prefetch < 0 || s.prefetch > 7) return "prefetch is a sum of 1 (Y), 2 (X) and 4 (C)";
  if ((s.prefetch & 1) != 0 && s.pack_y()) return "a packed Y is read in order; the hardware prefetches it";
  if ((s.prefetch & 2) != 0 && s.pack_x() &&
      (s.dot() || s.tiles_by_rows || s.column_block() != s.width * s.column_unit()))
    return "X packed more than one panel at a time has nothing to prefetch while tiles are computed";
  if ((s.prefetch & 1) != 0 && view.rows <= s.rows) return "a single row of tiles has no next Y to prefetch";
  if ((s.prefetch & 2) != 0 && view.columns <= s.width * s.column_unit())
    return "a single column of tiles has no next X to prefetch";
  return std::nullopt;
}

Reason find_pack_problem(const GemmCpuSchedule& s, const TileView& view) {
  if (s.dot()) {
    if (!view.x_depth_first && !s.pack_x()) return "dot reads B along k: B stored (k, n) must be packed";
    if (!view.y_depth_first && !s.pack_y()) return "dot reads A along k: A stored (k, m) must be packed";
    if (view.x_depth_first && s.pack_x())
      return "B is contiguous along k already; packing it for dot gains nothing";
    if (view.y_depth_first && s.pack_y())
      return "A is contiguous along k already; packing it for dot gains nothing";
    return std::nullopt;
  }
  if (view.x_depth_first && !s.pack_x())
    return s.along_m() ? "vectors along m need A stored (k, m) or packed"
                       : "vectors along n need B stored (k, n) or packed";
  return std::nullopt;
}

Reason find_block_problem(const GemmCpuSchedule& s, const TileView& view, const DeviceFacts& device) {
  if (s.mc < 0 || s.nc < 0 || s.kc < 0) return "blocks must be positive, or all";
  const int64_t rows = s.row_block(), columns = s.column_block();
  if (rows >= std::max<int64_t>(1, view.rows) || columns >= std::max<int64_t>(1, view.columns) ||
      s.kc >= std::max<int64_t>(1, view.depth))
    return "a block that covers its dimension is written as all";
  if (rows != 0 && rows < s.rows) return "a row block is smaller than the tile";
  if (columns != 0 && columns % (s.width * s.column_unit()) != 0)
    return "a column block must be a multiple of the tile's columns";
  if (s.kc != 0 && s.kc % 8 != 0) return "kc must be a multiple of 8";
  if (s.kc != 0 && s.dot() && s.kc % 16 != 0) return "kc of dot must be a multiple of 16";
  if (s.blocks_by_rows && (rows == 0 || (columns == 0 && s.kc == 0)))
    return "the order of the block loops has no effect here; write bx";
  if (s.tiles_by_rows && (view.rows <= s.rows || view.columns <= s.width * s.column_unit()))
    return "the order of the tile loops has no effect on a single row or column of tiles; write tx";
  if (rows != 0 && !s.pack_y() && s.tiles_by_rows && !s.blocks_by_rows && columns == 0)
    return "row blocks have no effect when tiles go by rows";
  if (columns != 0 && !s.pack_x() && !s.tiles_by_rows && !s.blocks_by_rows && rows == 0 && s.kc == 0)
    return "column blocks have no effect when tiles go by columns";
  const int64_t scratch = 4 * gemm_cpu_scratch_floats(s, view);
  const int64_t cache = device.l3_bytes > 0 ? std::min(kMaxScratchBytes, device.l3_bytes) : kMaxScratchBytes;
  if (scratch > cache)
    return fmt::format("packed blocks of {} bytes exceed the {} bytes allowed", scratch, cache);
  const int64_t depth = s.kc == 0 ? view.depth : s.kc;
  const int64_t panel = 4 * depth * s.width * s.column_unit();
  const int64_t l2 = device.l2_bytes > 0 ? device.l2_bytes : int64_t{1} << 20;
  if (!s.dot() && panel > l2)
    return fmt::format("one panel of {} bytes exceeds the L2 cache; block k", panel);
  return std::nullopt;
}

Reason find_split_problem(const GemmCpuSchedule& s, const Problem& problem, const TileView& view,
                          const DeviceFacts& device) {
  if (s.split_m < 1 || s.split_n < 1 || s.split_k < 1) return "splits must be at least 1";
  const int threads = std::max(1, device.threads);
  if (threads == 1 && std::max({s.split_m, s.split_n, s.split_k}) > 1)
    return "one thread has nothing to split for";
  if (s.split_k > int64_t{kMaxItemsPerThread} * threads / s.split_m / s.split_n)  // their product may not fit
    return fmt::format("{} x {} x {} items for {} threads only add overhead", s.split_m, s.split_n, s.split_k,
                       threads);
  const int64_t row_split = s.along_m() ? s.split_n : s.split_m,
                column_split = s.along_m() ? s.split_m : s.split_n;
  if (row_split > std::max<int64_t>(1, ceil_div(view.rows, s.rows)) ||
      column_split > std::max<int64_t>(1, ceil_div(view.columns, s.width * s.column_unit())))
    return "more splits than tiles";
  if (s.split_k > 1 && view.depth < kMinSplitDepth * s.split_k)
    return fmt::format("split-k items need at least {} steps of k", kMinSplitDepth);
  if (s.split_k > 1 && problem.m * problem.n * s.split_k > kMaxScratchBytes / 4)
    return "partial sums of split-k exceed the workspace allowed";
  return std::nullopt;
}

}  // namespace

Reason find_gemm_cpu_illegality(const GemmCpuSchedule& s, const Problem& problem, const DeviceFacts& device) {
  if (auto refusal = find_gemm_cpu_refusal(problem, device)) return refusal;
  if (s.avx512 && device.isa != "avx512") return "this CPU has no AVX-512";
  const TileView view = view_tile(problem, s);
  if (auto reason = find_tile_problem(s, view)) return reason;
  if (auto reason = find_pack_problem(s, view)) return reason;
  if (auto reason = find_block_problem(s, view, device)) return reason;
  return find_split_problem(s, problem, view, device);
}

}  // namespace kw
