#include "ship/summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kw {
namespace {

GridCase make_case(const std::string& name, double ratio, double flops, bool vendor = false) {
  GridCase one;
  one.decision.problem = name;
  one.decision.ratio = ratio;
  one.decision.binary_hash = vendor ? "" : "hash";
  one.flops = flops;
  return one;
}

TEST(Summary, counts_vendor_cases_as_one) {
  // Ratios 2, 0.5, 1 (vendor), 4: geomean 4^(1/4), median 1.5.
  const auto summary = summarize({make_case("a", 2, 1024), make_case("b", 0.5, 1500),
                                  make_case("c", 3, 2048, true), make_case("d", 4, 0)});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->cases, 4);
  EXPECT_DOUBLE_EQ(summary->geomean, std::pow(4.0, 0.25));
  EXPECT_DOUBLE_EQ(summary->median, 1.5);
  EXPECT_EQ(summary->share_below_one, 0.25);
  EXPECT_EQ(summary->vendor_share, 0.25);
  EXPECT_LT(summary->geomean_interval.low, summary->geomean);
  EXPECT_GT(summary->geomean_interval.high, summary->geomean);
  ASSERT_EQ(summary->worst.size(), 4U);
  EXPECT_EQ(summary->worst[0].problem, "b");
  EXPECT_EQ(summary->worst[1].problem, "c");
  ASSERT_EQ(summary->bands.size(), 3U);
  EXPECT_EQ(summary->bands[0].log2_flops, -1);
  EXPECT_EQ(summary->bands[1].log2_flops, 10);
  EXPECT_DOUBLE_EQ(summary->bands[1].geomean, 1);
  EXPECT_EQ(summary->bands[1].share_below_one, 0.5);
  EXPECT_EQ(summary->bands[2].vendor_share, 1);
}

TEST(Summary, shows_the_ten_worst_and_is_absent_for_nothing) {
  std::vector<GridCase> cases;
  for (int i = 0; i < 25; ++i) cases.push_back(make_case(std::to_string(i), 1 + 0.01 * ((i * 7) % 25), 100));
  const auto summary = summarize(cases);
  ASSERT_EQ(summary->worst.size(), 10U);
  for (size_t i = 0; i < 10; ++i)
    EXPECT_DOUBLE_EQ(summary->worst[i].ratio, 1 + 0.01 * static_cast<double>(i));
  EXPECT_FALSE(summarize({}));
}

}  // namespace
}  // namespace kw
