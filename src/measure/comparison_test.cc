// run_comparison on simulated time: order of events, stopping, failures, and the error rates that protocol.md
// asks for.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/random.h"
#include "base/statistics.h"
#include "measure/fake_device_test.h"
#include "measure/measure.h"

namespace kw {
namespace {

using testing::HasSubstr;

MeasurePlan quiet_plan() {
  MeasurePlan plan;
  plan.watch_load = false;
  return plan;
}

FakeBuffers make_buffers(int sets = 7) { return {make_fake_workload(4, 4, 4), sets}; }

TEST(Comparison, gives_each_side_calls_enough_for_a_sample) {
  FakeProgram candidate("hash", steady(3)), baseline("vendor 1", steady(700));
  auto buffers = make_buffers();
  const auto timing = run_comparison(candidate, baseline, buffers, quiet_plan());
  ASSERT_TRUE(timing);
  EXPECT_EQ(candidate.call_counts.back(), 512);  // 3 us x 256 is short of 1000 us
  EXPECT_EQ(baseline.call_counts.back(), 2);
  EXPECT_DOUBLE_EQ(timing->ratio, 700.0 / 3);
  EXPECT_EQ(timing->binary_hash, "hash");
  EXPECT_EQ(timing->baseline, "vendor 1");
  EXPECT_EQ(timing->latency_us.size(), timing->baseline_latency_us.size());
  EXPECT_DOUBLE_EQ(timing->median_us, 3);
  EXPECT_DOUBLE_EQ(timing->baseline_median_us, 700);
}

// 32 calls of 31.2 us are short of 1000 us, 32 of 31.3 us are not.
TEST(Comparison, gives_sides_of_nearly_equal_speed_equally_many_calls) {
  FakeProgram candidate("c", steady(31.2)), baseline("b", steady(31.3)), slow("s", steady(70));
  auto buffers = make_buffers();
  ASSERT_TRUE(run_comparison(candidate, baseline, buffers, quiet_plan()));
  EXPECT_EQ(candidate.call_counts.back(), 64);
  EXPECT_EQ(baseline.call_counts.back(), 64);
  ASSERT_TRUE(run_comparison(candidate, slow, buffers, quiet_plan()));
  EXPECT_EQ(candidate.call_counts.back(), 64);
  EXPECT_EQ(slow.call_counts.back(), 16);
}

TEST(Comparison, goes_on_where_the_last_sample_of_either_side_stopped) {
  FakeProgram candidate("c", steady(1100)), baseline("b", steady(1100));
  auto buffers = make_buffers(1000);
  ASSERT_TRUE(run_comparison(candidate, baseline, buffers, quiet_plan()));
  std::vector<int> starts = candidate.first_sets;
  starts.insert(starts.end(), baseline.first_sets.begin(), baseline.first_sets.end());
  std::sort(starts.begin(), starts.end());
  EXPECT_EQ(starts.front(), 0);
  EXPECT_EQ(std::adjacent_find(starts.begin(), starts.end()),
            starts.end());  // no set timed twice in 1000 calls
}

TEST(Comparison, mixes_the_order_within_pairs) {
  std::string order;
  FakeProgram candidate("c", [&](int) { return order += 'c', 5000; });
  FakeProgram baseline(
      "b", [&](int) { return order += 'b', 5000.0 + 300 * static_cast<double>(order.size() % 2); });
  auto buffers = make_buffers();
  ASSERT_TRUE(run_comparison(candidate, baseline, buffers, quiet_plan()));
  EXPECT_THAT(order, HasSubstr("cbbc"));
  EXPECT_THAT(order, HasSubstr("bccb"));
}

TEST(Comparison, drops_the_first_sample_of_each_side) {
  // Calibration is runs 0 and warm-up run 1; both are slow.
  const auto settling = [](int sample) { return sample < 2 ? 9000.0 : 3000.0; };
  FakeProgram candidate("c", settling), baseline("b", settling);
  auto buffers = make_buffers();
  const auto timing = run_comparison(candidate, baseline, buffers, quiet_plan());
  ASSERT_TRUE(timing);
  for (const double latency_us : timing->latency_us) EXPECT_EQ(latency_us, 3000);
}

TEST(Comparison, stops_at_min_pairs_when_it_is_sure_and_at_max_pairs_when_not) {
  auto buffers = make_buffers();
  FakeProgram calm("c", steady(3000)), baseline("b", steady(3000));
  EXPECT_EQ(run_comparison(calm, baseline, buffers, quiet_plan())->latency_us.size(), 8U);
  Random random(1);
  FakeProgram noisy("c", [&](int) { return 3000 * std::exp(0.1 * random.normal()); });
  EXPECT_EQ(run_comparison(noisy, baseline, buffers, quiet_plan())->latency_us.size(), 64U);
}

TEST(Comparison, gives_up_on_a_clearly_slower_candidate) {
  auto buffers = make_buffers();
  Random random(2);
  FakeProgram slow("c", [&](int) { return 9000 * std::exp(0.1 * random.normal()); }),
      baseline("b", steady(3000));
  MeasurePlan plan = quiet_plan();
  plan.give_up_below = 0.9;
  const auto timing = run_comparison(slow, baseline, buffers, plan);
  EXPECT_EQ(timing->latency_us.size(), 8U);
  EXPECT_LT(timing->ratio_high, 0.9);
  EXPECT_THAT(timing->note, HasSubstr("stopped early: below 0.9"));
}

TEST(Comparison, keeps_near_its_budget_when_one_call_takes_seconds) {
  auto buffers = make_buffers(1);
  FakeProgram candidate("c", steady(1.5e6)), baseline("b", steady(1.8e6));
  const auto timing = run_comparison(candidate, baseline, buffers, quiet_plan());
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->latency_us.size(), 2U);
  EXPECT_LE(candidate.elapsed_us + baseline.elapsed_us, 4 * 2e6);
  EXPECT_THAT(timing->note, HasSubstr("only 2 pairs"));
}

TEST(Comparison, claims_no_win_from_two_pairs_that_differ) {
  auto buffers = make_buffers(1);
  FakeProgram candidate("c", [](int sample) { return 1.5e6 + 1e5 * sample; }), baseline("b", steady(1.8e6));
  const auto timing = run_comparison(candidate, baseline, buffers, quiet_plan());
  ASSERT_TRUE(timing);
  EXPECT_GT(timing->ratio, 1.1);
  EXPECT_LT(timing->ratio_low, 1);
}

TEST(Comparison, uses_means_when_the_candidate_is_fast_only_most_of_the_time) {
  auto buffers = make_buffers();
  FakeProgram candidate("c", [](int sample) { return sample % 3 == 0 ? 6000.0 : 3000.0; });
  FakeProgram baseline("b", steady(3300));
  const auto timing = run_comparison(candidate, baseline, buffers, quiet_plan());
  ASSERT_TRUE(timing);
  EXPECT_NEAR(timing->median_us, 4000, 100);
  EXPECT_LT(timing->ratio, 0.9);
  EXPECT_LT(timing->ratio_low, timing->ratio);
  EXPECT_THAT(timing->note, HasSubstr("two modes"));
}

TEST(Comparison, turns_failures_into_verdicts) {
  using S = RunOutcome::Status;
  const auto code_of = [](RunOutcome failure) {
    auto buffers = make_buffers();
    FakeProgram candidate("hash", steady(3000)), baseline("b", steady(3000));
    candidate.fail_at = 5;
    candidate.failure = failure;
    const auto timing = run_comparison(candidate, baseline, buffers, quiet_plan());
    if (timing) return std::string("no verdict");
    EXPECT_EQ(timing.error().binary_hash, "hash");
    return timing.error().code();
  };
  EXPECT_EQ(code_of({.status = S::kTimeout}), "hang/time_limit");
  EXPECT_EQ(code_of({.status = S::kFault, .signal = 11}), "crash/fault");
  EXPECT_EQ(code_of({.status = S::kFault, .signal = 11, .fault = GuardHit{"c", 16}}),
            "out_of_bounds/guard_page");
  EXPECT_EQ(code_of({.status = S::kForbiddenCall}), "cheat/forbidden_call");
  EXPECT_EQ(code_of({.status = S::kKilled, .signal = 9}), "crash/killed");
  EXPECT_EQ(code_of({.status = S::kExit}), "crash/exit");
  EXPECT_EQ(code_of({.elapsed_us = 0}), "cheat/impossible_time");
  EXPECT_EQ(code_of({.elapsed_us = std::nan("")}), "cheat/impossible_time");
}

TEST(Comparison, does_not_blame_the_candidate_for_the_baseline) {
  auto buffers = make_buffers();
  FakeProgram candidate("hash", steady(3000)), baseline("b", steady(3000));
  baseline.fail_at = 4;
  baseline.failure = {.status = RunOutcome::Status::kFault};
  const auto timing = run_comparison(candidate, baseline, buffers, quiet_plan());
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().code(), "skipped/baseline_failed");
  EXPECT_EQ(timing.error().evidence["failure"], "crash/fault");
}

