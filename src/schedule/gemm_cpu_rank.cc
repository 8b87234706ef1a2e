// Analytic, cache-aware time of a gemm_cpu schedule. In: schedule, problem, device facts. Out: us of one
// call. Called by Space::predict_us and rank. Learns nothing; constants are of one measured machine
// (doc/gemm_cpu.md) and only have to order schedules.
//
// Terms: register tiles bound by FMA ports, load ports, FMA latency or issue; panels streamed from the cache
// level where they live; packing; C traffic; per-tile and per-call overhead; first touch of the operands in
// L3 or memory.
#include <algorithm>
#include <cmath>

#include "schedule/gemm_cpu.h"

namespace kw {
namespace {

// Cycles of a Sapphire Rapids core; found by fitting the order of measured schedules (doc/gemm_cpu.md).
constexpr double kFmaPerCycle = 2, kLoadsPerCycle = 2, kIssuePerCycle = 5, kFmaLatency = 5;
constexpr double kTileCallCycles = 28;  // dispatch, prologue, loop exit
constexpr double kRoundCycles = 0.12;   // loop control of one unrolled round
constexpr double kBlockCycles = 30, kCallCycles = 60;
constexpr double kL2BytesPerCycle = 44, kL3BytesPerCycle = 9;
constexpr double kOperandCycles = 0.05;     // an operand of a step, beyond the port bounds
constexpr double kDotOperandCycles = 0.25;  // dot: whole vectors from rows far apart
constexpr int kSmoothBody = 64;             // FMAs of a round that still come from the uop cache
constexpr double kOverlapLoss = 0.04;       // of the shorter of arithmetic and streaming
constexpr double kPageBytes = 4096, kTlbPages = 64, kTlbMissCycles = 2.5;
constexpr double kCopyCycles = 0.12, kTransposeCycles = 0.32, kPackYCycles = 0.6,
                 kScalarCycles = 1.6;  // an element

double ceil_div(double a, double b) { return std::ceil(a / b); }

// The heights (or widths) next_share of device/cpu_loops.h cuts `left` into, as counts of at most four sizes.
struct Shares {
  int size[4] = {};
  double count[4] = {};
  int kinds = 0;
  void add(int s, double n) {
    if (n > 0 && kinds < 4) size[kinds] = s, count[kinds++] = n;
  }
};
Shares cut(int64_t left, int size) {
  Shares shares;
  const int64_t tiles = (left + size - 1) / size;
  if (tiles * (size - 1) <= left) {
    shares.add(size, static_cast<double>(left - tiles * (size - 1)));
    shares.add(size - 1, static_cast<double>(tiles * size - left));
    return shares;
  }
  shares.add(size, static_cast<double>(left / size));
  int rest = static_cast<int>(left % size);
  for (const int part : {4, 2, 1})
    if (part == 1 || (part == 4 && size > 5) || (part == 2 && size > 3)) {
      shares.add(part, rest / part);
      rest %= part;
    }
  return shares;
}

class Model {
 public:
  Model(const GemmCpuSchedule& s, const Problem& problem, const DeviceFacts& device)
      : s_(s), view_(view_tile(problem, s)), device_(device) {
    const int threads = std::max(1, device.threads);
    const double peak = device.peak_gflops > 0 ? device.peak_gflops / threads : 100;
    const double flops_per_cycle = 2 * kFmaPerCycle * (device.isa == "avx512" ? 16 : 8);
    cycles_per_us_ = peak * 1e3 / flops_per_cycle;
    l1_ = device.l1d_bytes > 0 ? 0.75 * static_cast<double>(device.l1d_bytes) : 24e3;
    l2_ = device.l2_bytes > 0 ? 0.75 * static_cast<double>(device.l2_bytes) : 192e3;
    rows_ = share(view_.rows, s.split_rows(), s.rows);
    columns_ = share(view_.columns, s.split_columns(), static_cast<int>(s.column_unit()));
    depth_ = share(view_.depth, s.split_k, 16);
    const double items = s.split_m * s.split_n * s.split_k;
    waves_ = ceil_div(items, threads);
  }

  double us() const {
    double cycles = kCallCycles + waves_ * (kCallCycles + item_cycles());
    if (s_.split_k > 1)
      cycles += static_cast<double>(view_.rows * view_.columns) * s_.split_k * 0.2 / s_.split_k;
    if (waves_ > 1 || s_.split_m * s_.split_n * s_.split_k > 1) cycles += 3000;  // wake-up of the pool
    return cycles / cycles_per_us_;
  }

