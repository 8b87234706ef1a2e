// The search space of gemm_cpu: values of each field and all legal combinations. In: problem, device. Out:
// schedules. Called by space.cc and gemm_cpu_moves.cc. Legality itself is in gemm_cpu_legal.cc.
#include <algorithm>

#include "schedule/gemm_cpu.h"

namespace kw {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Fields from the outside in; every function goes through the values of its field and keeps what is legal at
// the end.
class Enumeration {
 public:
  Enumeration(const Problem& problem, const DeviceFacts& device) : problem_(problem), device_(device) {}

  std::vector<GemmCpuSchedule> run() {
    for (const bool avx512 : {true, false}) {
      if (avx512 && device_.isa != "avx512") continue;
      for (const Micro micro : {Micro::kOuterN, Micro::kOuterM, Micro::kDot}) {
        GemmCpuSchedule s;
        s.avx512 = avx512;
        s.micro = micro;
        add_tiles(s);
      }
    }
    return std::move(found_);
  }

 private:
  bool legal(const GemmCpuSchedule& s) const { return !find_gemm_cpu_illegality(s, problem_, device_); }

  void add_tiles(GemmCpuSchedule s) {
    const TileView view = view_tile(problem_, s);
    for (const int rows : list_tile_rows(view))
      for (const int width : list_tile_widths(view, s))
        for (const int sums : {1, 2, 4})
          for (const int unroll : {1, 2, 4, 8}) {
            s.rows = rows, s.width = width, s.sums = sums, s.unroll = unroll;
            if (!contains(list_unrolls(s), unroll)) continue;
            // AVX2 on an AVX-512 core wins on tiny problems only: fewer variants of it.
            if (!uses_whole_isa(s) && unroll != std::max(2, sums)) continue;
            GemmCpuSchedule probe = s;
            for (int packs = 0; packs < 4; ++packs) {
              probe.set_packs(packs & 1, packs & 2);
              if (legal(probe)) add_blocks(probe, view);
            }
          }
  }

  bool uses_whole_isa(const GemmCpuSchedule& s) const { return s.avx512 || device_.isa != "avx512"; }

  void add_blocks(GemmCpuSchedule s, const TileView& view) {
    for (const int64_t rows : list_row_blocks(view, s))
      for (const int64_t columns : list_column_blocks(view, s))
        for (const int64_t depth : list_depth_blocks(view, s))
          for (int order = 0; order < 4; ++order) {
            s.set_blocks(rows, columns);
            s.kc = depth;
            s.blocks_by_rows = order & 1;
            s.tiles_by_rows = order & 2;
            if (legal(s)) add_splits(s);
          }
  }

  void add_splits(GemmCpuSchedule s) {
    for (const int prefetch : list_prefetches(s))
      for (const Splits& splits : list_splits(device_)) {
        s.prefetch = prefetch, s.split_m = splits.m, s.split_n = splits.n, s.split_k = splits.k;
        if (legal(s)) found_.push_back(s);
      }
  }

  const Problem& problem_;
  const DeviceFacts& device_;
  std::vector<GemmCpuSchedule> found_;
};

}  // namespace

std::vector<int> list_tile_rows(const TileView& view) {
  std::vector<int> rows;
  for (const int r : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20, 24, 28})
    if (r <= std::max<int64_t>(1, view.rows)) rows.push_back(r);
  return rows;
}

std::vector<int> list_tile_widths(const TileView& view, const GemmCpuSchedule& schedule) {
  std::vector<int> widths;
  for (const int w : {1, 2, 3, 4, 5, 6, 8, 12})
    if (w <= std::max<int64_t>(1, ceil_div(view.columns, schedule.column_unit()))) widths.push_back(w);
  return widths;
}

std::vector<int64_t> list_row_blocks(const TileView& view, const GemmCpuSchedule& schedule) {
  std::vector<int64_t> blocks = {0};
  for (const int64_t b : {128})
    if (b < view.rows && b >= schedule.rows) blocks.push_back(b);
  return blocks;
}

std::vector<int64_t> list_column_blocks(const TileView& view, const GemmCpuSchedule& schedule) {
  const int64_t tile = schedule.width * schedule.column_unit();
  std::vector<int64_t> blocks = {0};
  for (const int64_t tiles : {1, 8})
    if (tiles * tile < view.columns) blocks.push_back(tiles * tile);
  return blocks;
}

std::vector<int64_t> list_depth_blocks(const TileView& view, const GemmCpuSchedule& schedule) {
  std::vector<int64_t> blocks = {0};
  for (const int64_t b : {8, 32, 128, 256, 512}) {
    // Short blocks pay where few rows leave nothing to reuse: C stays in cache while the other operand
    // streams.
    if (b < 128 && schedule.rows > 2) continue;
    if (b < view.depth) blocks.push_back(b);
  }
  return blocks;
}

std::vector<int> list_unrolls(const GemmCpuSchedule& schedule) {
  if (schedule.rows * schedule.width * schedule.sums >= 12) return {1, 2, 4};
  return {1, 2, 4, 8};
}

std::vector<int> list_prefetches(const GemmCpuSchedule& schedule) {
  if (schedule.pack_y()) return {0, 2, 6};
  return {0, 1, 2, 5, 6, 7};
}

std::vector<Splits> list_splits(const DeviceFacts& device) {
  const int threads = device.threads;
  std::vector<Splits> splits = {{1, 1, 1}};
  if (threads <= 1) return splits;
  splits.push_back({threads, 1, 1});
  splits.push_back({1, threads, 1});
  splits.push_back({1, 1, threads});
  for (int m = 2; m < threads; m *= 2)
    if (threads % m == 0) splits.push_back({m, threads / m, 1});
  return splits;
}

std::vector<GemmCpuSchedule> enumerate_gemm_cpu(const Problem& problem, const DeviceFacts& device) {
  return Enumeration(problem, device).run();
}

}  // namespace kw
