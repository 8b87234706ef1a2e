// Numbers of search_curve by hand.
#include "learn/search_curve.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

using Times = std::vector<std::optional<double>>;
const Times kTable = {100, 103, 103.1, std::nullopt, 200};  // 100 and 103 lie within 3 % of the best

TEST(SearchCurve, counts_rows_within_the_margin) {
  EXPECT_EQ(*count_arrivals(kTable), 2u);
  EXPECT_EQ(*count_arrivals(kTable, 0), 1u);
  EXPECT_EQ(*count_arrivals(kTable, 1), 4u);
}

TEST(SearchCurve, counts_evaluations_up_to_the_first_that_arrives) {
  EXPECT_EQ(*count_evaluations(kTable, Times{200, std::nullopt, 103, 100}), 3u);
  EXPECT_EQ(*count_evaluations(kTable, Times{100}), 1u);
}

TEST(SearchCurve, counts_the_full_table_when_a_run_never_arrives) {
  EXPECT_EQ(*count_evaluations(kTable, Times{200, 103.1}), 5u);
  EXPECT_EQ(*count_evaluations(kTable, Times{}), 5u);
}

TEST(SearchCurve, refuses_a_table_without_times) {
  EXPECT_FALSE(count_arrivals(Times{std::nullopt, std::nullopt}).has_value());
  EXPECT_FALSE(count_evaluations(Times{}, Times{1}).has_value());
  EXPECT_FALSE(compare_with_random({}).has_value());
}

TEST(SearchCurve, knows_the_expectation_of_random_sampling) {
  EXPECT_DOUBLE_EQ(expect_random_evaluations(500, 1), 250.5);
  EXPECT_DOUBLE_EQ(expect_random_evaluations(5, 5), 1);
  // 3 rows, 2 good: first draw good with 2/3 (1 evaluation), else the second is (2): 4/3.
  EXPECT_DOUBLE_EQ(expect_random_evaluations(3, 2), 4.0 / 3);
}

TEST(SearchCurve, takes_the_middle) {
  EXPECT_DOUBLE_EQ(find_median({5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(find_median({4, 1, 3, 2}), 2.5);
}

TEST(SearchCurve, compares_means_of_runs_and_takes_the_median_over_tables) {
  // Table of 5 rows with 2 good ones: random needs 2. Runs need 1 and 3: mean 2, ratio 1.
  const SearchRuns even = {kTable, {Times{100}, Times{200, 103.1, 100}}};
  // One good row of 3: random needs 2. The run never arrives: 3, ratio 1.5.
  const SearchRuns lost = {Times{10, 20, 30}, {Times{20, 30}}};
  const SearchRuns quick = {Times{10, 20, 30}, {Times{10}}};  // ratio 0.5
  const auto comparison = compare_with_random(std::vector<SearchRuns>{even, lost, quick});
  ASSERT_TRUE(comparison.has_value());
  EXPECT_DOUBLE_EQ(comparison->tables[0].evaluations, 2);
  EXPECT_DOUBLE_EQ(comparison->tables[0].ratio, 1);
  EXPECT_DOUBLE_EQ(comparison->tables[1].ratio, 1.5);
  EXPECT_DOUBLE_EQ(comparison->tables[2].ratio, 0.5);
  EXPECT_DOUBLE_EQ(comparison->ratio, 1);
}

}  // namespace
}  // namespace kw