 private:
  static int64_t share(int64_t size, int parts, int unit) {
    const int64_t each = (size + parts - 1) / parts;
    return std::min(size, (each + unit - 1) / unit * unit);
  }
  static double block(int64_t value, int64_t size) {
    return static_cast<double>(value == 0 ? size : std::min(value, size));
  }
  // Bytes a cycle from where `bytes` of data live between two uses; 0 = L1, free.
  double supply(double bytes) const {
    return bytes <= l1_ ? 0 : bytes <= l2_ ? kL2BytesPerCycle : kL3BytesPerCycle;
  }

  // One k step (dot: one vector of k) of a tile.
  double step_cycles(int h, int w) const {
    const double fma = h * w / kFmaPerCycle;
    const bool broadcast_in_fma = !s_.dot() && w == 1;
    const double loads = (h + w) / kLoadsPerCycle;
    const double uops = h * w + w + (broadcast_in_fma ? 0 : h);
    const int unroll = h == s_.rows && w == s_.width ? s_.unroll : s_.sums;
    const double latency = kFmaLatency / s_.sums;
    const double large_body = h * w * unroll > kSmoothBody ? 1.012 : 1;
    return large_body * std::max({fma, loads, uops / kIssuePerCycle, latency}) +
           (s_.dot() ? kDotOperandCycles : kOperandCycles) * (h + w) + kRoundCycles / unroll;
  }

  double tile_cycles(int h, int w, double k) const {
    const double lanes = s_.lanes();
    double cycles = kTileCallCycles;
    if (s_.dot()) {
      cycles +=
          step_cycles(h, w) * std::floor(k / lanes) + (std::fmod(k, lanes) > 0 ? 1.5 * step_cycles(h, w) : 0);
      cycles += (w == 1 ? ceil_div(h, 4) : h * ceil_div(w, 4)) * 11 + (s_.sums - 1) * h * w * 0.5;
    } else {
      cycles += step_cycles(h, w) * k + (s_.sums - 1) * h * w * 0.5;
      cycles += s_.along_m() ? ceil_div(h, 4) * w * (12 + 1.3 * lanes) : h * w * 1.5;
    }
    return cycles;
  }

  double item_cycles() const {
    const double row_block = block(s_.row_block(), rows_), column_block = block(s_.column_block(), columns_);
    const double kc = std::max(1.0, block(s_.kc, depth_));
    const double row_blocks = ceil_div(rows_, std::max(1.0, row_block));
    const double column_blocks = ceil_div(columns_, std::max(1.0, column_block));
    const double depth_blocks = ceil_div(depth_, kc);
    const double unit = s_.column_unit();
    const Shares heights = cut(static_cast<int64_t>(row_block), s_.rows);
    const Shares widths = cut(static_cast<int64_t>(ceil_div(column_block, unit)), s_.width);
    double tiles = 0;
    for (int i = 0; i < heights.kinds; ++i)
      for (int j = 0; j < widths.kinds; ++j)
        tiles += heights.count[i] * widths.count[j] * tile_cycles(heights.size[i], widths.size[j], kc);
    const double blocks = row_blocks * column_blocks * depth_blocks;
    // The last blocks are smaller: scale to the true extent.
    const double fill =
        (static_cast<double>(rows_) / (row_blocks * row_block)) *
        (ceil_div(static_cast<double>(columns_), unit) / (column_blocks * ceil_div(column_block, unit))) *
        (static_cast<double>(depth_) / (depth_blocks * kc));
    const double compute = blocks * tiles * std::min(1.0, fill);
    const double stream = std::min(1.0, fill) * blocks * stream_cycles(row_block, column_block, kc);
    const double overlapped = std::max(compute, stream) + kOverlapLoss * std::min(compute, stream);
    return overlapped + blocks * tlb_cycles(row_block, column_block, kc) + blocks * kBlockCycles +
           pack_cycles(row_blocks, column_blocks, kc) + c_cycles(depth_blocks) + first_touch_cycles();
  }

