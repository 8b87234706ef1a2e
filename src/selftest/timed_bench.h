// Compares two binaries as the loop does: a worker each, shared buffers, our thread off the measuring core.
// In: a battery and a problem. Used by the statistics section; decides nothing.
#pragma once

#include <memory>

#include "measure/measure.h"
#include "selftest/battery.h"

namespace kw {

class TimedBench {
 public:
  // `sets` = 0: as many operand sets as a measurement uses.
  [[nodiscard]] static Result<TimedBench> open(Battery& battery, const Problem& problem, int sets = 0);

  // One worker a side, as a search measures. The plan's cores and, while it has none, its seed are filled in.
  [[nodiscard]] Result<tl::expected<Timing, Verdict>> compare(const Binary& candidate, const Binary& baseline,
                                                              MeasurePlan plan);
  // New workers for every pair, as a promotion measures.
  [[nodiscard]] Result<tl::expected<Timing, Verdict>> compare_fresh(const Binary& candidate,
                                                                    const Binary& baseline, MeasurePlan plan);

 private:
  TimedBench(Battery& battery, std::unique_ptr<Buffers> buffers)
      : battery_(&battery), buffers_(std::move(buffers)) {}
  void complete(MeasurePlan& plan) const;
  Battery* battery_;
  std::unique_ptr<Buffers> buffers_;
};

// The plan a promotion confirms with: 40 pairs of 1 ms samples (loop/promotion.cc).
[[nodiscard]] MeasurePlan make_confirming_plan();

// A kernel that must compile; an error says why it did not.
[[nodiscard]] Result<Binary> build_timed(Battery& battery, const CorpusKernel& kernel);
// The schedule that the analytic model ranks first for the problem.
[[nodiscard]] Result<Binary> build_ranked_first(Battery& battery, const Problem& problem);

[[nodiscard]] Problem make_square(int64_t size, Dtype dtype = Dtype::kF32);

// Most of `trials` that an event of probability `share` reaches by chance, exceeded in 1 of 100 experiments
// (binomial distribution).
[[nodiscard]] int64_t most_by_chance(int64_t trials, double share);

}  // namespace kw
