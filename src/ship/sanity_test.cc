#include "ship/sanity.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kw {
namespace {

DeviceFacts make_device(double peak_gflops) {
  DeviceFacts device;
  device.peak_gflops = peak_gflops;
  return device;
}

PublishedTime make_time(int64_t m, int64_t n, int64_t k, double median_us, const std::string& who = "ours") {
  Problem problem;
  problem.m = m, problem.n = n, problem.k = k;
  return {with_tight_strides(problem), who, median_us, 2.0 * static_cast<double>(m * n * k)};
}

TEST(Sanity, a_time_below_the_peak_is_impossible) {
  const PublishedTime time = make_time(100, 100, 100, 17.9);  // 2 MFLOP at 100 GFLOP/s: 20 us
  const auto oddities = find_oddities(make_device(100), {time});
  ASSERT_EQ(oddities.size(), 1u);
  EXPECT_TRUE(oddities[0].impossible);
  EXPECT_NE(oddities[0].text.find("20 us"), std::string::npos) << oddities[0].text;
  EXPECT_TRUE(find_oddities(make_device(100), {make_time(100, 100, 100, 18.1)}).empty());
}

TEST(Sanity, makes_no_claim_without_a_measured_peak) {
  EXPECT_TRUE(find_oddities(make_device(0), {make_time(100, 100, 100, 1e-3)}).empty());
}

TEST(Sanity, a_time_that_is_no_number_is_impossible) {
  for (const double us : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_EQ(find_oddities(make_device(0), {make_time(8, 8, 8, us)}).size(), 1u) << us;
}

TEST(Sanity, more_time_for_less_work_is_worth_a_look) {
  const auto oddities =
      find_oddities(make_device(0), {make_time(255, 64, 64, 30), make_time(256, 64, 64, 20)});
  ASSERT_EQ(oddities.size(), 1u);
  EXPECT_FALSE(oddities[0].impossible);
  EXPECT_NE(oddities[0].text.find("255x64x64"), std::string::npos);
  EXPECT_NE(oddities[0].text.find("256x64x64"), std::string::npos);
}

TEST(Sanity, compares_only_what_is_of_one_kind) {
  PublishedTime transposed = make_time(256, 64, 64, 20);
  transposed.problem.layout = Layout::kNT;
  const auto times = {make_time(255, 64, 64, 30), transposed, make_time(256, 64, 64, 20, "onednn"),
                      make_time(100, 100, 64, 40)};  // not larger in every size
  EXPECT_TRUE(find_oddities(make_device(0), times).empty());
}

TEST(Sanity, takes_both_sides_of_a_decision) {
  Decision decision;
  decision.problem = print_problem(make_time(8, 8, 8, 1).problem);
  decision.baseline = "onednn";
  decision.baseline_median_us = 3;
  std::vector<PublishedTime> times;
  add_times(decision, 1024, times);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].who, "onednn");
  decision.binary_hash = "abc";
  decision.median_us = 2;
  add_times(decision, 1024, times);
  EXPECT_EQ(times.size(), 3u);
}

}  // namespace
}  // namespace kw
