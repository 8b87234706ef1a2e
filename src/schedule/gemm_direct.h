// GemmDirectSchedule: operands straight from memory into tensor core registers (device/cuda_gemm_direct.h;
// printed by src/emit/gemm_direct.cc). sm_80 and up, for small k. Fields, key, legality, model. Prints no
// code and measures nothing.
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

struct GemmDirectSchedule {
  int row_tiles = 1;     // of 16 rows in a warp's tile
  int column_tiles = 2;  // of 8 columns in a warp's tile
  int warps_m = 1, warps_n = 1;
  int warps_k = 4;   // that share a tile, each with its part of k
  int chunks = 2;    // of 32 k that a warp loads before it multiplies
  bool pdl = false;  // programmatic dependent launch
  auto operator<=>(const GemmDirectSchedule&) const = default;

  int rows() const { return 16 * row_tiles * warps_m; }  // of a block
  int columns() const { return 8 * column_tiles * warps_n; }
  int threads() const { return 32 * warps_m * warps_n * warps_k; }
  int64_t shared_bytes() const { return warps_k > 1 ? int64_t{4} * warps_k * rows() * columns() : 0; }
  // Estimate: sums, loaded chunks, pointers and the rest.
  int registers() const;
  // What the rows of B are a multiple of in elements, so that a lane's part is one aligned load.
  int b_unit(Layout layout) const { return layout == Layout::kNT ? 8 : column_tiles; }
  int64_t blocks(const Problem& problem) const;
};

// "mt1 nt2 wm1 wn1 wk4 c2 pdl0"; parse and print are inverse.
[[nodiscard]] std::string print_gemm_direct(const GemmDirectSchedule& schedule);
[[nodiscard]] Result<GemmDirectSchedule> parse_gemm_direct(std::string_view key);

// Empty when the family can compute the problem on the device, else why not.
[[nodiscard]] std::optional<std::string> find_gemm_direct_refusal(const Problem& problem,
                                                                  const DeviceFacts& device);
// Empty when the schedule is legal, else the reason of the first broken rule.
[[nodiscard]] std::optional<std::string> find_gemm_direct_illegality(const GemmDirectSchedule& schedule,
                                                                     const Problem& problem,
                                                                     const DeviceFacts& device);
// Predicted time of one call in us: see gemm_direct.cc for the terms.
[[nodiscard]] double predict_gemm_direct_us(const GemmDirectSchedule& schedule, const Problem& problem,
                                            const DeviceFacts& device);

[[nodiscard]] std::unique_ptr<Space> make_gemm_direct_space(const Problem& problem,
                                                            const DeviceFacts& device);

}  // namespace kw
