#include "measure/selection.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace kw {
namespace {

Timing confirmed_timing(double ratio, double low, double high) {
  Timing timing;
  timing.binary_hash = "hash";
  timing.baseline = "onednn";
  timing.ratio = ratio;
  timing.ratio_low = low;
  timing.ratio_high = high;
  timing.median_us = 10;
  timing.baseline_median_us = 10 * ratio;
  timing.confirmed = true;
  return timing;
}

TEST(Decide, takes_the_kernel_when_the_interval_excludes_one) {
  const Decision decision = decide("p", "onednn", 12, confirmed_timing(1.1, 1.08, 1.12));
  EXPECT_EQ(decision.binary_hash, "hash");
  EXPECT_EQ(decision.ratio, 1.1);
  EXPECT_EQ(decision.median_us, 10);
  EXPECT_EQ(decision.reason, "interval [1.080, 1.120] excludes 1");
}

TEST(Decide, names_the_baseline_that_was_hardest_to_beat) {
  Timing timing = confirmed_timing(1.1, 1.08, 1.12);
  timing.baseline = "openblas";
  EXPECT_EQ(decide("p", "onednn", 12, timing).baseline, "openblas");
  timing.ratio_low = 0.99;
  EXPECT_EQ(decide("p", "onednn", 12, timing).baseline, "onednn");
}

TEST(Decide, keeps_the_vendor_otherwise_and_says_why) {
  const auto expect_vendor = [](const std::optional<Timing>& timing, const std::string& reason) {
    const Decision decision = decide("p", "onednn", 12, timing);
    EXPECT_EQ(decision.binary_hash, "");
    EXPECT_EQ(decision.ratio, 1);
    EXPECT_EQ(decision.median_us, 12);
    EXPECT_EQ(decision.reason, reason);
  };
  expect_vendor(std::nullopt, "no kernel beat onednn");
  expect_vendor(confirmed_timing(1.01, 1.0, 1.02), "interval [1.000, 1.020] does not exclude 1");
  expect_vendor(confirmed_timing(NAN, NAN, NAN), "interval [nan, nan] does not exclude 1");
  Timing timing = confirmed_timing(1.1, 1.08, 1.12);
  timing.confirmed = false;
  expect_vendor(timing, "best kernel was not re-measured in a fresh process");
}

Timing sampled_timing(double ratio, int pairs, Random& random) {
  Timing timing;
  for (int i = 0; i < pairs; ++i) {
    timing.baseline_latency_us.push_back(100 * std::exp(0.02 * random.normal()));
    timing.latency_us.push_back(100 / ratio * std::exp(0.02 * random.normal()));
  }
  return timing;
}

TEST(SignificantLosses, finds_the_slow_case_among_many_equal_ones) {
  Random random(3);
  std::vector<Timing> timings;
  for (int i = 0; i < 60; ++i) timings.push_back(sampled_timing(1.0, 32, random));
  timings[17] = sampled_timing(0.93, 32, random);
  const auto losses = find_significant_losses(timings, 0.05, 1);
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_EQ(losses[i], i == 17) << i;
}

TEST(SignificantLosses, ignores_a_loss_of_less_than_one_percent_and_any_gain) {
  Timing slight, gain;
  for (int i = 0; i < 32; ++i) {
    slight.baseline_latency_us.push_back(99.5);
    slight.latency_us.push_back(100);
    gain.baseline_latency_us.push_back(120);
    gain.latency_us.push_back(100);
  }
  EXPECT_EQ(find_significant_losses({slight, gain}, 0.05, 1), (std::vector<bool>{false, false}));
  EXPECT_TRUE(find_significant_losses({}, 0.05, 1).empty());
}

}  // namespace
}  // namespace kw
