#include <gtest/gtest.h>

#include "problem/check.h"
#include "target/device.h"

namespace kw {
namespace {

Problem make_problem(Layout layout, Dtype dtype = Dtype::kF32) {
  Problem problem;
  problem.layout = layout;
  problem.dtype = dtype;
  problem.m = 128, problem.n = 256, problem.k = 512;
  return with_tight_strides(problem);
}

std::vector<Check> make(const Problem& problem, const LaunchRecord& launch) {
  auto checks = make_spread_checks(problem, launch, 11);
  EXPECT_TRUE(checks.has_value());
  return checks ? *checks : std::vector<Check>();
}

LaunchRecord make_launch(Layout layout, Dtype dtype = Dtype::kF32) {
  LaunchRecord launch;
  launch.layout = layout;
  launch.contract = {dtype, Dtype::kF32, dtype};
  return launch;
}

TEST(SpreadChecks, cross_every_boundary_in_every_operand_and_layout) {
  constexpr int64_t kBoundaries[] = {int64_t{1} << 30, int64_t{1} << 31, int64_t{1} << 32};
  for (const Layout layout : {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT}) {
    const auto checks = make(make_problem(layout), make_launch(layout));
    ASSERT_EQ(checks.size(), 4U);
    for (size_t operand = 0; operand < 3; ++operand)
      for (const int64_t boundary : kBoundaries) {
        bool crossed = false;  // elements on both sides of it in one row
        for (const Check& check : checks) {
          const Operand& seen = check.spread->operands[operand];
          for (int64_t row = 0; row < seen.rows; ++row)
            crossed |= row * seen.ld <= boundary - 1 && row * seen.ld + seen.cols > boundary + 1;
        }
        EXPECT_TRUE(crossed) << print_layout(layout) << " operand " << operand << " at " << boundary;
      }
    EXPECT_GT(checks.back().spread->problem.lda, int64_t{1} << 32);
  }
}

TEST(SpreadChecks, can_be_stored_and_cost_little) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBf16, Dtype::kF64}) {
    for (const Check& check : make(make_problem(Layout::kNT, dtype), make_launch(Layout::kNT, dtype))) {
      for (size_t i = 0; i < 3; ++i) {
        const Operand &stored = check.workload.operands[i], &seen = check.spread->operands[i];
        const int64_t size = dtype_bytes(dtype);
        EXPECT_EQ((seen.ld - stored.ld) * size % kSpreadBytes, 0);
        EXPECT_GE((stored.ld - stored.cols) * size, 2 * kSpreadBytes);
        EXPECT_EQ(stored.rows, seen.rows);
        EXPECT_EQ(stored.cols, seen.cols);
        EXPECT_LT(check.contents[i].size(), size_t{1} << 20);
      }
    }
  }
}

TEST(SpreadChecks, keep_to_the_domain) {
  LaunchRecord launch = make_launch(Layout::kNN);
  launch.domain = {
      {"lda", 0, INT64_MAX, 16}, {"ldb", 1, 4096, 1}, {"ldc", 1, INT32_MAX, 1}, {"k", 0, INT64_MAX, 8}};
  const auto checks = make(make_problem(Layout::kNN), launch);
  ASSERT_EQ(checks.size(), 4U);
  for (const Check& check : checks) {
    const Problem& seen = check.spread->problem;
    EXPECT_EQ(seen.lda % 16, 0);
    EXPECT_LE(seen.ldb, 4096);
    EXPECT_LE(seen.ldc, INT32_MAX);
    EXPECT_EQ(seen.k % 8, 0);
    EXPECT_GT(seen.lda, int64_t{1} << 29);
    EXPECT_EQ(check.workload.problem.ldb, seen.ldb);
  }
}

TEST(SpreadChecks, are_none_where_the_domain_allows_no_such_stride) {
  LaunchRecord launch = make_launch(Layout::kNN);
  for (const char* stride : {"lda", "ldb", "ldc"}) launch.domain.push_back({stride, 1, 1 << 20, 1});
  EXPECT_TRUE(make(make_problem(Layout::kNN), launch).empty());
  launch.domain = {{"m", 4096, INT64_MAX, 1}};
  EXPECT_TRUE(make(make_problem(Layout::kNN), launch).empty());
}

}  // namespace
}  // namespace kw
