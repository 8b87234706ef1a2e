// Honest kernels in several orders of summation pass every family; kernels with a known fault fail those
// families that exist for it.
#include "problem/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "problem/integer_plan.h"
#include "problem/rounding.h"
#include "problem/workload.h"
#include "record/element.h"

namespace kw {
namespace {

using testing::HasSubstr;

// Elements of op(A), op(B) and C of a check, in float.
struct Inputs {
  explicit Inputs(const Check& check) : problem(check.workload.problem), check_(check) {}
  float a(int64_t i, int64_t p) const {
    const bool t = problem.layout == Layout::kTN || problem.layout == Layout::kTT;
    return get(0, t ? p * problem.lda + i : i * problem.lda + p);
  }
  float b(int64_t p, int64_t j) const {
    const bool t = problem.layout == Layout::kNT || problem.layout == Layout::kTT;
    return get(1, t ? j * problem.ldb + p : p * problem.ldb + j);
  }
  float c(int64_t i, int64_t j) const { return get(2, i * problem.ldc + j); }
  Problem problem;

 private:
  float get(int operand, int64_t index) const {
    float value;
    std::memcpy(&value, check_.contents[operand].data() + index * 4, 4);
    return value;
  }
  const Check& check_;
};

using Kernel = std::function<float(const Inputs&, int64_t i, int64_t j)>;

// Right where |difference| <= bound, with NaN for NaN and the same infinity for an infinity.
bool matches(double got, double value, double bound) {
  if (std::isnan(value)) return std::isnan(got);
  if (std::isinf(value)) return got == value;
  return std::fabs(got - value) <= bound;
}

bool passes(const Check& check, const Kernel& kernel) {
  const Inputs inputs(check);
  for (const Patch& patch : check.patches)
    for (int64_t i = 0; i < patch.rows; ++i)
      for (int64_t j = 0; j < patch.cols; ++j) {
        const auto at = static_cast<size_t>(i * patch.cols + j);
        if (!matches(kernel(inputs, patch.row + i, patch.col + j), patch.value[at], patch.bound[at]))
          return false;
      }
  return true;
}

float scale(const Inputs& in, float sum, int64_t i, int64_t j) {
  const float product = static_cast<float>(in.problem.alpha) * sum;
  return in.problem.beta == 0 ? product : product + static_cast<float>(in.problem.beta) * in.c(i, j);
}

float plain_order(const Inputs& in, int64_t i, int64_t j) {
  float sum = 0;
  for (int64_t p = 0; p < in.problem.k; ++p) {
    const volatile float product = in.a(i, p) * in.b(p, j);  // volatile: no contraction into an FMA
    sum += product;
  }
  return scale(in, sum, i, j);
}

float fma_order(const Inputs& in, int64_t i, int64_t j) {
  float sum = 0;
  for (int64_t p = in.problem.k - 1; p >= 0; --p) sum = std::fma(in.a(i, p), in.b(p, j), sum);
  return scale(in, sum, i, j);
}

float pairwise_sum(const Inputs& in, int64_t i, int64_t j, int64_t begin, int64_t end) {
  if (end - begin == 0) return 0;
  if (end - begin == 1) return in.a(i, begin) * in.b(begin, j);
  const int64_t middle = begin + (end - begin) / 2;
  return pairwise_sum(in, i, j, begin, middle) + pairwise_sum(in, i, j, middle, end);
}

float pairwise_order(const Inputs& in, int64_t i, int64_t j) {
  return scale(in, pairwise_sum(in, i, j, 0, in.problem.k), i, j);
}

// alpha folded into A while packing, C scaled first, partial sums of 64 added to C.
float blocked_order(const Inputs& in, int64_t i, int64_t j) {
  const auto alpha = static_cast<float>(in.problem.alpha);
  float c = in.problem.beta == 0 ? 0 : static_cast<float>(in.problem.beta) * in.c(i, j);
  for (int64_t p0 = 0; p0 < in.problem.k; p0 += 64) {
    float lanes[8] = {};
    for (int64_t p = p0; p < std::min(p0 + 64, in.problem.k); ++p) {
      const float a = alpha == 1 ? in.a(i, p) : alpha * in.a(i, p);
      lanes[p % 8] = std::fma(a, in.b(p, j), lanes[p % 8]);
    }
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    c += sum;
  }
  return c;
}

float round_float(Dtype dtype, float value) { return static_cast<float>(round_to_dtype(dtype, value)); }

float with_rounded_inputs(Dtype dtype, const Inputs& in, int64_t i, int64_t j) {
  float sum = 0;
  for (int64_t p = 0; p < in.problem.k; ++p)
    sum = std::fma(round_float(dtype, in.a(i, p)), round_float(dtype, in.b(p, j)), sum);
  return scale(in, sum, i, j);
}

float f16_accumulator(const Inputs& in, int64_t i, int64_t j) {
  float sum = 0;
  for (int64_t p = 0; p < in.problem.k; ++p)
    sum = round_float(Dtype::kF16, std::fma(in.a(i, p), in.b(p, j), sum));
  return scale(in, sum, i, j);
}

float dropped_last(const Inputs& in, int64_t i, int64_t j) {
  float sum = 0;
  for (int64_t p = 0; p + 1 < in.problem.k; ++p) sum = std::fma(in.a(i, p), in.b(p, j), sum);
  return scale(in, sum, i, j);
}

Problem make_problem(Layout layout, int64_t m, int64_t n, int64_t k, double alpha, double beta) {
  Problem problem;
  problem.layout = layout;
  problem.m = m, problem.n = n, problem.k = k;
  problem.alpha = alpha, problem.beta = beta;
  problem = with_tight_strides(problem);
  problem.lda += 2, problem.ldb += 5, problem.ldc += 1;
  return problem;
}

std::vector<Check> make(const Problem& problem, uint64_t seed, CheckPlan plan = {}) {
  Result<std::vector<Check>> checks = make_checks(problem, plan, seed);
  EXPECT_TRUE(checks.has_value()) << (checks ? "" : checks.error().message);
  return checks ? std::move(*checks) : std::vector<Check>{};
}

std::set<std::string> find_catching(const std::vector<Check>& checks, const Kernel& kernel) {
  std::set<std::string> families;
  for (const Check& check : checks)
    if (!passes(check, kernel)) families.insert(check.family);
  return families;
}

struct Case {
  Layout layout;
  int64_t m, n, k;
  double alpha, beta;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {Layout::kNN, 5, 7, 1, 1, 0},      {Layout::kNT, 17, 33, 2, 1, 0},
      {Layout::kTN, 16, 19, 31, 1, 1},   {Layout::kTT, 13, 11, 64, -0.5, 2},
      {Layout::kNT, 23, 9, 257, 0.1, 0}, {Layout::kNN, 12, 21, 1000, 1, 0},
      {Layout::kTN, 8, 9, 5000, 1, 0},   {Layout::kNT, 9, 8, 5000, 0.3, 0.7},
      {Layout::kNN, 1, 40, 300, 1, 0},   {Layout::kNT, 40, 1, 300, 1, 0.25},
      {Layout::kNN, 1, 1, 77, 1, 0},     {Layout::kTT, 3, 3, 0, 1, 0.5},
      {Layout::kNN, 6, 6, 20000, 1, 1}};
  return all;
}

TEST(Check, accepts_honest_kernels_in_every_order) {
  const std::pair<const char*, Kernel> honest[] = {
      {"plain", plain_order}, {"fma", fma_order}, {"pairwise", pairwise_order}, {"blocked", blocked_order}};
  for (uint64_t seed = 1; seed <= 3; ++seed)
    for (const Case& c : cases()) {
      const std::vector<Check> checks = make(make_problem(c.layout, c.m, c.n, c.k, c.alpha, c.beta), seed);
      ASSERT_EQ(checks.size(), check_families().size());
      for (const auto& [name, kernel] : honest)
        EXPECT_EQ(find_catching(checks, kernel), std::set<std::string>{})
            << name << " k " << c.k << " alpha " << c.alpha << " beta " << c.beta << " seed " << seed;
    }
}

TEST(Check, catches_inputs_cut_to_a_narrower_type) {
  for (const int64_t k : {1, 17, 300, 5000, 20000}) {
    const std::vector<Check> checks = make(make_problem(Layout::kNT, 9, 14, k, 1, 0), 11);
    for (const Dtype narrow : {Dtype::kBf16, Dtype::kF16}) {
      const auto caught = find_catching(checks, [&](const Inputs& in, int64_t i, int64_t j) {
        return with_rounded_inputs(narrow, in, i, j);
      });
      EXPECT_TRUE(caught.contains("exact_integers") && caught.contains("permutation"))
          << print_dtype(narrow) << k;
      // Random data shows it as long as the bound, which grows like k^1.5, lies below the cut's error, like
      // k^0.5.
      EXPECT_TRUE(caught.contains("normal") || k > (narrow == Dtype::kBf16 ? 5000 : 300))
          << print_dtype(narrow) << k;
    }
  }
}

TEST(Check, catches_a_half_accumulator) {
  for (const int64_t k : {3, 50, 1000, 5000}) {
    const auto caught = find_catching(make(make_problem(Layout::kNN, 9, 14, k, 1, 0), 12), f16_accumulator);
    for (const char* family : {"normal", "positive", "exact_integers", "sticky", "cancel"})
      EXPECT_TRUE(caught.contains(family)) << family << " k " << k;
  }
}

TEST(Check, catches_a_dropped_last_product_in_every_family_but_selection) {
  for (const int64_t k : {1, 8, 255, 5000}) {
    auto caught = find_catching(make(make_problem(Layout::kTN, 11, 14, k, 1, 0), 13), dropped_last);
    caught.insert(
        {"permutation", "nan_inf"});  // the last product may be selected by no row, or lie in a NaN's row
    EXPECT_EQ(caught.size(), check_families().size()) << "k " << k;
  }
}

TEST(Check, catches_zeros_and_untouched_output_in_every_family) {
  for (const Case& c : cases()) {
    if (c.k == 0) continue;
    const std::vector<Check> checks = make(make_problem(c.layout, c.m, c.n, c.k, c.alpha, c.beta), 14);
    EXPECT_EQ(find_catching(checks, [](const Inputs&, int64_t, int64_t) { return 0.0F; }).size(),
              checks.size())
        << c.k;
    EXPECT_EQ(find_catching(checks, [](const Inputs& in, int64_t i, int64_t j) { return in.c(i, j); }).size(),
              checks.size())
        << c.k;
  }
}

TEST(Check, catches_an_ignored_beta_in_every_family) {
  for (const int64_t k : {1, 100, 5000}) {
    const std::vector<Check> checks = make(make_problem(Layout::kNN, 9, 14, k, 1, 1), 15);
    const auto caught = find_catching(checks, [](const Inputs& in, int64_t i, int64_t j) {
      Inputs without = in;
      without.problem.beta = 0;
      return fma_order(without, i, j);
    });
    EXPECT_EQ(caught.size(), checks.size()) << k;
  }
}

TEST(Check, catches_c_read_although_beta_is_zero) {
  const auto caught = find_catching(
      make(make_problem(Layout::kNN, 9, 14, 20, 1, 0), 16),
      [](const Inputs& in, int64_t i, int64_t j) { return fma_order(in, i, j) + 0.0F * in.c(i, j); });
  EXPECT_TRUE(caught.contains("uniform") && caught.contains("exact_integers"));
}

TEST(Check, catches_nan_that_is_skipped) {
  const auto caught = find_catching(make(make_problem(Layout::kNN, 9, 14, 20, 1, 0), 17),
                                    [](const Inputs& in, int64_t i, int64_t j) {
                                      float sum = 0;
                                      for (int64_t p = 0; p < in.problem.k; ++p) {
                                        const float product = in.a(i, p) * in.b(p, j);
                                        if (std::isfinite(product)) sum += product;
                                      }
                                      return sum;
                                    });
  EXPECT_EQ(caught, (std::set<std::string>{"nan_inf"}));
}

TEST(Check, leaves_a_finite_output_beside_nan_and_inf) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 2}, {2, 1}, {2, 2}, {3, 3}, {4, 4}, {1, 9}}) {
    CheckPlan plan;
    plan.families = {"nan_inf"};
    const std::vector<Check> checks = make(make_problem(Layout::kNN, m, n, 5, 1, 1), 18, plan);
    const std::vector<double>& values = checks.at(0).patches.at(0).value;
    EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
        << m << n;
    EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) << m << n;
  }
}

