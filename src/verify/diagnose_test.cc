// Names of wrong outputs: each fault is put into a float64 product by hand, the output is compared, and the
// name must be the fault's.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.h"
#include "verify/element.h"
#include "verify/verify.h"

namespace kw {
namespace {

constexpr int64_t kM = 24, kN = 33, kK = 68;

// One element as a kernel with the fault computes it.
using Element = std::function<double(int64_t i, int64_t j)>;

class Case {
 public:
  Case(double alpha, double beta) : alpha_(alpha), beta_(beta) {
    Problem problem;
    problem.m = kM, problem.n = kN, problem.k = kK;
    problem.alpha = alpha, problem.beta = beta;
    problem = with_tight_strides(problem);
    Workload& workload = check_.workload;
    workload.problem = problem;
    workload.operands = {{"a", Dtype::kF32, kM, kK, kK, Access::kIn},
                         {"b", Dtype::kF32, kK, kN, kN, Access::kIn},
                         {"c", Dtype::kF32, kM, kN, kN, beta == 0 ? Access::kOut : Access::kInOut}};
    Random random(7);
    for (const Operand& operand : workload.operands) {
      auto& bytes = check_.contents.emplace_back(static_cast<size_t>(operand.span_bytes()));
      for (int64_t at = 0; at < operand.span(); ++at) store_element(Dtype::kF32, bytes, at, random.normal());
    }
    check_.output = 2;
    Patch patch{0, 0, kM, kN, {}, {}};
    for (int64_t i = 0; i < kM; ++i)
      for (int64_t j = 0; j < kN; ++j) {
        patch.value.push_back(finish(sum(i, j), i, j));
        patch.bound.push_back(1e-5);
      }
    check_.patches.push_back(std::move(patch));
  }

  double a(int64_t i, int64_t p) const { return load_element(Dtype::kF32, check_.contents[0], i * kK + p); }
  double b(int64_t p, int64_t j) const { return load_element(Dtype::kF32, check_.contents[1], p * kN + j); }
  double c(int64_t i, int64_t j) const { return load_element(Dtype::kF32, check_.contents[2], i * kN + j); }
  double sum(int64_t i, int64_t j) const {
    return add(0, kK, [&](int64_t p) { return a(i, p) * b(p, j); });
  }
  static double add(int64_t first, int64_t last, const std::function<double(int64_t)>& product) {
    double total = 0;
    for (int64_t p = first; p < last; ++p) total += product(p);
    return total;
  }
  double finish(double total, int64_t i, int64_t j) const {
    return (alpha_ == 0 ? 0 : alpha_ * total) + (beta_ == 0 ? 0 : beta_ * c(i, j));
  }

  std::string name(const Element& element) const {
    std::vector<std::byte> output(check_.contents[2].size());
    for (int64_t i = 0; i < kM; ++i)
      for (int64_t j = 0; j < kN; ++j) store_element(Dtype::kF32, output, i * kN + j, element(i, j));
    const auto verdict = compare_output(check_, output);
    return verdict ? verdict->code() : "pass";
  }

