// Key, legality, model and Space of gemm_async. Speed is no rule here, but schedules with idle parts or with
// narrower copies than the rows allow are cut.
#include "schedule/gemm_async.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/cuda_cost.h"
#include "schedule/cuda_limits.h"
#include "schedule/field_space.h"

namespace kw {
namespace {

using Reason = std::optional<std::string>;

constexpr int kOtherRegisters = 48;  // addresses, indices, scalars: of the compiled menu

// Measured like cuda_cost.h says: median 1.31 times the best other family where that one is at home.
constexpr double kFixedUs = 2.2, kPdlGainUs = 0.35;
constexpr double kBlockBytesPerUs = 90e3, kSmBytesPerUs = 120e3;
constexpr double kStepUs = 0.08, kCopyUs = 0.004;  // barrier of a step; issue of each copy of a thread
constexpr double kMmaFlopsPerUs = 4.0e8;           // mma.sync of all SMs: about 62 % of what wgmma reaches
constexpr double kPartsUs = 0.03;                  // adding up the warps' sums, for each doubling of them
constexpr double kPdlUsPerBlock = 0.0004;  // beyond kFreeBlocks an early start disturbs more than it hides

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
double as_double(int64_t value) { return static_cast<double>(value); }

// The schedules with the operands' alignment first, so that the listing refuses the others at once.
const FieldList& get_fields() {
  static const FieldList fields = {{"ca", {2, 4, 8, 16}},    {"cb", {2, 4, 8, 16}}, {"m", {16, 32, 64, 128}},
                                   {"n", {16, 32, 64, 128}}, {"k", {32, 64, 128}},  {"wm", {1, 2, 4}},
                                   {"wn", {1, 2, 4}},        {"wk", {1, 2, 4}},     {"st", {2, 3, 4, 6}},
                                   {"pdl", {0, 1}}};
  return fields;
}
FieldValues to_values(const GemmAsyncSchedule& s) {
  return {s.copy_a, s.copy_b, s.rows, s.columns, s.depth, s.warps_m, s.warps_n, s.warps_k, s.stages, s.pdl};
}
GemmAsyncSchedule to_schedule(const FieldValues& v) {
  return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9] != 0};
}

// Widest copy for rows at multiples of ld elements.
int get_copy_bytes(int64_t ld) { return ld % 8 == 0 ? 16 : ld % 4 == 0 ? 8 : ld % 2 == 0 ? 4 : 2; }

Reason find_copy_problem(const GemmAsyncSchedule& s, const Problem& problem) {
  if (const int widest = get_copy_bytes(problem.lda); s.copy_a != widest)
    return fmt::format("rows of A at multiples of {} allow copies of {} bytes, not {}", problem.lda, widest,
                       s.copy_a);
  if (const int widest = get_copy_bytes(problem.ldb); s.copy_b != widest)
    return fmt::format("rows of B at multiples of {} allow copies of {} bytes, not {}", problem.ldb, widest,
                       s.copy_b);
  return std::nullopt;
}

Reason find_tile_problem(const GemmAsyncSchedule& s, const Problem& problem) {
  if (s.rows % (16 * s.warps_m) != 0)
    return fmt::format("{} rows cannot be shared by {} warps of 16 rows", s.rows, s.warps_m);
  if (s.columns % (16 * s.warps_n) != 0)
    return fmt::format("{} columns cannot be shared by {} warps of 16 columns", s.columns, s.warps_n);
  if (s.depth % (16 * s.warps_k) != 0)
    return fmt::format("{} steps of k cannot be shared by {} warps of 16 steps", s.depth, s.warps_k);
  const int64_t m = std::max<int64_t>(1, problem.m), n = std::max<int64_t>(1, problem.n);
  if (s.rows > 16 && s.rows >= 2 * m)
    return fmt::format("half of the tile's {} rows would lie beyond the {} there are", s.rows, m);
  if (s.columns > 16 && s.columns >= 2 * n)
    return fmt::format("half of the tile's {} columns would lie beyond the {} there are", s.columns, n);
  if (ceil_div(m, s.rows) > kMaxGridY)
    return fmt::format("{} rows are more than {} tiles of {}", m, kMaxGridY, s.rows);
  return std::nullopt;
}

Reason find_block_problem(const GemmAsyncSchedule& s, const Problem& problem, int sm) {
  if (s.threads() > 512) return fmt::format("{} warps; a block has at most 16", s.threads() / 32);
  if (s.registers() > get_register_limit(s.threads()))
    return fmt::format("sums and fragments take about {} registers; {} threads have {} each", s.registers(),
                       s.threads(), get_register_limit(s.threads()));
  const int64_t steps = std::max<int64_t>(1, ceil_div(problem.k, s.depth));
  if (s.stages > std::max<int64_t>(2, steps + 1))
    return fmt::format("k has {} steps of {}; {} stages are never filled", steps, s.depth, s.stages);
  if (s.depth > 32 && s.depth >= 2 * std::max<int64_t>(1, problem.k))
    return fmt::format("half of the {} steps of k in a stage would lie beyond the {} there are", s.depth,
                       problem.k);
  if (s.shared_bytes() > get_block_shared_bytes(sm))
    return fmt::format("ring and sums take {} bytes of shared memory; a block has {}", s.shared_bytes(),
                       get_block_shared_bytes(sm));
  return std::nullopt;
}

}  // namespace