TEST(Comparison, refuses_a_time_that_cannot_be) {
  auto buffers = make_buffers();
  FakeProgram nothing("c", steady(0)), fast("c", steady(3)), baseline("b", steady(3000));
  EXPECT_EQ(run_comparison(nothing, baseline, buffers, quiet_plan()).error().code(), "cheat/impossible_time");
  MeasurePlan plan = quiet_plan();
  plan.floor_us = 10;
  EXPECT_EQ(run_comparison(fast, baseline, buffers, plan).error().code(), "cheat/faster_than_roofline");
  plan.floor_us = 3.1;
  EXPECT_TRUE(run_comparison(fast, baseline, buffers, plan));
}

StartProgram start_with(const std::string& name, const std::function<LatencyOf()>& make_latency) {
  return [=]() -> Result<tl::expected<std::unique_ptr<Program>, Verdict>> {
    return std::make_unique<FakeProgram>(name, make_latency());
  };
}

TEST(FreshComparison, takes_new_workers_for_every_pair_and_warms_them) {
  int candidates = 0, baselines = 0;
  const auto settling = [](int sample) { return sample == 0 ? 9000.0 : 3000.0; };
  auto buffers = make_buffers();
  MeasurePlan plan = quiet_plan();
  plan.min_pairs = plan.max_pairs = 10;
  const auto timing =
      run_fresh_comparison(start_with("c", [&] { return ++candidates, settling; }),
                           start_with("b", [&] { return ++baselines, settling; }), buffers, plan);
  ASSERT_TRUE(timing && *timing);
  EXPECT_EQ(candidates, 11);  // one to calibrate
  EXPECT_EQ(baselines, 11);
  EXPECT_EQ((*timing)->latency_us, std::vector<double>(10, 3000));
  EXPECT_EQ((*timing)->binary_hash, "c");
  EXPECT_EQ((*timing)->baseline, "b");
}