  // Operands that are read again and again inside one block, from the level they stay in.
  double stream_cycles(double row_block, double column_block, double kc) const {
    const double panel = 4 * kc * std::min<double>(column_block, s_.width * s_.column_unit());
    const double tile = 4 * kc * std::min<double>(row_block, s_.rows);
    const double x_bytes = 4 * kc * column_block, y_bytes = 4 * kc * row_block;
    const double row_tiles = ceil_div(row_block, s_.rows);
    const double column_tiles = ceil_div(column_block, s_.width * static_cast<double>(s_.column_unit()));
    const auto time = [](double bytes, double speed) { return speed == 0 ? 0 : bytes / speed; };
    // Rows of an unpacked Y are as many short streams as the tile has rows; the prefetcher follows them less
    // well.
    const double y_slowdown = s_.pack_y() ? 1 : 1.7;
    if (!s_.tiles_by_rows)  // the X panel stays while Y goes by once a panel
      return time(x_bytes * row_tiles, supply(panel + 2 * tile)) +
             time(y_slowdown * y_bytes * column_tiles, supply(panel + y_bytes));
    return time(y_slowdown * y_bytes * column_tiles, supply(tile + 2 * panel)) +
           time(x_bytes * row_tiles, supply(tile + x_bytes));
  }

  // A strided operand read in place touches a page a step: beyond the first-level TLB each step waits.
  double tlb_cycles(double row_block, double column_block, double kc) const {
    const double tiles = ceil_div(row_block, s_.rows) *
                         ceil_div(column_block, s_.width * static_cast<double>(s_.column_unit()));
    double cycles = 0;
    for (const bool x : {true, false}) {
      const bool strided = x ? !s_.pack_x() && !view_.x_depth_first : !s_.pack_y() && !view_.y_depth_first;
      if (!strided) continue;
      const double stride = 4.0 * static_cast<double>(x ? view_.x_ld : view_.y_ld);
      const double pages = kc * std::min(1.0, stride / kPageBytes);
      if (pages > kTlbPages) cycles += tiles * pages * kTlbMissCycles;
      // Lines a page apart share one cache set.
      if (std::fmod(stride, kPageBytes) == 0 && kc > 12) cycles += tiles * kc * 4;
    }
    return cycles;
  }

  double pack_cycles(double row_blocks, double column_blocks, double kc) const {
    const bool by_rows = s_.blocks_by_rows;
    double cycles = 0;
    if (s_.pack_x()) {
      const double times = by_rows ? row_blocks : 1;
      const double unit = s_.lanes(), whole = std::floor(columns_ / unit) * unit, rest = columns_ - whole;
      const bool turns = s_.dot() != view_.x_depth_first;
      const double bytes = 4 * kc * block(s_.column_block(), columns_);
      cycles +=
          times * depth_ *
          (whole * (turns ? kTransposeCycles : kCopyCycles) + rest * (turns ? kScalarCycles : kCopyCycles));
      if (bytes > l1_) cycles += times * depth_ * columns_ * 4 / kL2BytesPerCycle;
    }
    if (s_.pack_y()) cycles += (by_rows ? 1 : column_blocks) * rows_ * depth_ * kPackYCycles;
    return cycles;
  }

  // C is read and written once more for every further block of k.
  double c_cycles(double depth_blocks) const {
    const double bytes = 4.0 * static_cast<double>(rows_) * static_cast<double>(columns_);
    const double speed = bytes <= l2_ ? kL2BytesPerCycle : kL3BytesPerCycle;
    return (depth_blocks - 1) * 2 * bytes / speed;
  }

  // Operands come from L3 at least once; half of it hides behind the arithmetic.
  double first_touch_cycles() const {
    const double bytes = 4.0 * (static_cast<double>(rows_ * depth_) + static_cast<double>(columns_ * depth_) +
                                static_cast<double>(rows_ * columns_));
    const bool strided_x =
        !s_.pack_x() && !s_.dot() && columns_ > s_.width * s_.column_unit() && (s_.prefetch & 2) == 0;
    return (strided_x ? 0.8 : 0.5) * bytes / kL3BytesPerCycle;
  }

  const GemmCpuSchedule& s_;
  TileView view_;
  const DeviceFacts& device_;
  double cycles_per_us_ = 1, l1_ = 0, l2_ = 0, waves_ = 1;
  int64_t rows_ = 0, columns_ = 0, depth_ = 0;
};

}  // namespace

double predict_gemm_cpu_us(const GemmCpuSchedule& schedule, const Problem& problem,
                           const DeviceFacts& device) {
  return Model(schedule, problem, device).us();
}

}  // namespace kw