TEST(Check, repeats_for_the_same_seed_and_differs_for_another) {
  const Problem problem = make_problem(Layout::kNT, 40, 50, 60, 1, 0.5);
  const std::vector<Check> first = make(problem, 21), again = make(problem, 21), other = make(problem, 22);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].contents, again[i].contents) << first[i].family;
    EXPECT_EQ(first[i].patches[0].bound, again[i].patches[0].bound);
    EXPECT_NE(first[i].contents, other[i].contents) << first[i].family;
  }
}

TEST(Check, samples_a_huge_problem_and_still_catches_its_last_column) {
  CheckPlan plan;
  plan.max_reference_flops = 1e6;
  const Problem problem = make_problem(Layout::kNT, 301, 402, 203, 1, 0);
  for (const Check& check : make(problem, 23, plan)) {
    EXPECT_GT(check.patches.size(), 2U);
    EXPECT_TRUE(passes(check, fma_order)) << check.family;
    EXPECT_FALSE(passes(check, [](const Inputs& in, int64_t i, int64_t j) {
      return j + 1 == in.problem.n ? 0.0F : fma_order(in, i, j);
    })) << check.family;
  }
}

TEST(Check, keeps_the_strongest_families_when_memory_is_short) {
  CheckPlan plan;
  plan.max_bytes = 1;
  const std::vector<Check> checks = make(make_problem(Layout::kNN, 20, 20, 20, 1, 0), 24, plan);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].family, "normal");
  EXPECT_EQ(checks[1].family, "exact_integers");
}