 private:
  double alpha_, beta_;
  Check check_;
};

double to_bf16(double value) { return round_to_dtype(Dtype::kBf16, value); }
double to_f16(double value) { return round_to_dtype(Dtype::kF16, value); }

TEST(NameError, passes_the_right_values) {
  const Case one(-0.75, 0.625);
  EXPECT_EQ(one.name([&](int64_t i, int64_t j) { return one.finish(one.sum(i, j), i, j); }), "pass");
}

TEST(NameError, tells_what_was_rounded) {
  const Case one(-0.75, 0.625);
  const auto name = [&](const std::function<double(double, double)>& product) {
    return one.name([&](int64_t i, int64_t j) {
      return one.finish(Case::add(0, kK, [&](int64_t p) { return product(one.a(i, p), one.b(p, j)); }), i, j);
    });
  };
  EXPECT_EQ(name([](double a, double b) { return to_bf16(a) * b; }), "precision_downgrade/bf16_inputs");
  EXPECT_EQ(name([](double a, double b) { return a * to_f16(b); }), "precision_downgrade/f16_inputs");
  EXPECT_EQ(name([](double a, double b) { return to_f16(a * b); }), "precision_downgrade/f16_products");
  EXPECT_EQ(name([](double a, double b) { return to_bf16(a * b); }), "precision_downgrade/bf16_products");
  const auto parts = [&](int64_t i, int64_t j) {
    double total = 0;
    for (int64_t part = 0; part < 4; ++part)
      total += to_bf16(
          Case::add(17 * part, 17 * (part + 1), [&](int64_t p) { return one.a(i, p) * one.b(p, j); }));
    return one.finish(total, i, j);
  };
  EXPECT_EQ(one.name(parts), "precision_downgrade/bf16_partials");
  const auto rounded_c = [&](int64_t i, int64_t j) {
    return -0.75 * one.sum(i, j) + 0.625 * to_bf16(one.c(i, j));
  };
  EXPECT_EQ(one.name(rounded_c), "precision_downgrade/bf16_inputs");
}

TEST(NameError, finds_products_missing_at_equal_distances) {
  const Case one(1, 0);
  const auto name = [&](const std::function<bool(int64_t)>& counts) {
    return one.name([&](int64_t i, int64_t j) {
      return Case::add(0, kK, [&](int64_t p) { return counts(p) ? one.a(i, p) * one.b(p, j) : 0; });
    });
  };
  EXPECT_EQ(name([](int64_t p) { return p % 2 == 0; }), "wrong_result/k_gap");
  EXPECT_EQ(name([](int64_t p) { return p % 4 < 2; }), "wrong_result/k_gap");
  EXPECT_EQ(name([](int64_t p) { return p % 32 != 31; }), "wrong_result/k_gap");
  EXPECT_EQ(name([](int64_t p) { return p % 2 == 0 || p >= 64; }), "wrong_result/k_gap");
  EXPECT_EQ(name([](int64_t p) { return p < 64; }), "wrong_result/k_tail");
}

TEST(NameError, tells_a_copy_from_a_shift) {
  const Case one(1, 0);
  const auto right = [&](int64_t i, int64_t j) { return one.finish(one.sum(i, j), i, j); };
  EXPECT_EQ(one.name([&](int64_t i, int64_t j) { return right(i, j >= 16 && j < 24 ? j - 16 : j); }),
            "wrong_result/duplicated");
  EXPECT_EQ(one.name([&](int64_t i, int64_t j) { return right(i, (j + 1) % kN); }), "wrong_result/shifted");
  EXPECT_EQ(one.name([&](int64_t i, int64_t j) { return right((i ^ 8) < kM ? i ^ 8 : i, j); }),
            "wrong_result/swapped_tile");
}

TEST(NameError, finds_the_neighbour_of_c) {
  const Case one(0.5, 1.5);
  EXPECT_EQ(one.name([&](int64_t i, int64_t j) {
    return 0.5 * one.sum(i, j) + 1.5 * one.c(i, j + 1 < kN ? j + 1 : j);
  }),
            "wrong_result/shifted_c");
}

TEST(NameError, says_that_alpha_zero_did_not_hide_a_nan) {
  const Case one(0, 0.5);
  EXPECT_EQ(one.name([&](int64_t i, int64_t j) { return i == 3 ? std::nan("") : 0.5 * one.c(i, j); }),
            "wrong_result/alpha_zero");
  const Case other(1, 0.5);
  EXPECT_EQ(other.name([&](int64_t i, int64_t j) {
    return i == 3 ? std::nan("") : other.finish(other.sum(i, j), i, j);
  }),
            "wrong_result/nan");
}

}  // namespace
}  // namespace kw
