// Search moves of gemm_cpu: change one or two fields, mix two parents. Results are legal.
#include <algorithm>

#include "schedule/gemm_cpu.h"

namespace kw {
namespace {

constexpr int kMaxAttempts = 64;

template <class T>
T pick(const std::vector<T>& values, Random& random) {
  return values[random.below(values.size())];
}

// Brings fields that hang on others back to a written form: blocks to multiples, needed packs on, idle orders
// off.
void settle(GemmCpuSchedule& s, const Problem& problem, const DeviceFacts& device) {
  const TileView view = view_tile(problem, s);
  s.rows = static_cast<int>(std::clamp<int64_t>(s.rows, 1, std::max<int64_t>(1, view.rows)));
  const int64_t unit = s.column_unit(), most = std::max<int64_t>(1, (view.columns + unit - 1) / unit);
  s.width = static_cast<int>(std::clamp<int64_t>(s.width, 1, most));
  while (s.unroll % s.sums != 0) s.unroll *= 2;
  if (s.dot()) {
    s.set_packs(!view.y_depth_first, !view.x_depth_first);
  } else if (view.x_depth_first) {
    s.set_packs(s.pack_y(), true);
  }
  if (s.pack_y() || view.rows <= s.rows) s.prefetch &= ~1;
  if (view.columns <= s.width * s.column_unit()) s.prefetch &= ~2;
  int64_t rows = s.row_block(), columns = s.column_block();
  const int64_t tile = s.width * unit;
  columns = (columns + tile - 1) / tile * tile;
  if (rows >= view.rows) rows = 0;
  if (columns >= view.columns) columns = 0;
  s.set_blocks(rows, columns);
  if (s.kc >= view.depth) s.kc = 0;
  if (find_gemm_cpu_illegality(s, problem, device)) s.prefetch &= ~2;
  if (find_gemm_cpu_illegality(s, problem, device)) s.blocks_by_rows = false;
  if (find_gemm_cpu_illegality(s, problem, device)) s.tiles_by_rows = false;
}

void change_field(GemmCpuSchedule& s, const Problem& problem, const DeviceFacts& device, Random& random) {
  const TileView view = view_tile(problem, s);
  switch (random.below(13)) {
    case 0:
      s.avx512 = !s.avx512;
      break;
    case 1: {
      const int64_t row_block = s.row_block(), column_block = s.column_block();
      const bool pack_y = s.pack_y(), pack_x = s.pack_x();
      s.micro = static_cast<Micro>(random.below(3));
      s.set_blocks(row_block, column_block);
      s.set_packs(pack_y, pack_x);
      break;
    }
    case 2:
      s.rows = pick(list_tile_rows(view), random);
      break;
    case 3:
      s.width = pick(list_tile_widths(view, s), random);
      break;
    case 4:
      s.sums = pick(std::vector<int>{1, 2, 4}, random);
      break;
    case 5:
      s.unroll = pick(list_unrolls(s), random);
      break;
    case 6:
      s.pack_a = !s.pack_a;
      break;
    case 7:
      s.pack_b = !s.pack_b;
      break;
    case 8:
      s.set_blocks(pick(list_row_blocks(view, s), random), s.column_block());
      break;
    case 9:
      s.set_blocks(s.row_block(), pick(list_column_blocks(view, s), random));
      break;
    case 10:
      s.kc = pick(list_depth_blocks(view, s), random);
      break;
    case 11: {
      (random.chance(0.5) ? s.blocks_by_rows : s.tiles_by_rows) ^= true;
      break;
    }
    default: {
      if (device.threads <= 1 || random.chance(0.3)) {
        s.prefetch = pick(list_prefetches(s), random);
      } else {
        const Splits splits = pick(list_splits(device), random);
        s.split_m = splits.m, s.split_n = splits.n, s.split_k = splits.k;
      }
    }
  }
}

}  // namespace

GemmCpuSchedule mutate_gemm_cpu(const GemmCpuSchedule& schedule, const Problem& problem,
                                const DeviceFacts& device, Random& random) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    GemmCpuSchedule s = schedule;
    for (uint64_t change = 0, changes = 1 + random.below(2); change < changes; ++change)
      change_field(s, problem, device, random);
    settle(s, problem, device);
    if (s != schedule && !find_gemm_cpu_illegality(s, problem, device)) return s;
  }
  return schedule;
}

GemmCpuSchedule cross_gemm_cpu(const GemmCpuSchedule& a, const GemmCpuSchedule& b, const Problem& problem,
                               const DeviceFacts& device, Random& random) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    GemmCpuSchedule s = a;
    // Fields that only make sense together travel together: the tile, packing with blocks, orders, splits.
    if (random.chance(0.5)) s.avx512 = b.avx512;
    if (random.chance(0.5)) s.micro = b.micro, s.rows = b.rows, s.width = b.width, s.sums = b.sums;
    if (random.chance(0.5)) s.unroll = b.unroll, s.prefetch = b.prefetch;
    if (random.chance(0.5)) s.pack_a = b.pack_a, s.pack_b = b.pack_b;
    if (random.chance(0.5)) s.mc = b.mc, s.nc = b.nc;
    if (random.chance(0.5)) s.kc = b.kc;
    if (random.chance(0.5)) s.blocks_by_rows = b.blocks_by_rows, s.tiles_by_rows = b.tiles_by_rows;
    if (random.chance(0.5)) s.split_m = b.split_m, s.split_n = b.split_n, s.split_k = b.split_k;
    settle(s, problem, device);
    if (!find_gemm_cpu_illegality(s, problem, device)) return s;
  }
  return a;
}

}  // namespace kw
