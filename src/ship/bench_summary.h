// A bench table in a few figures: losses first (protocol.md B, "Tables give"). In: rows with the work of one
// call and the shape that layouts share. Out: BenchSummary. Called by cli and the bars; reads no file,
// measures nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "record/bench_row.h"

namespace kw {

struct BenchCase {
  BenchRow row;
  double flops = 0;   // of one call; places the case in a band
  std::string shape;  // what the layouts of a shape have in common: "64x128x256 f16"
};

struct RatioCase {
  std::string name;
  double ratio = 1, flops = 0;
};

// Which side of 1 is the loss.
enum class Loss { kBelowOne, kAboveOne };

struct RatioBand {
  int log2_flops = 0;  // flops in [2^log2_flops, 2^(log2_flops + 1)); -1 = no work at all
  int cases = 0;
  double geomean = 1, share_lost = 0;
};

struct RatioSummary {
  int cases = 0;
  double geomean = 1;
  Interval geomean_interval;  // 95 %, bootstrap over cases
  double median = 1;
  double share_lost = 0;         // on the losing side of 1
  std::vector<RatioCase> worst;  // ten at most, largest loss first
  std::vector<RatioBand> bands;  // ascending, those with cases
};

// Absent when there are no cases. A ratio that is not above 0 is a mistake of ours.
[[nodiscard]] std::optional<RatioSummary> summarize_ratios(const std::vector<RatioCase>& cases, Loss loss,
                                                           uint64_t seed = 1);

struct BenchSummary {
  BenchMode mode = BenchMode::kOffline;
  int cases = 0;
  int unmeasured = 0;    // no routine was right, so there is no bar
  int with_refused = 0;  // cases in which a routine was refused
  std::optional<double> agreement_median, agreement_worst;
  // Ours: the bar's time over ours, as measured in pairs. Cases without a kernel of ours stay with the vendor
  // and count as 1.00 as soon as there is any; absent when there is none at all.
  std::optional<RatioSummary> same_layout;
  // The better layout of each shape on both sides: the bars' least time over the least of ours (or of the bar
  // where we have none). Absent as above.
  std::optional<RatioSummary> best_layout;
  std::optional<RatioSummary> heuristic_over_best;  // time over the bar's: 1.00 = it is the bar
  std::optional<RatioSummary> cublas_over_best;
};

// One summary for each mode that occurs, in the order of the modes.
[[nodiscard]] std::vector<BenchSummary> summarize_bench(const std::vector<BenchCase>& cases,
                                                        uint64_t seed = 1);

}  // namespace kw
