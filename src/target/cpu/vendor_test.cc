// Vendor routines against a float64 product: four layouts, odd shapes, pitched rows, alpha and beta, odd
// addresses. A vendor that is not on this machine is skipped and shown as skipped.
#include "target/cpu/vendor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/random.h"

namespace kw {
namespace {

constexpr float kGap = -7777.0f;  // lies where no element is

Workload make_workload(const Problem& problem) {
  const bool a_transposed = problem.layout == Layout::kTN || problem.layout == Layout::kTT;
  const bool b_transposed = problem.layout == Layout::kNT || problem.layout == Layout::kTT;
  Workload workload;
  workload.problem = problem;
  workload.operands = {{"a", Dtype::kF32, a_transposed ? problem.k : problem.m,
                        a_transposed ? problem.m : problem.k, problem.lda, Access::kIn},
                       {"b", Dtype::kF32, b_transposed ? problem.n : problem.k,
                        b_transposed ? problem.k : problem.n, problem.ldb, Access::kIn},
                       {"c", Dtype::kF32, problem.m, problem.n, problem.ldc, Access::kInOut}};
  return workload;
}

Problem make_problem(Layout layout, int64_t m, int64_t n, int64_t k, double alpha = 1, double beta = 0,
                     int64_t pitch = 0) {
  Problem problem{.layout = layout, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta};
  problem = with_tight_strides(problem);
  problem.lda += pitch;
  problem.ldb += 2 * pitch;
  problem.ldc += pitch;
  return problem;
}

// One operand set; data starts one float after an aligned address, so that no vendor may count on alignment.
struct Set {
  std::vector<float> memory[3];
  float* at(int operand) { return memory[operand].data() + 1; }
  std::vector<void*> pointers() { return {at(0), at(1), at(2)}; }
};

Set make_set(const Workload& workload, uint64_t seed) {
  Set set;
  for (int i = 0; i < 3; ++i) {
    const Operand& operand = workload.operands[static_cast<size_t>(i)];
    Random random(seed, static_cast<uint64_t>(i));
    set.memory[i].assign(static_cast<size_t>(operand.span()) + 2, kGap);
    for (int64_t row = 0; row < operand.rows; ++row) {
      for (int64_t col = 0; col < operand.cols; ++col) {
        set.at(i)[row * operand.ld + col] = static_cast<float>(random.normal());
      }
    }
  }
  return set;
}

// Every element of C within (k + 4) roundings of |alpha| |A||B| + |beta C|, in any order of summation, with
// or without fused multiply-add (Higham, gamma_n); every gap as it was.
void expect_right(const Problem& problem, Set& before, Set& after) {
  const bool a_transposed = problem.layout == Layout::kTN || problem.layout == Layout::kTT;
  const bool b_transposed = problem.layout == Layout::kNT || problem.layout == Layout::kTT;
  const double unit = std::ldexp(1.0, -24), steps = static_cast<double>(problem.k) + 4;
  const double gamma = steps * unit / (1 - steps * unit);
  int wrong = 0;
  for (int64_t i = 0; i < problem.m; ++i) {
    for (int64_t j = 0; j < problem.n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t p = 0; p < problem.k; ++p) {
        const double a = before.at(0)[a_transposed ? p * problem.lda + i : i * problem.lda + p];
        const double b = before.at(1)[b_transposed ? j * problem.ldb + p : p * problem.ldb + j];
        sum += a * b;
        magnitude += std::abs(a * b);
      }
      const double old = problem.beta == 0 ? 0 : problem.beta * before.at(2)[i * problem.ldc + j];
      const double want = problem.alpha * sum + old;
      const double bound = gamma * (std::abs(problem.alpha) * magnitude + std::abs(old));
      const double got = after.at(2)[i * problem.ldc + j];
      const bool ok = std::abs(got - want) <= bound;
      if (!ok && ++wrong <= 3)
        ADD_FAILURE() << "c(" << i << "," << j << ") = " << got << " want " << want << " bound " << bound;
    }
    for (int64_t j = problem.n; problem.n > 0 && j < problem.ldc && i + 1 < problem.m; ++j) {
      if (after.at(2)[i * problem.ldc + j] != kGap) ADD_FAILURE() << "gap behind row " << i << " overwritten";
    }
  }
  EXPECT_EQ(wrong, 0) << print_problem(problem);
  EXPECT_EQ(after.memory[2].front(), kGap);
  EXPECT_EQ(after.memory[2].back(), kGap);
  EXPECT_EQ(before.memory[0], after.memory[0]);
  EXPECT_EQ(before.memory[1], after.memory[1]);
}

void expect_vendor_computes(const std::string& name, const Problem& problem, int threads = 1) {
  SCOPED_TRACE(name + " " + print_problem(problem));
  const Workload workload = make_workload(problem);
  Set before = make_set(workload, 42), after = before;
  const std::vector<std::vector<void*>> sets = {after.pointers()};
  auto routine = open_vendor(name, workload, threads, sets);
  ASSERT_TRUE(routine) << routine.error().message;
  EXPECT_FALSE((*routine)->algorithm().empty());
  (*routine)->call(0);
  expect_right(problem, before, after);
}

class EachVendor : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const VendorInfo& info : find_vendors()) {
      if (info.name == GetParam() && !info.missing.empty()) GTEST_SKIP() << info.name << ": " << info.missing;
    }
  }
};

