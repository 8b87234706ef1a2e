// Key, legality, model and Space of gemm_direct. Speed is no rule here, but schedules with idle warps are
// cut.
#include "schedule/gemm_direct.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/cuda_cost.h"
#include "schedule/cuda_limits.h"
#include "schedule/field_space.h"

namespace kw {
namespace {

using Reason = std::optional<std::string>;

constexpr int kChunkDepth = 32;
constexpr int kOtherRegisters = 40;            // addresses, indices, scalars: of the compiled menu
constexpr int64_t kMaxSharedBytes = 48 << 10;  // more than that is never needed for tiles of this family

// Measured like cuda_cost.h says; fitted to the family's medians by k (64: 1.97 us to 4096: 6.8 us).
constexpr double kFixedUs = 1.75, kPdlGainUs = 0.45;
constexpr double kBlockBytesPerUs = 80e3, kSmBytesPerUs = 150e3;
constexpr double kNextTripUs = 0.6;        // a further trip to memory: 670 clocks and what the products add
constexpr double kPartsUs = 0.03;          // adding up the warps' sums, for each doubling of them
constexpr double kPdlUsPerBlock = 0.0004;  // beyond kFreeBlocks an early start disturbs more than it hides

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
double as_double(int64_t value) { return static_cast<double>(value); }

const FieldList& get_fields() {
  static const FieldList fields = {{"mt", {1, 2}},    {"nt", {2, 4, 8}},        {"wm", {1, 2}},
                                   {"wn", {1, 2, 4}}, {"wk", {1, 2, 4, 8, 16}}, {"c", {1, 2, 4}},
                                   {"pdl", {0, 1}}};
  return fields;
}
FieldValues to_values(const GemmDirectSchedule& s) {
  return {s.row_tiles, s.column_tiles, s.warps_m, s.warps_n, s.warps_k, s.chunks, s.pdl};
}
GemmDirectSchedule to_schedule(const FieldValues& v) {
  return {v[0], v[1], v[2], v[3], v[4], v[5], v[6] != 0};
}

int64_t count_chunks(const Problem& problem) {
  return std::max<int64_t>(1, ceil_div(problem.k, kChunkDepth));
}
// Trips to memory one after the other.
int64_t count_trips(const GemmDirectSchedule& s, const Problem& problem) {
  return ceil_div(count_chunks(problem), int64_t{s.warps_k} * s.chunks);
}

Reason find_tile_problem(const GemmDirectSchedule& s, const Problem& problem) {
  const int64_t m = std::max<int64_t>(1, problem.m), n = std::max<int64_t>(1, problem.n);
  if (s.rows() > 16 && s.rows() >= 2 * m)
    return fmt::format("half of the tile's {} rows would lie beyond the {} there are", s.rows(), m);
  if (s.columns() > 16 && s.columns() >= 2 * n)
    return fmt::format("half of the tile's {} columns would lie beyond the {} there are", s.columns(), n);
  if (ceil_div(m, s.rows()) > kMaxGridY)
    return fmt::format("{} rows are more than {} tiles of {}", m, kMaxGridY, s.rows());
  if (problem.layout == Layout::kNN && problem.ldb % s.b_unit(problem.layout) != 0)
    return fmt::format("a lane loads {} columns of B at once: ldb {} is no multiple of it", s.column_tiles,
                       problem.ldb);
  return std::nullopt;
}

Reason find_block_problem(const GemmDirectSchedule& s, const Problem& problem) {
  if (s.threads() > 512)
    return fmt::format("{} warps are more than one trip to memory needs: at most 16", s.threads() / 32);
  if (s.registers() > get_register_limit(s.threads()))
    return fmt::format("sums and loaded chunks take about {} registers; {} threads have {} each",
                       s.registers(), s.threads(), get_register_limit(s.threads()));
  if (s.shared_bytes() > kMaxSharedBytes)
    return fmt::format("sums of {} warps take {} bytes of shared memory; {} are allowed", s.warps_k,
                       s.shared_bytes(), kMaxSharedBytes);
  const int64_t chunks = count_chunks(problem);
  if (s.warps_k > chunks)
    return fmt::format("k has {} chunks of 32, too few for {} warps", chunks, s.warps_k);
  if (s.chunks > 1 && int64_t{s.warps_k} * s.chunks >= 2 * chunks)
    return fmt::format("half of the {} chunks loaded at once would lie beyond k", s.warps_k * s.chunks);
  return std::nullopt;
}

}  // namespace

int GemmDirectSchedule::registers() const {
  const int sums = 4 * row_tiles * column_tiles, loaded = chunks * (8 * row_tiles + 4 * column_tiles);
  return sums + loaded + kOtherRegisters;
}
int64_t GemmDirectSchedule::blocks(const Problem& problem) const {
  return ceil_div(problem.m, rows()) * ceil_div(problem.n, columns());
}

std::string print_gemm_direct(const GemmDirectSchedule& schedule) {
  return print_field_values(get_fields(), to_values(schedule));
}
Result<GemmDirectSchedule> parse_gemm_direct(std::string_view key) {
  KW_TRY(const FieldValues values, parse_field_values("gemm_direct", get_fields(), key));
  return to_schedule(values);
}

Reason find_gemm_direct_refusal(const Problem& problem, const DeviceFacts& device) {
  if (auto refusal = find_cuda_gemm_refusal({"gemm_direct", 80, 64}, problem, device)) return refusal;
  if (problem.lda % 8 != 0)
    return fmt::format("gemm_direct loads 8 steps of k of A at once: lda {} is no multiple of it",
                       problem.lda);
  if (const int unit = problem.layout == Layout::kNT ? 8 : 2; problem.ldb % unit != 0)
    return fmt::format("gemm_direct loads at least {} neighbours of B at once: ldb {} is no multiple of it",
                       unit, problem.ldb);
  return std::nullopt;
}

Reason find_gemm_direct_illegality(const GemmDirectSchedule& s, const Problem& problem,
                                   const DeviceFacts& device) {
  if (auto refusal = find_gemm_direct_refusal(problem, device)) return refusal;
  if (s.pdl && get_sm_version(device.isa) < 90)
    return fmt::format("programmatic launch needs sm_90; this device has {}", device.isa);
  if (auto reason = find_tile_problem(s, problem)) return reason;
  return find_block_problem(s, problem);
}

double predict_gemm_direct_us(const GemmDirectSchedule& s, const Problem& problem,
                              const DeviceFacts& device) {
  const double blocks = as_double(s.blocks(problem));
  const double bytes = 2.0 * (s.rows() + s.columns()) * as_double(problem.k);
  const double per_sm = std::ceil(blocks / std::max(1, device.cores));
  const double copy =
      std::max({bytes / kBlockBytesPerUs, per_sm * bytes / kSmBytesPerUs,
                blocks * bytes / (kL2BytesPerUs * get_sm_scale(device)), get_operand_us(problem, device)});
  double us = kFixedUs + copy + as_double(count_trips(s, problem) - 1) * kNextTripUs + get_launch_us(blocks) +
              kPartsUs * std::log2(s.warps_k);
  if (s.pdl) us += kPdlUsPerBlock * std::max(0.0, blocks - kFreeBlocks) - kPdlGainUs;
  return us;
}

std::unique_ptr<Space> make_gemm_direct_space(const Problem& problem, const DeviceFacts& device) {
  FieldFamily family;
  family.name = "gemm_direct";
  family.fields = &get_fields();
  family.find_illegality = [=](const FieldValues& values) {
    return find_gemm_direct_illegality(to_schedule(values), problem, device);
  };
  family.predict_us = [=](const FieldValues& values) {
    return predict_gemm_direct_us(to_schedule(values), problem, device);
  };
  family.behaviour = [](const FieldValues& values) {
    const GemmDirectSchedule s = to_schedule(values);
    return fmt::format("{}x{}/k{}/c{}", s.rows(), s.columns(), s.warps_k, s.chunks);
  };
  family.features = [=](const FieldValues& values) -> std::vector<NamedFeature> {
    const GemmDirectSchedule s = to_schedule(values);
    return {{"log_blocks", std::log2(as_double(s.blocks(problem)) + 1)},
            {"log_trips", std::log2(as_double(count_trips(s, problem)))},
            {"log_threads", std::log2(s.threads())},
            {"log_block_bytes", std::log2(2.0 * (s.rows() + s.columns()) * as_double(problem.k) + 1)},
            {"registers", as_double(s.registers())}};
  };
  family.tile = [](const FieldValues& values) -> std::vector<int64_t> {
    const GemmDirectSchedule s = to_schedule(values);
    return {s.rows(), s.columns(), int64_t{kChunkDepth} * s.warps_k};
  };
  return make_field_space(std::move(family));
}

}  // namespace kw
