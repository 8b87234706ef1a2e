// GemmCpuSchedule: one way to compute a GEMM on CPU cores, as src/emit/gemm_cpu.cc prints it. Fields, key,
// legality, search moves, analytic model. Used by space.cc and src/emit. Prints no code and measures nothing.
//
// Words: the register tile holds `rows` x `width`. Its vectors lie along n (outer_n), along m (outer_m: the
// tile is computed transposed) or along k (dot: `width` counts columns, lanes are summed at the end). The Y
// operand gives the tile's rows, the X operand its columns: Y = A, X = B for outer_n and dot, Y = B, X = A
// for outer_m.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "record/device.h"
#include "record/problem.h"

namespace kw {

enum class Micro { kOuterN, kOuterM, kDot };

struct GemmCpuSchedule {
  bool avx512 = true;  // else AVX2
  Micro micro = Micro::kOuterN;
  int rows = 1;    // of the register tile
  int width = 1;   // of the register tile: vectors, or columns for dot
  int sums = 1;    // independent partial sums over k, for tiles too small to hide FMA latency
  int unroll = 1;  // k steps (dot: vectors of k) per loop round
  bool pack_a = false, pack_b = false;
  int64_t mc = 0, nc = 0, kc = 0;  // cache blocks; 0 = the whole dimension
  bool blocks_by_rows = false;     // block loops: Y outside, else X outside
  bool tiles_by_rows = false;      // tile loops in a block: Y outside, else X outside
  int prefetch = 0;                // sum of 1: next tile's Y, 2: next tile's X, 4: the tile's output
  int split_m = 1, split_n = 1, split_k = 1;  // work items along each dimension
  auto operator<=>(const GemmCpuSchedule&) const = default;

  int lanes() const { return avx512 ? 16 : 8; }
  bool along_m() const { return micro == Micro::kOuterM; }
  bool dot() const { return micro == Micro::kDot; }
  int64_t column_unit() const { return dot() ? 1 : lanes(); }
  bool pack_y() const { return along_m() ? pack_b : pack_a; }
  bool pack_x() const { return along_m() ? pack_a : pack_b; }
  int64_t row_block() const { return along_m() ? nc : mc; }
  int64_t column_block() const { return along_m() ? mc : nc; }
  void set_packs(bool y, bool x) {
    pack_a = along_m() ? x : y;
    pack_b = along_m() ? y : x;
  }
  void set_blocks(int64_t row_block, int64_t column_block) {
    mc = along_m() ? column_block : row_block;
    nc = along_m() ? row_block : column_block;
  }
  int split_rows() const { return along_m() ? split_n : split_m; }
  int split_columns() const { return along_m() ? split_m : split_n; }
};

// The problem as the tile sees it: Y has `rows` rows, X has `columns` columns.
struct TileView {
  int64_t rows = 0, columns = 0, depth = 0;
  int64_t y_ld = 0, x_ld = 0;
  bool y_depth_first = false;  // Y stored (rows, k): k contiguous
  bool x_depth_first = false;  // X stored (columns, k): k contiguous
};
[[nodiscard]] TileView view_tile(const Problem& problem, const GemmCpuSchedule& schedule);

// "avx512 outer_n r6 v4 s1 u4 pa0 pb1 mc128 ncall kc256 bx ty pf0 tm1 tn1 tk1"; parse and print are inverse.
[[nodiscard]] std::string print_gemm_cpu(const GemmCpuSchedule& schedule);
[[nodiscard]] Result<GemmCpuSchedule> parse_gemm_cpu(std::string_view key);

// Empty when the schedule is legal, else the reason of the first broken rule.
[[nodiscard]] std::optional<std::string> find_gemm_cpu_illegality(const GemmCpuSchedule& schedule,
                                                                  const Problem& problem,
                                                                  const DeviceFacts& device);

// Values of the search for one field, given the others; legality decides about combinations.
[[nodiscard]] std::vector<int> list_tile_rows(const TileView& view);
[[nodiscard]] std::vector<int> list_tile_widths(const TileView& view, const GemmCpuSchedule& schedule);
[[nodiscard]] std::vector<int64_t> list_row_blocks(const TileView& view, const GemmCpuSchedule& schedule);
[[nodiscard]] std::vector<int64_t> list_column_blocks(const TileView& view, const GemmCpuSchedule& schedule);
[[nodiscard]] std::vector<int64_t> list_depth_blocks(const TileView& view, const GemmCpuSchedule& schedule);
[[nodiscard]] std::vector<int> list_unrolls(const GemmCpuSchedule& schedule);
[[nodiscard]] std::vector<int> list_prefetches(const GemmCpuSchedule& schedule);
struct Splits {
  int m = 1, n = 1, k = 1;
};
[[nodiscard]] std::vector<Splits> list_splits(const DeviceFacts& device);

// All legal schedules of the search in a fixed order.
[[nodiscard]] std::vector<GemmCpuSchedule> enumerate_gemm_cpu(const Problem& problem,
                                                              const DeviceFacts& device);

// A legal schedule that differs in one or two fields where there is one; fields that hang on them are
// adapted.
[[nodiscard]] GemmCpuSchedule mutate_gemm_cpu(const GemmCpuSchedule& schedule, const Problem& problem,
                                              const DeviceFacts& device, Random& random);
// Each field from one of the two; one of the parents when no such mix is legal.
[[nodiscard]] GemmCpuSchedule cross_gemm_cpu(const GemmCpuSchedule& a, const GemmCpuSchedule& b,
                                             const Problem& problem, const DeviceFacts& device,
                                             Random& random);

// Predicted time of one call in us: see gemm_cpu_rank.cc for the terms.
[[nodiscard]] double predict_gemm_cpu_us(const GemmCpuSchedule& schedule, const Problem& problem,
                                         const DeviceFacts& device);

// Scratch of one pool thread in floats for given sizes; the launch record holds the same as an expression.
[[nodiscard]] int64_t gemm_cpu_scratch_floats(const GemmCpuSchedule& schedule, const TileView& view);

}  // namespace kw