constexpr Layout kLayouts[] = {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT};
constexpr int64_t kShapes[][3] = {{1, 1, 1},   {2, 3, 5},    {1, 37, 129}, {37, 1, 129},   {17, 16, 15},
                                  {45, 45, 1}, {33, 65, 31}, {7, 129, 64}, {129, 67, 101}, {257, 130, 51}};

TEST_P(EachVendor, computes_layouts_shapes_strides_and_scalars_or_refuses_with_a_reason) {
  int computed = 0;
  for (Layout layout : kLayouts) {
    for (const auto& [m, n, k] : kShapes) {
      for (const auto& [alpha, beta] :
           {std::pair{1.0, 0.0}, {1.0, 1.0}, {1.5, 0.0}, {-0.75, 0.5}, {1.0, -2.0}}) {
        for (int64_t pitch : {0, 3}) {
          const Problem problem = make_problem(layout, m, n, k, alpha, beta, pitch);
          if (const auto refusal = find_vendor_refusal(GetParam(), make_workload(problem))) {
            EXPECT_GT(refusal->size(), 10u);
            EXPECT_EQ(GetParam(), "libxsmm") << "only LIBXSMM may refuse these: " << *refusal;
          } else {
            expect_vendor_computes(GetParam(), problem);
            ++computed;
          }
        }
      }
    }
  }
  EXPECT_GE(computed, 80);
}

TEST_P(EachVendor, ignores_what_c_held_when_beta_is_zero) {
  const Problem problem = make_problem(Layout::kNN, 19, 23, 29);
  const Workload workload = make_workload(problem);
  Set before = make_set(workload, 1), after = before;
  for (int64_t i = 0; i < problem.m * problem.ldc; ++i)
    after.at(2)[i] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<void*>> sets = {after.pointers()};
  auto routine = open_vendor(GetParam(), workload, 1, sets);
  ASSERT_TRUE(routine) << routine.error().message;
  (*routine)->call(0);
  expect_right(problem, before, after);
}

TEST_P(EachVendor, writes_only_the_set_that_is_called) {
  const Problem problem = make_problem(Layout::kNN, 21, 34, 13);
  const Workload workload = make_workload(problem);
  Set first = make_set(workload, 1), second = make_set(workload, 2);
  Set first_before = first, second_before = second;
  const std::vector<std::vector<void*>> sets = {first.pointers(), second.pointers()};
  auto routine = open_vendor(GetParam(), workload, 1, sets);
  ASSERT_TRUE(routine) << routine.error().message;
  (*routine)->call(1);
  EXPECT_EQ(first.memory[2], first_before.memory[2]);
  expect_right(problem, second_before, second);
  (*routine)->call(0);
  expect_right(problem, first_before, first);
}

TEST_P(EachVendor, computes_larger_and_longer_products) {
  expect_vendor_computes(GetParam(), make_problem(Layout::kNN, 301, 211, 303, 1, 1, 5));
  expect_vendor_computes(GetParam(), make_problem(Layout::kTN, 3, 5, 70001));
}

TEST_P(EachVendor, computes_with_two_threads) {
  expect_vendor_computes(GetParam(), make_problem(Layout::kNN, 100, 110, 120), 2);
}

INSTANTIATE_TEST_SUITE_P(Vendors, EachVendor, testing::Values("openblas", "onednn", "libxsmm"),
                         [](const auto& vendor) { return vendor.param; });

std::string get_refusal(const std::string& name, const Problem& problem) {
  return find_vendor_refusal(name, make_workload(problem)).value_or("");
}

