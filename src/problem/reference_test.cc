#include "problem/reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "problem/sampling.h"
#include "problem/workload.h"
#include "record/element.h"

namespace kw {
namespace {

std::vector<std::vector<std::byte>> draw_contents(const Workload& workload, uint64_t seed) {
  std::vector<std::vector<std::byte>> contents;
  for (const Operand& operand : workload.operands) {
    Random random(seed++);
    std::vector<std::byte> bytes(static_cast<size_t>(operand.span_bytes()));
    for (int64_t i = 0; i < operand.span(); ++i) {
      const double value = random.normal();
      store_elements(operand.dtype, bytes, i, std::span(&value, 1));
    }
    contents.push_back(std::move(bytes));
  }
  return contents;
}

long double naive_sum(const Workload& workload, const std::vector<std::vector<std::byte>>& contents,
                      int64_t i, int64_t j, bool absolute) {
  const Problem& p = workload.problem;
  const bool ta = p.layout == Layout::kTN || p.layout == Layout::kTT;
  const bool tb = p.layout == Layout::kNT || p.layout == Layout::kTT;
  long double sum = 0;
  for (int64_t q = 0; q < p.k; ++q) {
    const long double a = load_element(p.dtype, contents[0], ta ? q * p.lda + i : i * p.lda + q);
    const long double b = load_element(p.dtype, contents[1], tb ? j * p.ldb + q : q * p.ldb + j);
    sum += absolute ? std::fabs(a) * std::fabs(b) : a * b;
  }
  return sum;
}

Problem make_problem(Layout layout, Dtype dtype, int64_t m, int64_t n, int64_t k) {
  Problem problem;
  problem.layout = layout;
  problem.dtype = dtype;
  problem.m = m, problem.n = n, problem.k = k;
  problem = with_tight_strides(problem);
  problem.lda += 3, problem.ldb += 1, problem.ldc += 2;
  return problem;
}

TEST(Reference, equals_naive_long_double_in_every_layout_and_type) {
  for (const Layout layout : {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT}) {
    for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBf16, Dtype::kF64}) {
      for (const auto& [m, n, k] :
           {std::array<int64_t, 3>{1, 1, 1}, {9, 17, 3}, {67, 19, 259}, {3, 261, 31}}) {
        const Workload workload = make_workload(make_problem(layout, dtype, m, n, k));
        const auto contents = draw_contents(workload, 7);
        const Sums sums = compute_sums(workload, contents, {0, 0, m, n}, true);
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            const auto at = static_cast<size_t>(i * n + j);
            ASSERT_NEAR(sums.value[at], naive_sum(workload, contents, i, j, false), 1e-12);
            ASSERT_NEAR(sums.magnitude[at], naive_sum(workload, contents, i, j, true), 1e-12);
          }
        }
      }
    }
  }
}

TEST(Reference, does_not_depend_on_the_rectangle_or_the_split) {
  const Workload workload = make_workload(make_problem(Layout::kNT, Dtype::kF32, 150, 140, 300));
  const auto contents = draw_contents(workload, 3);
  const Sums all = compute_sums(workload, contents, {0, 0, 150, 140}, false);
  const Rectangle part{37, 11, 70, 100};
  const Sums some = compute_sums(workload, contents, part, false);
  EXPECT_TRUE(some.magnitude.empty());
  for (int64_t i = 0; i < part.rows; ++i)
    for (int64_t j = 0; j < part.cols; ++j)
      ASSERT_EQ(some.value[i * part.cols + j], all.value[(part.row + i) * 140 + part.col + j]);
}

TEST(Sampling, covers_all_of_a_small_output) {
  Random random(1);
  EXPECT_EQ(plan_rectangles(100, 200, 300, 2e9, random), (std::vector<Rectangle>{{0, 0, 100, 200}}));
  EXPECT_TRUE(plan_rectangles(0, 5, 5, 2e9, random).empty());
}

void expect_legal_plan(int64_t m, int64_t n, int64_t k, double max_flops) {
  Random random(5);
  const std::vector<Rectangle> plan = plan_rectangles(m, n, k, max_flops, random);
  bool last_row = false, last_col = false;
  double elements = 0;
  for (const Rectangle& r : plan) {
    ASSERT_TRUE(r.row >= 0 && r.col >= 0 && r.rows >= 1 && r.cols >= 1 && r.row + r.rows <= m &&
                r.col + r.cols <= n);
    last_row |= r.row + r.rows == m && r.col + r.cols == n;
    last_col |= r.col + r.cols == n;
    elements += static_cast<double>(r.elements());
  }
  EXPECT_TRUE(last_row && last_col) << m << "x" << n << "x" << k;
  EXPECT_LE(elements * 2 * static_cast<double>(k), std::max(max_flops, 32.0 * static_cast<double>(k)));
  EXPECT_LE(elements, static_cast<double>(kMaxReferenceElements));
}

TEST(Sampling, stays_within_limits_and_reaches_the_last_row_and_column) {
  expect_legal_plan(4096, 4096, 4096, 2e9);
  expect_legal_plan(16, 151936, 896, 2e9);
  expect_legal_plan(151936, 1, 2'000'000, 2e9);
  expect_legal_plan(30'000, 30'000, 1, 2e9);    // bounded by memory, not by flops
  expect_legal_plan(3, 3, 1'000'000'000, 2e9);  // less than one element a quarter
}

}  // namespace
}  // namespace kw
