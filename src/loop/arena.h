// Search methods compared without timing noise: each replays the same recorded tables with many seeds;
// counted is how many evaluations it needs to come within 3 % of the table's best. Made for the bar
// search.evolve.evaluations_ratio.
#pragma once

#include <string>
#include <vector>

#include "learn/search_curve.h"
#include "record/device.h"
#include "target/recorded.h"

namespace kw {

struct ArenaPlan {
  std::vector<std::string> proposers = {"evolve"};  // run together, as in a tune
  int seeds = 20;
  int round_size = 8;
};

struct ArenaOutcome {
  std::vector<std::string> problems;
  SearchComparison comparison;  // tables in the order of problems
};

[[nodiscard]] Result<ArenaOutcome> run_arena(const RecordedTable& table, const DeviceFacts& device,
                                             const ArenaPlan& plan);

}  // namespace kw
