// Key and legality of gemm_wgmma. Speed is no rule here, but schedules with idle parts or with fields without
// effect are cut.
#include "schedule/gemm_wgmma.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/cuda_limits.h"
#include "schedule/gemm_wgmma_fields.h"

namespace kw {
namespace {

using Reason = std::optional<std::string>;

constexpr int kMostSwappedRows = 32;      // rows of A from which swapping cannot save padding
constexpr int kMostClustersPerSm = 5;     // blocks of a k split; more tiles than that fill the GPU unsplit
constexpr int kLeastTransposedTile = 32;  // lines of the narrowest swizzle for an operand stored (k, lines)

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

Reason find_tile_problem(const GemmWgmmaSchedule& s, const Problem& problem) {
  if (s.swapped && problem.m > kMostSwappedRows)
    return fmt::format("operands are swapped for at most {} rows of A, not {}", kMostSwappedRows, problem.m);
  if (!s.y_by_depth(problem.layout) && s.columns < kLeastTransposedTile)
    return fmt::format("B stored (k, n) needs tiles of at least {} columns", kLeastTransposedTile);
  const int64_t x = std::max<int64_t>(1, s.x_lines(problem)), y = std::max<int64_t>(1, s.y_lines(problem));
  if (s.columns < 16 && y > s.columns)
    return fmt::format("tiles of {} columns read X once for each of them; there are {} columns", s.columns,
                       y);
  if (s.groups > 1 && x <= 64) return fmt::format("one warpgroup covers the {} rows", x);
  const int least = s.y_by_depth(problem.layout) ? 8 : kLeastTransposedTile;
  if (s.columns > least && s.columns >= 2 * y)
    return fmt::format("half of the tile's {} columns would lie beyond the {} there are", s.columns, y);
  if (ceil_div(x, s.rows()) > kMaxGridY)
    return fmt::format("{} rows are more than {} tiles of {}", x, kMaxGridY, s.rows());
  return std::nullopt;
}

Reason find_depth_problem(const GemmWgmmaSchedule& s, const Problem& problem, const DeviceFacts& device) {
  if (s.split > s.steps(problem))
    return fmt::format("k has {} steps of {}, too few for {} blocks", s.steps(problem), s.depth, s.split);
  const int64_t blocks = s.tiles(problem) * s.split;
  if (s.split > 1 && blocks > int64_t{kMostClustersPerSm} * std::max(1, device.cores))
    return fmt::format("{} blocks fill the GPU without a split of k", blocks);
  const int64_t steps = s.block_steps(problem);
  if (s.stages > std::max<int64_t>(2, steps + 1))
    return fmt::format("a block has {} steps of k; {} stages are never filled", steps, s.stages);
  const int64_t limit = get_block_shared_bytes(90);
  if (s.shared_bytes() > limit)
    return fmt::format("ring and sums take {} bytes of shared memory; a block has {}", s.shared_bytes(),
                       limit);
  return std::nullopt;
}

}  // namespace

int64_t GemmWgmmaSchedule::tiles(const Problem& problem) const {
  return ceil_div(x_lines(problem), rows()) * ceil_div(y_lines(problem), columns);
}
int64_t GemmWgmmaSchedule::steps(const Problem& problem) const { return ceil_div(problem.k, depth); }
int64_t GemmWgmmaSchedule::block_steps(const Problem& problem) const {
  return ceil_div(steps(problem), split);
}

const FieldList& get_gemm_wgmma_fields() {
  static const FieldList fields = {
      {"g", {1, 2}},           {"n", {8, 16, 32, 64, 128, 256}},
      {"k", {64, 128}},        {"st", {2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 16, 18, 20}},
      {"s", {1, 2, 4, 8, 16}}, {"swap", {0, 1}},
      {"pdl", {0, 1}}};
  return fields;
}
FieldValues to_field_values(const GemmWgmmaSchedule& s) {
  return {s.groups, s.columns, s.depth, s.stages, s.split, s.swapped, s.pdl};
}
GemmWgmmaSchedule to_gemm_wgmma(const FieldValues& v) {
  return {v[0], v[1], v[2], v[3], v[4], v[5] != 0, v[6] != 0};
}

std::string print_gemm_wgmma(const GemmWgmmaSchedule& schedule) {
  return print_field_values(get_gemm_wgmma_fields(), to_field_values(schedule));
}

Result<GemmWgmmaSchedule> parse_gemm_wgmma(std::string_view key) {
  KW_TRY(const FieldValues values, parse_field_values("gemm_wgmma", get_gemm_wgmma_fields(), key));
  return to_gemm_wgmma(values);
}

Reason find_gemm_wgmma_refusal(const Problem& problem, const DeviceFacts& device) {
  if (auto refusal = find_cuda_gemm_refusal({"gemm_wgmma", 90, 128}, problem, device)) return refusal;
  if (device.isa != "sm_90a")
    return fmt::format("gemm_wgmma needs the warpgroup products of sm_90a; this device has {}", device.isa);
  if (problem.k < 1) return "gemm_wgmma needs k of at least 1: tensor maps have no empty side";
  if (problem.lda % 8 != 0 || problem.ldb % 8 != 0)
    return fmt::format("tensor copies need rows at multiples of 8 elements, not lda {} ldb {}", problem.lda,
                       problem.ldb);
  return std::nullopt;
}

Reason find_gemm_wgmma_illegality(const GemmWgmmaSchedule& s, const Problem& problem,
                                  const DeviceFacts& device) {
  if (auto refusal = find_gemm_wgmma_refusal(problem, device)) return refusal;
  if (auto reason = find_tile_problem(s, problem)) return reason;
  return find_depth_problem(s, problem, device);
}

}  // namespace kw
