// The cost model as proposers use it: prior, learning, robustness.
#include "learn/cost_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "schedule/fake_space_test.h"

namespace kw {
namespace {

ModelPoint describe(const FakeSpace& space, const std::string& key) {
  return {space.features(key), std::log(space.predict_us(key))};
}

std::vector<std::string> draw_keys(const FakeSpace& space, uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<std::string> keys;
  while (keys.size() < count) keys.push_back(space.draw(random));
  return keys;
}

// Spearman's rank correlation; ties are rare here and broken by position.
double correlate_ranks(const std::vector<double>& x, const std::vector<double>& y) {
  const auto rank = [](const std::vector<double>& values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<double>(i);
    return ranks;
  };
  const auto a = rank(x), b = rank(y);
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  const double n = static_cast<double>(a.size());
  return 1 - 6 * squares / (n * (n * n - 1));
}

TEST(CostModel, repeats_the_analytic_model_before_any_measurement) {
  const auto predictor = make_cost_model()->fit({}, {});
  EXPECT_DOUBLE_EQ(predictor->predict({{1, 2}, 3.5}).mean_log_us, 3.5);
  EXPECT_GT(predictor->predict({{1, 2}, 3.5}).spread_log_us, 0);
}

TEST(CostModel, ranks_unseen_schedules_better_than_the_analytic_model_after_60_measurements) {
  double learned_sum = 0, analytic_sum = 0;
  for (uint64_t landscape = 0; landscape < 5; ++landscape) {
    const FakeSpace space(landscape);
    std::vector<Observation> observations;
    for (const auto& key : draw_keys(space, 1, 60)) {
      observations.push_back({describe(space, key), std::log(space.time_us(key))});
    }
    std::vector<ModelPoint> unseen;
    std::vector<double> truth, analytic, learned;
    for (const auto& key : draw_keys(space, 2, 200)) {
      unseen.push_back(describe(space, key));
      truth.push_back(std::log(space.time_us(key)));
      analytic.push_back(unseen.back().prior_log_us);
    }
    const auto predictor = make_cost_model()->fit(observations, unseen);
    for (const auto& point : unseen) learned.push_back(predictor->predict(point).mean_log_us);
    learned_sum += correlate_ranks(learned, truth);
    analytic_sum += correlate_ranks(analytic, truth);
  }
  EXPECT_GT(learned_sum / 5, 0.75);
  EXPECT_GT(learned_sum, analytic_sum + 0.5);
}

TEST(CostModel, is_deterministic) {
  const FakeSpace space(3);
  std::vector<Observation> observations;
  for (const auto& key : draw_keys(space, 1, 30)) {
    observations.push_back({describe(space, key), std::log(space.time_us(key))});
  }
  const ModelPoint asked = describe(space, draw_keys(space, 2, 1)[0]);
  const auto first = make_cost_model()->fit(observations, {})->predict(asked);
  const auto second = make_cost_model()->fit(observations, {})->predict(asked);
  EXPECT_EQ(first.mean_log_us, second.mean_log_us);
  EXPECT_EQ(first.spread_log_us, second.spread_log_us);
}

TEST(CostModel, is_surer_where_it_believes_and_says_the_same) {
  const FakeSpace space(3);
  std::vector<Observation> observations;
  for (const auto& key : draw_keys(space, 1, 30)) {
    observations.push_back({describe(space, key), std::log(space.time_us(key))});
  }
  const ModelPoint asked = describe(space, draw_keys(space, 2, 1)[0]);
  const auto before = make_cost_model()->fit(observations, {});
  const auto after = before->believe(asked);
  EXPECT_LT(after->predict(asked).spread_log_us, 0.8 * before->predict(asked).spread_log_us);
  EXPECT_NEAR(after->predict(asked).mean_log_us, before->predict(asked).mean_log_us, 0.1);
  const auto prior = make_cost_model()->fit({}, {})->believe(asked);
  EXPECT_DOUBLE_EQ(prior->predict(asked).mean_log_us, asked.prior_log_us);
}

TEST(CostModel, learns_from_one_measurement_and_from_equal_ones) {
  const ModelPoint point = {{1, 1}, 2};
  const auto one = make_cost_model()->fit(std::vector<Observation>{{point, 5}}, {});
  EXPECT_NEAR(one->predict(point).mean_log_us, 5, 1e-6);
  const auto equal = make_cost_model()->fit(std::vector<Observation>(9, {point, 5}), {});
  EXPECT_NEAR(equal->predict(point).mean_log_us, 5, 1e-6);
  EXPECT_TRUE(std::isfinite(equal->predict({{7, -3}, 1}).spread_log_us));
}

TEST(CostModel, is_not_thrown_off_by_one_absurdly_slow_time) {
  const FakeSpace space(3);
  std::vector<Observation> observations;
  for (const auto& key : draw_keys(space, 1, 40)) {
    observations.push_back({describe(space, key), std::log(space.time_us(key))});
  }
  const ModelPoint asked = describe(space, draw_keys(space, 2, 1)[0]);
  const double before = make_cost_model()->fit(observations, {})->predict(asked).mean_log_us;
  observations.push_back({describe(space, draw_keys(space, 5, 1)[0]), 20});
  const double after = make_cost_model()->fit(observations, {})->predict(asked).mean_log_us;
  EXPECT_NEAR(after, before, 0.5);
}

TEST(CostModel, keeps_the_fastest_and_the_newest_of_a_long_history) {
  const FakeSpace space(3);
  std::vector<Observation> observations;
  for (const auto& key : draw_keys(space, 1, 700)) {
    observations.push_back({describe(space, key), std::log(space.time_us(key))});
  }
  const auto fastest = std::min_element(observations.begin(), observations.end(),
                                        [](auto& a, auto& b) { return a.log_us < b.log_us; });
  const auto predictor = make_cost_model()->fit(observations, {});
  EXPECT_NEAR(predictor->predict(fastest->point).mean_log_us, fastest->log_us, 0.25);
}

}  // namespace
}  // namespace kw
