// Gaussian process: hand values, interpolation, uncertainty, choice of inputs that matter.
#include "learn/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace kw {
namespace {

TEST(GaussianProcess, shrinks_a_single_row_by_its_noise) {
  // One row: mean = target / (1 + noise) at the row, 0 far away; signal variance from its closed form.
  const std::vector<double> target = {2};
  const GaussianProcess process = GaussianProcess::fit({{0}}, target);
  const double noise = process.shape().noise;
  EXPECT_NEAR(process.predict(std::vector<double>{0}).mean, 2 / (1 + noise), 1e-6);
  EXPECT_NEAR(process.predict(std::vector<double>{1e3}).mean, 0, 1e-6);
  const double signal_variance = (4 / (1 + noise) + 0.1) / 2;
  EXPECT_NEAR(process.predict(std::vector<double>{1e3}).deviation, std::sqrt(signal_variance), 1e-6);
}

TEST(GaussianProcess, follows_a_smooth_function_and_is_unsure_away_from_rows) {
  std::vector<Row> rows;
  std::vector<double> targets;
  for (int i = 0; i <= 12; ++i) {
    rows.push_back({i / 4.0});
    targets.push_back(std::sin(2 * i / 4.0));
  }
  const GaussianProcess process = GaussianProcess::fit(rows, targets);
  for (double x : {0.6, 1.1, 1.9, 2.6})
    EXPECT_NEAR(process.predict(std::vector<double>{x}).mean, std::sin(2 * x), 0.05);
  EXPECT_GT(process.predict(std::vector<double>{6}).deviation,
            5 * process.predict(std::vector<double>{1.5}).deviation);
}

TEST(GaussianProcess, finds_the_input_that_matters) {
  Random random(4);
  std::vector<Row> rows;
  std::vector<double> targets;
  for (int i = 0; i < 50; ++i) {
    rows.push_back({random.normal(), random.normal(), random.normal()});
    targets.push_back(std::sin(2 * rows.back()[1]));
  }
  const GaussianProcess process = GaussianProcess::fit(rows, targets);
  EXPECT_GT(process.shape().weight[1], 10 * process.shape().weight[0]);
  EXPECT_GT(process.shape().weight[1], 10 * process.shape().weight[2]);
}

TEST(GaussianProcess, stands_equal_rows_with_different_targets) {
  std::vector<Row> rows(20, Row{1, 2});
  std::vector<double> targets(20);
  for (size_t i = 0; i < 20; ++i) targets[i] = i % 2 == 0 ? 1 : 3;
  const GaussianProcess process = GaussianProcess::fit(rows, targets);
  const double mean = process.predict(Row{1, 2}).mean;
  EXPECT_GT(mean, 1.5);
  EXPECT_LT(mean, 2.1);
}

}  // namespace
}  // namespace kw
