// GemmAsyncSchedule: a ring of tiles filled by asynchronous copies, fragments read from it
// (device/cuda_gemm_async.h; printed by src/emit/gemm_async.cc). sm_80 and up, any alignment: what is left
// when no other family takes a problem. Fields, key, legality, model. Prints no code and measures nothing.
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

struct GemmAsyncSchedule {
  int copy_a = 16, copy_b = 16;  // bytes at a time that the rows of A and B allow: 2, 4, 8, 16
  int rows = 64, columns = 64;   // of the tile
  int depth = 64;                // steps of k in a stage
  int warps_m = 2, warps_n = 2;
  int warps_k = 1;  // that share a tile, each with its part of a stage
  int stages = 4;
  bool pdl = false;  // programmatic dependent launch
  auto operator<=>(const GemmAsyncSchedule&) const = default;

  int threads() const { return 32 * warps_m * warps_n * warps_k; }
  int64_t ring_bytes() const { return int64_t{2} * stages * (rows + columns) * depth; }
  int64_t parts_bytes() const { return warps_k > 1 ? int64_t{4} * warps_k * rows * columns : 0; }
  // The sums of the warps take the ring's place.
  int64_t shared_bytes() const { return ring_bytes() > parts_bytes() ? ring_bytes() : parts_bytes(); }
  int registers() const;  // estimate
  int64_t blocks(const Problem& problem) const;
};

// "ca16 cb16 m64 n64 k64 wm2 wn2 wk1 st4 pdl0"; parse and print are inverse.
[[nodiscard]] std::string print_gemm_async(const GemmAsyncSchedule& schedule);
[[nodiscard]] Result<GemmAsyncSchedule> parse_gemm_async(std::string_view key);

// Empty when the family can compute the problem on the device, else why not.
[[nodiscard]] std::optional<std::string> find_gemm_async_refusal(const Problem& problem,
                                                                 const DeviceFacts& device);
// Empty when the schedule is legal, else the reason of the first broken rule.
[[nodiscard]] std::optional<std::string> find_gemm_async_illegality(const GemmAsyncSchedule& schedule,
                                                                    const Problem& problem,
                                                                    const DeviceFacts& device);
// Predicted time of one call in us: see gemm_async.cc for the terms.
[[nodiscard]] double predict_gemm_async_us(const GemmAsyncSchedule& schedule, const Problem& problem,
                                           const DeviceFacts& device);

[[nodiscard]] std::unique_ptr<Space> make_gemm_async_space(const Problem& problem, const DeviceFacts& device);

}  // namespace kw