TEST(VendorRefusal, gives_the_reason) {
  const Problem plain = make_problem(Layout::kNN, 8, 8, 8);
  Problem other = plain;
  other.op = "attention";
  EXPECT_NE(get_refusal("openblas", other).find("attention"), std::string::npos);
  other = plain;
  other.dtype = Dtype::kF64;
  EXPECT_NE(get_refusal("onednn", other).find("f64"), std::string::npos);
  other = plain;
  other.ldc = int64_t{1} << 31;
  EXPECT_NE(get_refusal("openblas", other).find("ldc"), std::string::npos);
  EXPECT_NE(get_refusal("mkl", plain).find("mkl"), std::string::npos);
  EXPECT_NE(get_refusal("onednn", make_problem(Layout::kNN, 8, 8, 0)).find("empty"), std::string::npos);
  EXPECT_NE(get_refusal("onednn", make_problem(Layout::kNN, 8, 8, 8, 0, 1)).find("alpha"), std::string::npos);
  EXPECT_NE(get_refusal("libxsmm", make_problem(Layout::kNT, 8, 8, 8)).find("nt"), std::string::npos);
  EXPECT_NE(get_refusal("libxsmm", make_problem(Layout::kNN, 8, 8, 8, 2)).find("alpha"), std::string::npos);
  EXPECT_NE(get_refusal("libxsmm", make_problem(Layout::kNN, 8, 8, 8, 1, 0.5)).find("beta"),
            std::string::npos);
  EXPECT_NE(get_refusal("libxsmm", make_problem(Layout::kNN, 513, 512, 512)).find("small"),
            std::string::npos);
  EXPECT_EQ(get_refusal("libxsmm", make_problem(Layout::kTN, 512, 512, 512, 1, 1)), "");
}

TEST(VendorRefusal, is_the_error_when_such_a_workload_is_opened) {
  const Workload workload = make_workload(make_problem(Layout::kNT, 8, 8, 8));
  Set set = make_set(workload, 1);
  const std::vector<std::vector<void*>> sets = {set.pointers()};
  const auto routine = open_vendor("libxsmm", workload, 1, sets);
  ASSERT_FALSE(routine);
  EXPECT_NE(routine.error().message.find("layout nt"), std::string::npos) << routine.error().message;
}

TEST(Openblas, scales_c_when_the_product_is_empty) {
  for (const VendorInfo& info : find_vendors()) {
    if (info.name == "openblas" && !info.missing.empty()) GTEST_SKIP() << info.missing;
  }
  for (Layout layout : kLayouts) {
    expect_vendor_computes("openblas", make_problem(layout, 5, 7, 0, 1, 0.5, 2));
    expect_vendor_computes("openblas", make_problem(layout, 5, 7, 0));
    expect_vendor_computes("openblas", make_problem(layout, 0, 7, 3));
    expect_vendor_computes("openblas", make_problem(layout, 5, 0, 3));
  }
}

// Sets a variable for one test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(MissingVendor, is_told_with_the_package_to_install) {
  const Environment openblas("KERNELWRIGHT_OPENBLAS", "/nonexistent"),
      onednn("KERNELWRIGHT_ONEDNN", "/nonexistent"), xsmm("KERNELWRIGHT_XSMM", "/nonexistent");
  const char* packages[] = {"libopenblas0-pthread", "libdnnl2", "libxsmm-dev"};
  const std::vector<VendorInfo> vendors = find_vendors();
  ASSERT_EQ(vendors.size(), 3u);
  for (size_t i = 0; i < vendors.size(); ++i) {
    EXPECT_TRUE(vendors[i].version.empty());
    EXPECT_NE(vendors[i].missing.find("/nonexistent"), std::string::npos) << vendors[i].missing;
    EXPECT_NE(vendors[i].missing.find(packages[i]), std::string::npos) << vendors[i].missing;
  }
  const Workload workload = make_workload(make_problem(Layout::kNN, 8, 8, 8));
  Set set = make_set(workload, 1);
  const std::vector<std::vector<void*>> sets = {set.pointers()};
  const auto routine = open_vendor("openblas", workload, 1, sets);
  ASSERT_FALSE(routine);
  EXPECT_NE(routine.error().message.find("libopenblas0-pthread"), std::string::npos);
}

TEST(MissingVendor, is_told_when_the_file_is_another_library) {
  const Environment openblas("KERNELWRIGHT_OPENBLAS", "libm.so.6"),
      onednn("KERNELWRIGHT_ONEDNN", "libm.so.6"), xsmm("KERNELWRIGHT_XSMM", "libm.so.6");
  for (const VendorInfo& info : find_vendors()) {
    EXPECT_NE(info.missing.find("has no"), std::string::npos) << info.name << ": " << info.missing;
  }
}

TEST(PresentVendors, tell_version_and_path) {
  for (const VendorInfo& info : find_vendors()) {
    if (!info.missing.empty()) continue;
    EXPECT_FALSE(info.version.empty()) << info.name;
    EXPECT_EQ(info.path.front(), '/') << info.name << " " << info.path;
    printf("%s: %s, %s\n", info.name.c_str(), info.version.c_str(), info.path.c_str());
  }
}

}  // namespace
}  // namespace kw
