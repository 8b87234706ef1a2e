// Numbers small enough to check by hand, and coverage by simulation where a formula is not enough.
#include "base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"

namespace kw {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Median, takes_middle_or_mean_of_two_middles) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(median(std::vector<double>{1, kNan, 2})));
}

TEST(Quantile, interpolates_between_order_statistics) {
  const std::vector<double> values{40, 10, 30, 20, 50};
  EXPECT_EQ(quantile(values, 0), 10);
  EXPECT_EQ(quantile(values, 1), 50);
  EXPECT_EQ(quantile(values, 0.25), 20);
  EXPECT_DOUBLE_EQ(quantile(values, 0.99), 49.6);
}

TEST(GeometricMean, refuses_what_has_no_logarithm) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{0.5, 2}), 1);
  EXPECT_TRUE(std::isnan(geometric_mean(std::vector<double>{1, 0})));
  EXPECT_TRUE(std::isnan(geometric_mean(std::vector<double>{1, -1})));
  EXPECT_TRUE(std::isnan(geometric_mean({})));
}

TEST(BootstrapMedian, has_no_width_when_all_ratios_agree) {
  const auto interval = bootstrap_median_interval(std::vector<double>(9, 1.25), 0.95, 1000, 1);
  EXPECT_EQ(interval.low, 1.25);
  EXPECT_EQ(interval.high, 1.25);
}

// Three values: the resampled median is the smallest with probability P(Bin(3, 1/3) >= 2) = 7/27, and so is
// the largest; so a 40 % interval lies on the middle value and a 60 % interval spans all.
TEST(BootstrapMedian, follows_the_known_distribution_of_three_values) {
  const std::vector<double> values{3, 1, 2};
  const auto narrow = bootstrap_median_interval(values, 0.40, 20000, 2);
  EXPECT_EQ(narrow.low, 2);
  EXPECT_EQ(narrow.high, 2);
  const auto wide = bootstrap_median_interval(values, 0.60, 20000, 2);
  EXPECT_EQ(wide.low, 1);
  EXPECT_EQ(wide.high, 3);
}

// Of 16 values the 3rd and the 14th enclose the median with 1 - 2 P(Bin(16, 1/2) <= 2) = 0.9958, the 4th and
// the 13th with 0.9787.
TEST(MedianOrder, takes_the_ranks_of_the_binomial) {
  std::vector<double> values(16);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(median_order_interval(values, 0.995).low, 3);
  EXPECT_EQ(median_order_interval(values, 0.995).high, 14);
  EXPECT_EQ(median_order_interval(values, 0.9786).low, 4);
  EXPECT_EQ(median_order_interval(values, 0.9997).low, 1);
  values.resize(4000);
  std::iota(values.begin(), values.end(), 1);  // 2^-4000 is no double; 2000 less 2.807 standard deviations
  EXPECT_NEAR(median_order_interval(values, 0.995).low, 2000 - 2.807 * std::sqrt(1000.0), 1.5);
  EXPECT_EQ(median_order_interval(std::vector<double>{2, 1}, 0.9).high, 2);
  EXPECT_EQ(median_order_interval(std::vector<double>{7}, 0.5).low, 7);
  EXPECT_TRUE(std::isnan(median_order_interval(std::vector<double>{1, kNan}, 0.9).low));
}

TEST(BootstrapMedian, repeats_for_the_same_seed_and_passes_nan_on) {
  const std::vector<double> values{1.0, 1.1, 1.2, 1.3, 1.4, 1.5};
  const auto first = bootstrap_median_interval(values, 0.95, 1000, 7);
  const auto again = bootstrap_median_interval(values, 0.95, 1000, 7);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_TRUE(std::isnan(bootstrap_median_interval(std::vector<double>{1, kNan}, 0.95, 100, 1).low));
}

TEST(BootstrapMedian, covers_the_true_median_about_as_often_as_it_says) {
  Random random(11);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> ratios(24);
    for (double& ratio : ratios) ratio = std::exp(0.03 * random.normal());
    const auto interval = bootstrap_median_interval(ratios, 0.95, 1000, random.next());
    if (interval.low <= 1 && 1 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, kTrials * 92 / 100);
  EXPECT_LE(covered, kTrials * 98 / 100);
}

TEST(BootstrapGeomean, brackets_the_geometric_mean) {
  std::vector<double> ratios;
  for (int i = 0; i < 30; ++i) ratios.push_back(i % 2 ? 2.0 : 0.5);
  const auto interval = bootstrap_geomean_interval(ratios, 0.95, 2000, 3);
  // Standard error of the mean of 30 values of +-ln 2 is 0.1266; 1.96 of them reach exp(+-0.248).
  EXPECT_NEAR(interval.low, std::exp(-0.248), 0.04);
  EXPECT_NEAR(interval.high, std::exp(0.248), 0.06);
}