TEST(FreshComparison, a_worker_that_does_not_start_is_an_error) {
  int left = 5;
  const StartProgram start = [&]() -> Result<tl::expected<std::unique_ptr<Program>, Verdict>> {
    if (left-- == 0) return fail("no process left");
    return std::make_unique<FakeProgram>("c", steady(3000));
  };
  auto buffers = make_buffers();
  const auto timing = run_fresh_comparison(start, start, buffers, quiet_plan());
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().message, "no process left");
}

// Noise as seen on shared machines: lognormal per sample, every twentieth sample 30 % slower, and a drift of
// both sides together. `gain`: true ratio. KW_TRIALS in the environment raises the number of trials.
struct Rates {
  double wins = 0, big_wins = 0, gave_up = 0;
};
Rates simulate(double gain, double noise, const MeasurePlan& base_plan, uint64_t seed) {
  const char* wanted = std::getenv("KW_TRIALS");
  const int trials = std::max(1000, wanted == nullptr ? 0 : std::atoi(wanted));
  int wins = 0, big_wins = 0, gave_up = 0;
  auto buffers = make_buffers();
  for (int trial = 0; trial < trials; ++trial) {
    Random random(seed, static_cast<uint64_t>(trial));
    double drift = 0;
    const auto draw = [&](double latency_us) {
      drift += 0.003 * random.normal();
      const double outlier = random.chance(0.05) ? 1.3 : 1.0;
      return latency_us * outlier * std::exp(noise * random.normal() + drift);
    };
    FakeProgram candidate("c", [&](int) { return draw(2500); });
    FakeProgram baseline("b", [&](int) { return draw(2500 * gain); });
    MeasurePlan plan = base_plan;
    plan.seed = random.next();
    const auto timing = run_comparison(candidate, baseline, buffers, plan);
    if (!timing) continue;
    const bool win = timing->ratio_low > 1;
    if (win) ++wins;
    if (win && timing->ratio > 1.01) ++big_wins;
    if (timing->note.find("stopped early") != std::string::npos) ++gave_up;
  }
  const auto rate = [trials](int count) { return static_cast<double>(count) / trials; };
  const Rates rates{rate(wins), rate(big_wins), rate(gave_up)};
  std::printf("gain %.2f noise %.3f trials %d: wins %.4f above 1 %% %.4f given up %.4f\n", gain, noise,
              trials, rates.wins, rates.big_wins, rates.gave_up);
  return rates;
}

