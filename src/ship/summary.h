// A grid of decisions in a few figures: losses first (protocol.md B, "Tables give"). In: decisions with the
// work of one call each. Out: GridSummary. Called by report, cli and the bars. Reads no store, measures
// nothing.
#pragma once

#include <optional>
#include <vector>

#include "base/statistics.h"
#include "record/candidate.h"

namespace kw {

struct GridCase {
  Decision decision;
  double flops = 0;  // of one call; places the case in a band
};

struct GridBand {
  int log2_flops = 0;  // flops in [2^log2_flops, 2^(log2_flops + 1)); -1 = no work at all
  int cases = 0;
  double geomean = 1;
  double share_below_one = 0, vendor_share = 0;
};

struct GridSummary {
  int cases = 0;
  double geomean = 1;         // of ratios; vendor cases count as 1.00
  Interval geomean_interval;  // 95 %, bootstrap over cases
  double median = 1;
  double share_below_one = 0;
  double vendor_share = 0;
  std::vector<Decision> worst;  // ten at most, slowest first
  std::vector<GridBand> bands;  // ascending, those with cases
};

// Absent when there are no cases. A ratio that is not above 0 is a mistake of ours.
[[nodiscard]] std::optional<GridSummary> summarize(const std::vector<GridCase>& cases, uint64_t seed = 1);

}  // namespace kw