TEST(BootstrapMeanRatio, keeps_pairs_together) {
  // Whatever pairs are drawn, the ratio is exactly 2.
  const auto interval = bootstrap_mean_ratio_interval(std::vector<double>{2, 20, 200},
                                                      std::vector<double>{1, 10, 100}, 0.95, 500, 4);
  EXPECT_DOUBLE_EQ(interval.low, 2);
  EXPECT_DOUBLE_EQ(interval.high, 2);
}

TEST(StudentT, agrees_with_printed_tables) {
  EXPECT_NEAR(student_t_quantile(0.95, 1), 12.706, 0.001);
  EXPECT_NEAR(student_t_quantile(0.95, 2), 4.303, 0.001);
  EXPECT_NEAR(student_t_quantile(0.99, 1), 63.657, 0.001);
  EXPECT_NEAR(student_t_quantile(0.95, 10), 2.228, 0.001);
  EXPECT_NEAR(student_t_quantile(0.99, 7), 3.499, 0.001);
}

TEST(LogTInterval, is_wide_for_two_ratios_and_absent_for_one) {
  // Logs 0.01 and 0.03: mean 0.02, standard error 0.01, t = 12.706.
  const auto interval = log_t_interval(std::vector<double>{std::exp(0.01), std::exp(0.03)}, 0.95);
  EXPECT_NEAR(std::log(interval.low), 0.02 - 0.12706, 1e-5);
  EXPECT_NEAR(std::log(interval.high), 0.02 + 0.12706, 1e-5);
  EXPECT_TRUE(std::isnan(log_t_interval(std::vector<double>{1.5}, 0.95).low));
}

// Of the 8 sign patterns of three equal distances only +++ and --- reach the seen sum: p = 2/8.
TEST(SignFlip, is_exact_for_few_ratios) {
  EXPECT_EQ(sign_flip_p_value(std::vector<double>{2, 2, 2}, 1, 1000, 1), 0.25);
  EXPECT_EQ(sign_flip_p_value(std::vector<double>{2, 0.5}, 1, 1000, 1), 1);
  EXPECT_EQ(sign_flip_p_value(std::vector<double>(10, 0.9), 0.99, 2000, 1), 2.0 / 1024);
  EXPECT_EQ(sign_flip_p_value(std::vector<double>(10, 0.99), 0.99, 2000, 1), 1);
  EXPECT_EQ(sign_flip_p_value({}, 1, 1000, 1), 1);
}

TEST(SignFlip, samples_patterns_when_there_are_too_many) {
  EXPECT_DOUBLE_EQ(sign_flip_p_value(std::vector<double>(100, 1.1), 1, 9999, 5), 1e-4);
  std::vector<double> balanced(40, 1.1);
  for (size_t i = 0; i < balanced.size(); i += 2) balanced[i] = 1 / 1.1;
  EXPECT_EQ(sign_flip_p_value(balanced, 1, 999, 5), 1);
  EXPECT_TRUE(std::isnan(sign_flip_p_value(std::vector<double>{1, kNan}, 1, 999, 5)));
}

// alpha / 3 = 0.0167 passes 0.01; alpha / 2 = 0.025 passes 0.02; alpha / 1 = 0.05 stops 0.06.
TEST(Holm, steps_down_and_stops_at_the_first_failure) {
  EXPECT_EQ(holm_rejections(std::vector<double>{0.06, 0.01, 0.02}, 0.05),
            (std::vector<bool>{false, true, true}));
  EXPECT_EQ(holm_rejections(std::vector<double>{0.02, 0.02, 0.03}, 0.05),
            (std::vector<bool>{false, false, false}));
  EXPECT_EQ(holm_rejections(std::vector<double>{kNan, 0.01}, 0.05), (std::vector<bool>{false, true}));
  EXPECT_TRUE(holm_rejections({}, 0.05).empty());
}

TEST(SlowMode, is_found_when_two_modes_stand_apart) {
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) values.push_back(100 + 0.2 * i);
  for (int i = 0; i < 4; ++i) values.push_back(130 + 0.2 * i);
  EXPECT_EQ(find_slow_mode_share(values), 0.25);
}

TEST(SlowMode, is_not_seen_in_one_mode_or_one_outlier) {
  std::vector<double> even;
  for (int i = 0; i < 32; ++i) even.push_back(100 + i);
  EXPECT_EQ(find_slow_mode_share(even), 0);
  std::vector<double> outlier(15, 100);
  outlier.push_back(200);
  EXPECT_EQ(find_slow_mode_share(outlier), 0);
  EXPECT_EQ(find_slow_mode_share(std::vector<double>{1, 1, 2, 2}), 0);
  EXPECT_EQ(find_slow_mode_share(std::vector<double>(10, 5.0)), 0);
}

TEST(SlowMode, is_rarely_seen_in_plain_noise) {
  Random random(5);
  int seen = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> values(32);
    for (double& value : values) value = std::exp(0.02 * random.normal());
    if (find_slow_mode_share(values) > 0) ++seen;
  }
  EXPECT_LE(seen, 2);
}

}  // namespace
}  // namespace kw
