// Peaks: positive and consistent; the loops do the work they claim.
#include "target/cpu/peak.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "target/cpu/facts.h"
#include "target/cpu/peak_kernel.h"

namespace kw {
namespace {

TEST(Peaks, are_positive_and_bandwidth_is_the_larger_when_measured) {
  const auto peaks = measure_cpu_peaks(1);
  ASSERT_TRUE(peaks) << peaks.error().message;
  EXPECT_GT(peaks->peak_gflops, 0);
  EXPECT_GT(peaks->copy_gbs, 0);
  EXPECT_GT(peaks->read_gbs, 0);
  EXPECT_EQ(peaks->bandwidth_gbs, std::max(peaks->copy_gbs, peaks->read_gbs));
}

TEST(Peaks, are_positive_on_all_cores) {
  const auto peaks = measure_cpu_peaks(static_cast<int>(find_usable_cpus().size()));
  ASSERT_TRUE(peaks) << peaks.error().message;
  EXPECT_GT(peaks->peak_gflops, 0);
  EXPECT_GT(peaks->bandwidth_gbs, 0);
}

TEST(Peaks, refuse_more_threads_than_cores) {
  const auto peaks = measure_cpu_peaks(static_cast<int>(find_usable_cpus().size()) + 1);
  ASSERT_FALSE(peaks);
  EXPECT_EQ(peaks.error().kind, ErrorKind::kUser);
}

TEST(PeakKernel, runs_at_least_the_flops_asked_for) {
  for (const std::string& isa : {std::string("none"), find_cpu_isa()}) {
    const double flops = run_multiply_adds(isa, 1e5);
    EXPECT_GE(flops, 1e5) << isa;
    EXPECT_LT(flops, 1.02e5) << isa;
  }
}

TEST(PeakKernel, reads_every_element_of_the_block) {
  std::vector<float> block(1024);
  std::iota(block.begin(), block.end(), 0.0f);
  EXPECT_EQ(read_block(block.data(), block.size() * sizeof(float)), 1023.0f * 1024 / 2);
  block[777] += 1;
  EXPECT_EQ(read_block(block.data(), block.size() * sizeof(float)), 1023.0f * 1024 / 2 + 1);
}

}  // namespace
}  // namespace kw