TEST(ErrorRates, equal_kernels_win_in_at_most_one_of_a_hundred_trials) {
  EXPECT_LE(simulate(1.0, 0.02, quiet_plan(), 1).big_wins, 0.01);
  EXPECT_LE(simulate(1.0, 0.005, quiet_plan(), 2).big_wins, 0.01);
}

TEST(ErrorRates, a_planted_gain_of_three_percent_is_found) {
  EXPECT_GE(simulate(1.03, 0.02, quiet_plan(), 3).wins, 0.90);
  EXPECT_GE(simulate(1.03, 0.005, quiet_plan(), 4).wins, 0.90);
}

// Workers of one program that differ by 2 % for as long as they live, samples by 0.5 %.
Rates simulate_workers(double gain, bool fresh, uint64_t seed) {
  constexpr int kTrials = 1000, kPairs = 40;
  int wins = 0, big_wins = 0;
  auto buffers = make_buffers();
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(seed, static_cast<uint64_t>(trial));
    const auto worker_of = [&](double latency_us) {
      const double own_us = latency_us * std::exp(0.02 * random.normal());
      return [&random, own_us](int) { return own_us * std::exp(0.005 * random.normal()); };
    };
    const auto start_candidate = start_with("c", [&] { return worker_of(2500); });
    const auto start_baseline = start_with("b", [&] { return worker_of(2500 * gain); });
    MeasurePlan plan = quiet_plan();
    plan.seed = random.next();
    plan.min_pairs = plan.max_pairs = kPairs;
    auto candidate = start_candidate(), baseline = start_baseline();
    const auto timing = fresh ? *run_fresh_comparison(start_candidate, start_baseline, buffers, plan)
                              : run_comparison(***candidate, ***baseline, buffers, plan);
    const bool win = timing && timing->ratio_low > 1;
    wins += win;
    big_wins += win && timing->ratio > 1.01;
  }
  const auto rate = [](int count) { return static_cast<double>(count) / kTrials; };
  std::printf("gain %.2f, workers differ by 2 %%, %s: wins %.4f above 1 %% %.4f\n", gain,
              fresh ? "new ones for every pair" : "one a side", rate(wins), rate(big_wins));
  return {rate(wins), rate(big_wins), 0};
}

TEST(ErrorRates, workers_that_differ_fool_one_worker_a_side_but_not_new_ones) {
  EXPECT_GE(simulate_workers(1.0, false, 8).big_wins, 0.25);
  EXPECT_LE(simulate_workers(1.0, true, 9).big_wins, 0.01);
  EXPECT_GE(simulate_workers(1.03, true, 10).wins, 0.90);
}

TEST(ErrorRates, a_candidate_above_the_limit_is_rarely_given_up) {
  MeasurePlan plan = quiet_plan();
  plan.give_up_below = 0.97;
  EXPECT_LE(simulate(1.0, 0.02, plan, 5).gave_up, 0.002);
  EXPECT_LE(simulate(0.97, 0.02, plan, 6).gave_up, 0.03);
  EXPECT_GE(simulate(0.90, 0.02, plan, 7).gave_up, 0.90);
}

}  // namespace
}  // namespace kw