int GemmAsyncSchedule::registers() const {
  const int row_tiles = rows / warps_m / 16, column_tiles = columns / warps_n / 8;
  return 4 * row_tiles * column_tiles + 4 * row_tiles + 8 + kOtherRegisters;
}
int64_t GemmAsyncSchedule::blocks(const Problem& problem) const {
  return ceil_div(problem.m, rows) * ceil_div(problem.n, columns);
}

std::string print_gemm_async(const GemmAsyncSchedule& schedule) {
  return print_field_values(get_fields(), to_values(schedule));
}
Result<GemmAsyncSchedule> parse_gemm_async(std::string_view key) {
  KW_TRY(const FieldValues values, parse_field_values("gemm_async", get_fields(), key));
  return to_schedule(values);
}

Reason find_gemm_async_refusal(const Problem& problem, const DeviceFacts& device) {
  return find_cuda_gemm_refusal({"gemm_async", 80, 128}, problem, device);
}

Reason find_gemm_async_illegality(const GemmAsyncSchedule& s, const Problem& problem,
                                  const DeviceFacts& device) {
  if (auto reason = find_copy_problem(s, problem)) return reason;
  if (auto refusal = find_gemm_async_refusal(problem, device)) return refusal;
  const int sm = get_sm_version(device.isa);
  if (s.pdl && sm < 90) return fmt::format("programmatic launch needs sm_90; this device has {}", device.isa);
  if (auto reason = find_tile_problem(s, problem)) return reason;
  return find_block_problem(s, problem, sm);
}

double predict_gemm_async_us(const GemmAsyncSchedule& s, const Problem& problem, const DeviceFacts& device) {
  const double blocks = as_double(s.blocks(problem)), steps = as_double(ceil_div(problem.k, s.depth));
  const double sms = std::max(1, device.cores);
  const double bytes_per_sm = as_double(get_sm_shared_bytes(get_sm_version(device.isa)));
  const double resident =
      std::clamp(std::floor(bytes_per_sm / as_double(s.shared_bytes() + kReservedSharedBytes)), 1.0,
                 std::floor(2048.0 / s.threads()));
  const double waves = std::max(1.0, std::ceil(blocks / (sms * resident)));
  const double sharing = std::min(resident, std::ceil(blocks / sms));
  // Narrow copies take as many instructions more; single elements also wait.
  const auto get_slowdown = [](int bytes) { return bytes == 2 ? 5.0 : std::sqrt(16.0 / bytes); };
  const double bytes =
      2.0 * steps * s.depth * (s.rows * get_slowdown(s.copy_a) + s.columns * get_slowdown(s.copy_b));
  const double copy = std::max(bytes / kBlockBytesPerUs, sharing * bytes / kSmBytesPerUs);
  const double product =
      2.0 * s.rows * s.columns * steps * s.depth * sharing / (kMmaFlopsPerUs * get_sm_scale(device) / sms);
  // Few warps issue too little, few stages leave copies too little time.
  const double thin = s.threads() * sharing < 128 ? 1.3 : 1, shallow = s.stages == 2 ? 1.3 : 1;
  const double copies = (s.rows * 16.0 / s.copy_a + s.columns * 16.0 / s.copy_b) * s.depth / 8 / s.threads();
  const double wave = std::max({copy * shallow, product * thin, steps * (kStepUs + kCopyUs * copies)});
  double us = kFixedUs + (waves - 1) * 1.0 + get_launch_us(blocks) + kPartsUs * std::log2(s.warps_k) +
              std::max(waves * wave, get_operand_us(problem, device));
  if (s.pdl) us += kPdlUsPerBlock * std::max(0.0, blocks - kFreeBlocks) - kPdlGainUs;
  return us;
}

std::unique_ptr<Space> make_gemm_async_space(const Problem& problem, const DeviceFacts& device) {
  FieldFamily family;
  family.name = "gemm_async";
  family.fields = &get_fields();
  family.find_illegality = [=](const FieldValues& values) {
    return find_gemm_async_illegality(to_schedule(values), problem, device);
  };
  family.predict_us = [=](const FieldValues& values) {
    return predict_gemm_async_us(to_schedule(values), problem, device);
  };
  family.behaviour = [](const FieldValues& values) {
    const GemmAsyncSchedule s = to_schedule(values);
    return fmt::format("{}x{}/k{}/st{}", s.rows, s.columns, s.warps_k, s.stages);
  };
  family.features = [=](const FieldValues& values) -> std::vector<NamedFeature> {
    const GemmAsyncSchedule s = to_schedule(values);
    return {{"log_blocks", std::log2(as_double(s.blocks(problem)) + 1)},
            {"log_threads", std::log2(s.threads())},
            {"log_steps", std::log2(as_double(ceil_div(problem.k, s.depth)) + 1)},
            {"log_shared_bytes", std::log2(as_double(s.shared_bytes()))},
            {"registers", as_double(s.registers())}};
  };
  family.tile = [](const FieldValues& values) -> std::vector<int64_t> {
    const GemmAsyncSchedule s = to_schedule(values);
    return {s.rows, s.columns, s.depth};
  };
  return make_field_space(std::move(family));
}

}  // namespace kw