TEST(Check, gives_no_patches_for_an_empty_output) {
  for (const Check& check : make(make_problem(Layout::kNN, 0, 5, 7, 1, 0), 25))
    EXPECT_TRUE(check.patches.empty());
}

TEST(Check, refuses_unknown_families_and_other_types) {
  CheckPlan plan;
  plan.families = {"gaussian"};
  const auto unknown = make_checks(make_problem(Layout::kNN, 2, 2, 2, 1, 0), plan, 1);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUser);
  EXPECT_THAT(unknown.error().message, HasSubstr("\"gaussian\""));
  EXPECT_THAT(unknown.error().message, HasSubstr("exact_integers"));
  plan = {};
  plan.contract.input = Dtype::kF16;
  EXPECT_FALSE(make_checks(make_problem(Layout::kNN, 2, 2, 2, 1, 0), plan, 1).has_value());
}

// f16 inputs and output with f32 accumulation, and a f16 accumulator where f16 is declared.
TEST(Check, bounds_follow_the_declared_types) {
  for (const Dtype accumulate : {Dtype::kF32, Dtype::kF16}) {
    Problem problem = make_problem(Layout::kNN, 9, 11, 150, 1, 0);
    problem.dtype = Dtype::kF16;
    CheckPlan plan;
    plan.contract = {Dtype::kF16, accumulate, Dtype::kF16};
    for (const Check& check : make(problem, 26, plan)) {
      const Patch& patch = check.patches.at(0);
      for (int64_t i = 0; i < 9; ++i)
        for (int64_t j = 0; j < 11; ++j) {
          float sum = 0;
          for (int64_t p = 0; p < 150; ++p)
            sum = round_float(
                accumulate,
                std::fma(
                    static_cast<float>(load_element(Dtype::kF16, check.contents[0], i * problem.lda + p)),
                    static_cast<float>(load_element(Dtype::kF16, check.contents[1], p * problem.ldb + j)),
                    sum));
          const auto at = static_cast<size_t>(i * 11 + j);
          ASSERT_TRUE(matches(round_float(Dtype::kF16, sum), patch.value[at], patch.bound[at]))
              << check.family << " " << print_dtype(accumulate);
        }
    }
  }
}

