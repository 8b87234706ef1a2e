// The analytic model of gemm_wgmma and its Space. Time of a call = fixed part + waves x the slowest of:
// copies of a block, their issue, the products; not below what HBM and L2 can deliver. The constants are
// least squares and medians of the runs that cuda_cost.h names; S = 1 within 2-3.5 % (median) for 64-row
// tiles of 32 columns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/cuda_cost.h"
#include "schedule/cuda_limits.h"
#include "schedule/gemm_wgmma.h"
#include "schedule/gemm_wgmma_fields.h"

namespace kw {
namespace {

constexpr double kFixedUs = 2.00;     // launch, barriers, first copy, store
constexpr double kPdlGainUs = 0.52;   // of it hidden behind the previous launch
constexpr double kNextWaveUs = 1.37;  // the fixed part without the launch itself
constexpr double kExchangeUs = 0.45, kExchangeUsPerByte = 0.2 / 16384;  // 0.65 for 16 KB
constexpr double kBlockBytesPerUs = 128e3;                              // one block alone, S = 1, cold
constexpr double kSplitBlockBytesPerUs = 80e3;                       // blocks of a k split: 45-100 measured
constexpr double kSmBytesPerUs = 170e3, kSplitSmBytesPerUs = 100e3;  // all blocks that share an SM
constexpr double kRingTurnsPerUs = 1.1, kSplitRingTurnsPerUs = 0.6;  // a ring shorter than the block's k
constexpr double kStepClocks = 177,
                 kBoxClocks = 28;     // of the producer: a step with one box, each further box
constexpr double kOverlapLoss = 0.2;  // share of the issue that the copies do not hide: 128-deep steps win
constexpr double kDeepRingBytes = 128 << 10;

double as_double(int64_t value) { return static_cast<double>(value); }

struct Shape {
  double blocks = 0, per_sm = 1, slots = 1, waves = 1;
  double sharing = 1;  // blocks of a wave on one SM
  double bytes = 0;    // copied by a block
};

// Blocks of clusters that are resident at once, for one block per SM: clusters do not fit every group of SMs.
double get_cluster_slots(int split) { return split <= 2 ? 132 : split <= 8 ? 120 : 112; }

Shape get_shape(const GemmWgmmaSchedule& s, const Problem& problem, const DeviceFacts& device) {
  Shape shape;
  shape.blocks = as_double(s.tiles(problem) * s.split);
  shape.per_sm = std::clamp(
      std::floor(as_double(get_sm_shared_bytes(90)) / as_double(s.shared_bytes() + kReservedSharedBytes)),
      1.0, std::floor(2048.0 / s.threads()));
  const double slots_of_one = get_cluster_slots(s.split) * get_sm_scale(device);
  shape.slots = shape.per_sm * slots_of_one;
  shape.sharing = std::max(1.0, std::ceil(std::min(shape.blocks, shape.slots) / slots_of_one));
  shape.waves = std::max(1.0, std::ceil(shape.blocks / shape.slots));
  shape.bytes = as_double(s.block_steps(problem) * s.stage_bytes());
  return shape;
}

double get_copy_us(const GemmWgmmaSchedule& s, const Shape& shape, const DeviceFacts& device) {
  const bool split = s.split > 1;
  const double resident = std::min(shape.blocks, shape.slots);
  double rate = std::min(split ? kSplitBlockBytesPerUs : kBlockBytesPerUs,
                         (split ? kSplitSmBytesPerUs : kSmBytesPerUs) / shape.sharing);
  const double ring = as_double(s.ring_bytes());
  if (shape.bytes > ring) rate = std::min(rate, ring * (split ? kSplitRingTurnsPerUs : kRingTurnsPerUs));
  return std::max(shape.bytes / rate, resident * shape.bytes / (kL2BytesPerUs * get_sm_scale(device)));
}

double get_issue_us(const GemmWgmmaSchedule& s, const Problem& problem) {
  const auto count_boxes = [](bool by_depth, int lines) { return by_depth ? 1 : std::max(1, lines / 64); };
  const int boxes = count_boxes(s.x_by_depth(problem.layout), s.rows()) +
                    count_boxes(s.y_by_depth(problem.layout), s.columns);
  return as_double(s.block_steps(problem)) * (kStepClocks + kBoxClocks * (boxes - 1)) / kSmClocksPerUs;
}

// m64nNk16 takes max(N / 2, 16 + N / 4) clocks.
double get_product_us(const GemmWgmmaSchedule& s, const Problem& problem, const Shape& shape) {
  const double clocks = std::max(s.columns / 2.0, 16 + s.columns / 4.0) * s.groups * (s.depth / 16.0);
  return as_double(s.block_steps(problem)) * clocks * shape.sharing / kSmClocksPerUs;
}

// Share of a tile edge that the average tile leaves unused.
double get_waste(int64_t size, int64_t tile) {
  return size <= 0 ? 0 : 1 - as_double(size) / as_double((size + tile - 1) / tile * tile);
}

std::string get_behaviour(const GemmWgmmaSchedule& s) {
  return fmt::format("{}{}x{}/s{}/{}", s.swapped ? "swapped_" : "", s.rows(), s.columns, s.split,
                     as_double(s.ring_bytes()) >= kDeepRingBytes ? "deep" : "shallow");
}

}  // namespace

double predict_gemm_wgmma_us(const GemmWgmmaSchedule& s, const Problem& problem, const DeviceFacts& device) {
  const Shape shape = get_shape(s, problem, device);
  const double issue = get_issue_us(s, problem);
  const double wave = std::max({get_copy_us(s, shape, device), issue, get_product_us(s, problem, shape)}) +
                      kOverlapLoss * issue;
  double us =
      kFixedUs - (s.pdl ? kPdlGainUs : 0) + (shape.waves - 1) * kNextWaveUs + get_launch_us(shape.blocks);
  if (s.split > 1) us += kExchangeUs + kExchangeUsPerByte * as_double(s.exchange_bytes());
  return us + std::max(shape.waves * wave, get_operand_us(problem, device));
}

std::unique_ptr<Space> make_gemm_wgmma_space(const Problem& problem, const DeviceFacts& device) {
  FieldFamily family;
  family.name = "gemm_wgmma";
  family.fields = &get_gemm_wgmma_fields();
  family.find_illegality = [=](const FieldValues& values) {
    return find_gemm_wgmma_illegality(to_gemm_wgmma(values), problem, device);
  };
  family.predict_us = [=](const FieldValues& values) {
    return predict_gemm_wgmma_us(to_gemm_wgmma(values), problem, device);
  };
  family.behaviour = [](const FieldValues& values) { return get_behaviour(to_gemm_wgmma(values)); };
  family.features = [=](const FieldValues& values) -> std::vector<NamedFeature> {
    const GemmWgmmaSchedule s = to_gemm_wgmma(values);
    const Shape shape = get_shape(s, problem, device);
    return {{"log_blocks", std::log2(shape.blocks + 1)},
            {"log_waves", std::log2(shape.waves)},
            {"log_blocks_per_sm", std::log2(shape.per_sm)},
            {"log_block_bytes", std::log2(shape.bytes + 1)},
            {"log_ring_bytes", std::log2(as_double(s.ring_bytes()))},
            {"log_block_steps", std::log2(as_double(s.block_steps(problem)) + 1)},
            {"rows_waste", get_waste(s.x_lines(problem), s.rows())},
            {"columns_waste", get_waste(s.y_lines(problem), s.columns)}};
  };
  family.tile = [](const FieldValues& values) -> std::vector<int64_t> {
    const GemmWgmmaSchedule s = to_gemm_wgmma(values);
    if (s.swapped) return {s.columns, s.rows(), s.depth};
    return {s.rows(), s.columns, s.depth};
  };
  return make_field_space(std::move(family));
}

}  // namespace kw
