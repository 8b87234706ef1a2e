// GemmWgmmaSchedule: tensor copies into a ring, warpgroup products, one tile per block or, split along k, per
// cluster (device/cuda_gemm_wgmma.h; printed by src/emit/gemm_wgmma.cc). sm_90a. Fields, key, legality,
// model. Prints no code and measures nothing.
//
// Words: X gives the tile's rows (64 a warpgroup), Y its columns. X = A, Y = B, or swapped: X = B, Y = A, for
// few rows of A.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/device.h"
#include "record/problem.h"
#include "schedule/space.h"

namespace kw {

struct GemmWgmmaSchedule {
  int groups = 1;    // consumer warpgroups, 64 rows each
  int columns = 32;  // of the tile
  int depth = 128;   // steps of k in a stage
  int stages = 4;    // of the ring
  int split = 1;     // blocks of a cluster that share k
  bool swapped = false;
  bool pdl = false;  // programmatic dependent launch
  auto operator<=>(const GemmWgmmaSchedule&) const = default;

  int rows() const { return 64 * groups; }
  int threads() const { return 128 * groups + 32; }
  int64_t stage_bytes() const { return int64_t{2} * (rows() + columns) * depth; }
  int64_t ring_bytes() const { return stages * stage_bytes(); }
  int64_t exchange_bytes() const { return split > 1 ? int64_t{4} * rows() * columns : 0; }
  int64_t shared_bytes() const { return ring_bytes() + exchange_bytes() + 16 * stages + 16; }
  // k is contiguous in the operand as stored.
  bool x_by_depth(Layout layout) const { return !swapped || layout == Layout::kNT; }
  bool y_by_depth(Layout layout) const { return swapped || layout == Layout::kNT; }
  int64_t x_lines(const Problem& problem) const { return swapped ? problem.n : problem.m; }
  int64_t y_lines(const Problem& problem) const { return swapped ? problem.m : problem.n; }
  int64_t tiles(const Problem& problem) const;
  int64_t steps(const Problem& problem) const;        // of the ring over all of k
  int64_t block_steps(const Problem& problem) const;  // of the block that has most
};

// "g1 n32 k128 st4 s1 swap0 pdl0"; parse and print are inverse.
[[nodiscard]] std::string print_gemm_wgmma(const GemmWgmmaSchedule& schedule);
[[nodiscard]] Result<GemmWgmmaSchedule> parse_gemm_wgmma(std::string_view key);

// Empty when the family can compute the problem on the device, else why not.
[[nodiscard]] std::optional<std::string> find_gemm_wgmma_refusal(const Problem& problem,
                                                                 const DeviceFacts& device);
// Empty when the schedule is legal, else the reason of the first broken rule.
[[nodiscard]] std::optional<std::string> find_gemm_wgmma_illegality(const GemmWgmmaSchedule& schedule,
                                                                    const Problem& problem,
                                                                    const DeviceFacts& device);
// Predicted time of one call in us: see gemm_wgmma_rank.cc for the terms.
[[nodiscard]] double predict_gemm_wgmma_us(const GemmWgmmaSchedule& schedule, const Problem& problem,
                                           const DeviceFacts& device);

[[nodiscard]] std::unique_ptr<Space> make_gemm_wgmma_space(const Problem& problem, const DeviceFacts& device);

}  // namespace kw