TEST(Rounding, has_hand_checkable_numbers) {
  EXPECT_NEAR(accumulated_roundoff(1, Dtype::kF32), 4 * 0x1p-24, 1e-13);      // k + 3 roundings
  EXPECT_NEAR(accumulated_roundoff(9997, Dtype::kF32), 600 * 0x1p-24, 1e-8);  // 6 sqrt(10,000)
  EXPECT_NEAR(accumulated_roundoff(2045, Dtype::kF16), M_E - 1, 1e-3);        // (1 + 1/2048)^2048 - 1
}

TEST(IntegerPlan, demands_equality_only_where_every_sum_is_exact) {
  const Contract contract;
  EXPECT_TRUE(plan_integers(make_problem(Layout::kNN, 1, 1, 5000, 1, 0), contract, 5000).exact);
  EXPECT_TRUE(plan_integers(make_problem(Layout::kNN, 1, 1, 64, -0.5, 2), contract, 64).exact);
  EXPECT_FALSE(plan_integers(make_problem(Layout::kNN, 1, 1, 64, 0.1, 0), contract, 64).exact);
  EXPECT_FALSE(plan_integers(make_problem(Layout::kNN, 1, 1, 1, 1, 0), contract, int64_t{1} << 25).exact);
  const IntegerPlan plan = plan_integers(make_problem(Layout::kNN, 1, 1, 5000, 1, 0), contract, 5000);
  EXPECT_EQ(plan.small, 8);
  EXPECT_EQ(plan.wide, 8191);
}

}  // namespace
}  // namespace kw
