#include "selftest/timed_bench.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(MostByChance, is_the_99_percent_quantile_of_the_binomial_distribution) {
  EXPECT_EQ(most_by_chance(1, 0.01), 0);    // P(0) = 0.99
  EXPECT_EQ(most_by_chance(2, 0.01), 1);    // P(0) = 0.9801
  EXPECT_EQ(most_by_chance(10, 0.5), 9);    // P(<= 8) = 0.9893, P(<= 9) = 0.9990
  EXPECT_EQ(most_by_chance(200, 0.01), 6);  // P(<= 5) = 0.9840, P(<= 6) = 0.9957
  EXPECT_EQ(most_by_chance(0, 0.01), 0);
}

}  // namespace
}  // namespace kw
