#include "ship/bench_summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kw {
namespace {

TEST(Ratios, give_geomean_median_losses_and_bands) {
  // 2, 0.5, 1, 4: geomean 4^(1/4), median 1.5, one of four below 1.
  const auto summary =
      summarize_ratios({{"a", 2, 1024}, {"b", 0.5, 1500}, {"c", 1, 2048}, {"d", 4, 0}}, Loss::kBelowOne);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->cases, 4);
  EXPECT_DOUBLE_EQ(summary->geomean, std::pow(4.0, 0.25));
  EXPECT_DOUBLE_EQ(summary->median, 1.5);
  EXPECT_EQ(summary->share_lost, 0.25);
  EXPECT_LT(summary->geomean_interval.low, summary->geomean);
  EXPECT_GT(summary->geomean_interval.high, summary->geomean);
  EXPECT_EQ(summary->worst[0].name, "b");
  EXPECT_EQ(summary->worst[1].name, "c");
  ASSERT_EQ(summary->bands.size(), 3u);
  EXPECT_EQ(summary->bands[0].log2_flops, -1);
  EXPECT_EQ(summary->bands[1].log2_flops, 10);
  EXPECT_DOUBLE_EQ(summary->bands[1].geomean, 1);
  EXPECT_EQ(summary->bands[1].share_lost, 0.5);
  EXPECT_EQ(summary->bands[2].share_lost, 0);
}

TEST(Ratios, are_lost_above_one_where_the_caller_says_so) {
  const auto summary = summarize_ratios({{"a", 1, 8}, {"b", 1.5, 8}, {"c", 1.25, 8}}, Loss::kAboveOne);
  EXPECT_DOUBLE_EQ(summary->share_lost, 2.0 / 3);
  EXPECT_EQ(summary->worst[0].name, "b");
  EXPECT_EQ(summary->worst[2].name, "a");
}

TEST(Ratios, show_the_ten_worst_and_are_absent_for_nothing) {
  std::vector<RatioCase> cases;
  for (int i = 0; i < 25; ++i) cases.push_back({std::to_string(i), 1 + 0.01 * ((i * 7) % 25), 100});
  const auto summary = summarize_ratios(cases, Loss::kBelowOne);
  ASSERT_EQ(summary->worst.size(), 10u);
  for (size_t i = 0; i < 10; ++i)
    EXPECT_DOUBLE_EQ(summary->worst[i].ratio, 1 + 0.01 * static_cast<double>(i));
  EXPECT_FALSE(summarize_ratios({}, Loss::kBelowOne));
}

BenchCase make_case(const std::string& shape, const std::string& layout, double bar_us, double heuristic_us,
                    double cublas_us) {
  BenchCase one{.flops = 1024, .shape = shape};
  one.row.problem = shape + " " + layout;
  one.row.bar = BenchFigure{"cublaslt_w32_0", "", bar_us};
  one.row.heuristic_us = heuristic_us;
  one.row.cublas_us = cublas_us;
  return one;
}

BenchCase with_ours(BenchCase one, double us, double ratio) {
  one.row.ours = BenchOurs{"hash", us, ratio, ratio, ratio, {}};
  return one;
}

TEST(BenchSummary, of_baselines_alone_compares_them_with_the_best) {
  std::vector<BenchCase> cases = {make_case("s", "nn", 10, 10, 40), make_case("s", "nt", 10, 40, 10)};
  cases[0].row.agreement = 0.01;
  cases[1].row.agreement = 0.03;
  cases[1].row.refused = "cublaslt_w32_1 wrong_result/zeros";
  cases.push_back(BenchCase{.flops = 8, .shape = "t"});  // nothing was right
  const auto summaries = summarize_bench(cases);
  ASSERT_EQ(summaries.size(), 1u);
  const BenchSummary& summary = summaries[0];
  EXPECT_EQ(summary.cases, 3);
  EXPECT_EQ(summary.unmeasured, 1);
  EXPECT_EQ(summary.with_refused, 1);
  EXPECT_DOUBLE_EQ(*summary.agreement_median, 0.02);
  EXPECT_EQ(*summary.agreement_worst, 0.03);
  EXPECT_FALSE(summary.same_layout);
  EXPECT_FALSE(summary.best_layout);
  EXPECT_EQ(summary.heuristic_over_best->cases, 2);
  EXPECT_DOUBLE_EQ(summary.heuristic_over_best->geomean, 2);  // 1 and 4
  EXPECT_EQ(summary.heuristic_over_best->share_lost, 0.5);
  EXPECT_EQ(summary.heuristic_over_best->worst[0].name, "s nt");
  EXPECT_EQ(summary.cublas_over_best->worst[0].name, "s nn");
}

TEST(BenchSummary, best_layout_takes_the_better_one_on_both_sides) {
  // s: nn bar 10, ours 8 (1.25); nt bar 6, ours 12 (0.5). The better layouts: 6 / 8.
  // t: only the vendor: 1.00 in both views.
  const auto summaries =
      summarize_bench({with_ours(make_case("s", "nn", 10, 10, 10), 8, 1.25),
                       with_ours(make_case("s", "nt", 6, 6, 6), 12, 0.5), make_case("t", "nn", 5, 5, 5)});
  const BenchSummary& summary = summaries[0];
  ASSERT_TRUE(summary.same_layout);
  EXPECT_EQ(summary.same_layout->cases, 3);
  EXPECT_DOUBLE_EQ(summary.same_layout->median, 1);
  EXPECT_DOUBLE_EQ(summary.same_layout->share_lost, 1.0 / 3);
  EXPECT_DOUBLE_EQ(summary.same_layout->geomean, std::cbrt(1.25 * 0.5));
  ASSERT_TRUE(summary.best_layout);
  EXPECT_EQ(summary.best_layout->cases, 2);
  EXPECT_DOUBLE_EQ(summary.best_layout->worst[0].ratio, 0.75);
  EXPECT_EQ(summary.best_layout->worst[0].name, "s");
  EXPECT_DOUBLE_EQ(summary.best_layout->worst[1].ratio, 1);
}

TEST(BenchSummary, keeps_modes_apart) {
  std::vector<BenchCase> cases = {make_case("s", "nn", 1, 1, 1), make_case("s", "nn", 2, 2, 2)};
  cases[1].row.mode = BenchMode::kServer;
  const auto summaries = summarize_bench(cases);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].mode, BenchMode::kOffline);
  EXPECT_EQ(summaries[1].mode, BenchMode::kServer);
  EXPECT_EQ(summaries[1].cases, 1);
}

}  // namespace
}  // namespace kw
