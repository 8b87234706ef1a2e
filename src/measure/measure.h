// How fast, how sure? protocol.md B: paired, interleaved in random order, outside clock, bootstrap interval.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "target/device.h"

namespace kw {

struct MeasurePlan {
  double sample_us = 2000;       // least length of one sample
  int min_pairs = 6, max_pairs = 24;
  double budget_us = 2e6;        // of both sides together
  double give_up_below = 0;      // stop early when the interval lies wholly below this ratio; 0 = never
  uint64_t seed = 0;             // order of pairs, bootstrap
  double footprint_bytes = 0;    // rotate operands over at least this much; set by plan_footprint
};

// At least 4 x L2; twice a single problem when that is larger (protocol.md B).
[[nodiscard]] int plan_sets(const Workload& workload, const DeviceFacts& device);

// Fills inputs of every set with N(0,1), outputs with poison.
void fill_for_timing(Buffers& buffers, uint64_t seed);

// Candidate against baseline on the same buffers. A fault while timing is a Verdict.
[[nodiscard]] tl::expected<Timing, Verdict> run_comparison(Program& candidate, Program& baseline, Buffers& buffers,
                                                           const MeasurePlan& plan);

// Fastest verified baseline of a workload, each measured; the bar.
struct BaselineRow {
  std::string name;
  double median_us = 0;
  std::string refused;           // why it may not be the bar; empty = may
};
[[nodiscard]] Result<std::vector<BaselineRow>> measure_baselines(Device& device, Buffers& buffers,
                                                                 const std::vector<std::string>& names,
                                                                 const MeasurePlan& plan);

}  // namespace kw
