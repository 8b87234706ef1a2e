#include <gtest/gtest.h>

#include <algorithm>

#include <set>

#include "problem/check.h"
#include "problem/workload.h"

namespace kw {
namespace {

Problem make_problem() {
  Problem problem;
  problem.layout = Layout::kNT;
  problem.m = 128, problem.n = 896, problem.k = 4864;
  return with_tight_strides(problem);
}

TEST(SampleDomain, gives_cheap_distinct_problems_of_the_same_kind) {
  const std::vector<Problem> samples = sample_domain(make_problem(), {}, {24, 32, 256}, 40, 1);
  ASSERT_EQ(samples.size(), 40U);
  std::set<std::string> keys;
  for (const Problem& sample : samples) {
    EXPECT_TRUE(check_problem(sample).has_value());
    EXPECT_EQ(sample.layout, Layout::kNT);
    EXPECT_EQ(sample.dtype, Dtype::kF32);
    EXPECT_LE(make_workload(sample).flops, 2e7);
    keys.insert(print_problem(sample));
  }
  EXPECT_EQ(keys.size(), samples.size());
}

TEST(SampleDomain, meets_every_kind_of_shape_within_a_few_samples) {
  const std::vector<Problem> samples = sample_domain(make_problem(), {}, {24, 32, 256}, 24, 1);
  const auto any = [&](const auto& holds) { return std::any_of(samples.begin(), samples.end(), holds); };
  EXPECT_TRUE(any([](const Problem& p) { return p.m == 25; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.m == 23; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.n == 31; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.n == 33; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.k == 257; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.k == 255; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.k == 0 && p.m > 0 && p.n > 0; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.m == 0 || p.n == 0; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.m == 1 && p.n == 1 && p.k == 1; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.m > 100 * p.n; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.n > 100 * p.m; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.beta == 0; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.beta != 0 && p.beta != 1; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.alpha == 0; }));
  EXPECT_TRUE(any([](const Problem& p) { return p.lda > p.k && p.ldb > p.k && p.ldc > p.n; }));
}

TEST(SampleDomain, meets_every_remainder_modulo_16_with_products_to_lose) {
  const std::vector<Problem> samples = sample_domain(make_problem(), {}, {6, 16, 256}, kDomainShapes, 1);
  std::set<int64_t> m, n, k;
  for (const Problem& sample : samples) {
    if (sample.alpha == 0 || std::min({sample.m, sample.n, sample.k}) < 16) continue;
    m.insert(sample.m % 16), n.insert(sample.n % 16), k.insert(sample.k % 16);
  }
  EXPECT_EQ(m.size(), 16U);
  EXPECT_EQ(n.size(), 16U);
  EXPECT_EQ(k.size(), 16U);
}

TEST(SampleDomain, has_each_case_that_blas_defines_without_products) {
  const std::vector<Problem> samples = sample_domain(make_problem(), {}, {6, 16, 256}, kDomainShapes, 1);
  for (const bool no_depth : {true, false})
    for (const bool no_beta : {true, false})
      EXPECT_TRUE(std::any_of(samples.begin(), samples.end(),
                              [&](const Problem& p) {
                                const bool no_products = no_depth ? p.k == 0 : p.k > 0 && p.alpha == 0;
                                return no_products && p.m > 0 && p.n > 0 && (p.beta == 0) == no_beta;
                              }))
          << (no_depth ? "k" : "alpha") << " = 0, beta " << (no_beta ? "= 0" : "not 0");
}

TEST(SampleDomain, stays_inside_the_launch_record) {
  LaunchRecord launch;
  launch.domain = {
      {"m", 8, 512, 8}, {"n", 16, INT64_MAX, 16}, {"k", 1, INT64_MAX, 1}, {"ldc", 0, INT64_MAX, 4}};
  const std::vector<Problem> samples = sample_domain(make_problem(), launch, {24, 32, 256}, 20, 3);
  EXPECT_EQ(samples.size(), 20U);
  for (const Problem& sample : samples)
    EXPECT_FALSE(find_domain_violation(launch, make_variables(make_workload(sample), 1)));
}

TEST(SampleDomain, gives_what_there_is_when_the_domain_is_small) {
  LaunchRecord launch;
  launch.domain = {{"m", 1, 1, 1}, {"n", 7, 7, 1}, {"k", 3, 4, 1}};
  EXPECT_EQ(sample_domain(make_problem(), launch, {}, 20, 3).size(), 2U);
  launch.domain = {{"m", 1 << 22, INT64_MAX, 1}, {"n", 1024, INT64_MAX, 1}};
  EXPECT_TRUE(sample_domain(make_problem(), launch, {}, 20, 3).empty());
}

TEST(SampleDomain, repeats_for_the_same_seed) {
  EXPECT_EQ(sample_domain(make_problem(), {}, {}, 60, 9), sample_domain(make_problem(), {}, {}, 60, 9));
  EXPECT_NE(sample_domain(make_problem(), {}, {}, 60, 9), sample_domain(make_problem(), {}, {}, 60, 10));
}

}  // namespace
}  // namespace kw
