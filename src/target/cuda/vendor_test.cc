// What can be shown of the vendor routines without a GPU: the translation to column-major, the list of
// algorithms, names, and what is said where something is missing.
#include "target/cuda/vendor.h"

#include <gmock/gmock.h>

#include "target/cpu/vendor_library.h"
#include "target/cuda/vendor_cublaslt.h"
#include "target/cuda/vendor_gemm.h"
#include "target/cuda/vendor_names.h"

namespace kw::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Problem make_problem(Layout layout, int64_t pad) {
  Problem problem{.layout = layout, .m = 3, .n = 5, .k = 4, .alpha = 2, .beta = -1};
  problem = with_tight_strides(problem);
  problem.lda += pad;
  problem.ldb += 2 * pad;
  problem.ldc += 3 * pad;
  return problem;
}

// Small whole numbers: every sum is exact.
std::vector<double> make_values(size_t count, int step) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<double>((i * static_cast<size_t>(step)) % 11) - 5;
  return values;
}

using Operands = std::array<std::vector<double>, 3>;

void compute_row_major(const Problem& p, Operands& o) {
  const bool a_transposed = p.layout == Layout::kTN || p.layout == Layout::kTT;
  const bool b_transposed = p.layout == Layout::kNT || p.layout == Layout::kTT;
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < p.k; ++l)
        sum += o[0][static_cast<size_t>(a_transposed ? l * p.lda + i : i * p.lda + l)] *
               o[1][static_cast<size_t>(b_transposed ? j * p.ldb + l : l * p.ldb + j)];
      double& c = o[2][static_cast<size_t>(i * p.ldc + j)];
      c = p.alpha * sum + p.beta * c;
    }
}

// As BLAS is defined: op(first) is (m,k), op(second) is (k,n), all column-major.
void compute_column_major(const ColumnMajorGemm& g, Operands& o) {
  const auto read = [&](const ColumnMajorInput& input, int64_t row, int64_t col) {
    if (input.operation == kBlasTransposed) std::swap(row, col);
    EXPECT_LT(row, input.rows);
    EXPECT_LT(col, input.cols);
    EXPECT_GE(input.ld, input.rows);
    return o[static_cast<size_t>(input.operand)][static_cast<size_t>(col * input.ld + row)];
  };
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < g.k; ++l) sum += read(g.first, i, l) * read(g.second, l, j);
      double& c = o[2][static_cast<size_t>(j * g.ldc + i)];
      c = g.alpha * sum + g.beta * c;
    }
}

TEST(ColumnMajor, gives_the_row_major_answer_in_all_layouts_and_strides) {
  for (const Layout layout : {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT})
    for (const int64_t pad : {0, 3}) {
      const Problem problem = make_problem(layout, pad);
      Operands rows = {make_values(99, 3), make_values(99, 7), make_values(99, 2)}, columns = rows;
      compute_row_major(problem, rows);
      compute_column_major(make_column_major(problem), columns);
      EXPECT_EQ(rows, columns) << describe_problem(problem);
    }
}

TEST(VendorRefusal, names_what_is_not_computed) {
  Problem problem = with_tight_strides({.dtype = Dtype::kF16, .m = 8, .n = 8, .k = 8});
  EXPECT_FALSE(find_vendor_refusal(problem));
  problem.dtype = Dtype::kF64;
  EXPECT_THAT(*find_vendor_refusal(problem), HasSubstr("f64"));
  problem.dtype = Dtype::kBf16;
  problem.k = 0;
  EXPECT_THAT(*find_vendor_refusal(problem), HasSubstr("8x8x0"));
  problem.k = int64_t{1} << 31;
  EXPECT_THAT(*find_vendor_refusal(problem), HasSubstr("2147483647"));
}

LtChoice make_choice(int32_t algorithm, int32_t split_k) {
  return {.config = {.algorithm = algorithm, .split_k = split_k}};
}

TEST(LtChoices, are_joined_once_each_and_named_by_their_list) {
  const auto all = join_choices({make_choice(66, 1), make_choice(66, 1), make_choice(66, 2)},
                                {make_choice(66, 2), make_choice(24, 4), make_choice(66, 1)});
  std::vector<std::string> names;
  for (const LtChoice& choice : all) names.push_back(choice.name);
  EXPECT_THAT(names, ElementsAre("cublaslt_w32_0", "cublaslt_w32_1", "cublaslt_w256_0"));
  EXPECT_EQ(all[2].config.algorithm, 24);
}

TEST(LtConfig, is_printed_for_people) {
  const LtConfig config{
      .algorithm = 66, .tile = 20, .split_k = 2, .reduction = 2, .stages = 35, .cluster = 3};
  EXPECT_EQ(
      print_lt_config(config),
      "algorithm 66 tile 128x128 stages 64xAUTO split-K 2 reduction compute type cluster 2x1x1 swizzle 0 "
      "custom 0 inner 0");
}

TEST(VendorNames, say_the_number_of_what_they_do_not_know) {
  EXPECT_EQ(print_lt_tile(0), "id 0");
  EXPECT_EQ(print_lt_tile(5000), "id 5000");
  EXPECT_EQ(print_lt_stages(29), "id 29");
  EXPECT_EQ(print_lt_cluster(1), "id 1");
  EXPECT_EQ(print_lt_cluster(0), "auto");
  EXPECT_EQ(print_lt_reduction(3), "id 3");
}

TEST(VendorLibraries, have_a_version_or_say_what_is_missing) {
  const auto libraries = find_vendor_libraries();
  ASSERT_EQ(libraries.size(), 2u);
  for (const VendorLibrary& library : libraries) {
    EXPECT_NE(library.version.empty(), library.missing.empty()) << library.name;
    if (!library.missing.empty()) {
      EXPECT_THAT(library.missing, HasSubstr("KERNELWRIGHT_CUBLAS"));
    }
  }
}

// The library answers with the size it holds, GPU or not.
TEST(LtConfig, has_the_sizes_that_the_installed_library_holds) {
  const auto library =
      Library::load({"KERNELWRIGHT_CUBLASLT",
                     {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"},
                     "install the CUDA toolkit"});
  if (!library) GTEST_SKIP() << library.error().message;
  LtFunctions call{};
  std::string missing;
  library->bind(call.matmul_algo_config_get_attribute, "cublasLtMatmulAlgoConfigGetAttribute", missing);
  library->bind(call.matmul_preference_create, "cublasLtMatmulPreferenceCreate", missing);
  library->bind(call.matmul_preference_destroy, "cublasLtMatmulPreferenceDestroy", missing);
  library->bind(call.matmul_preference_set_attribute, "cublasLtMatmulPreferenceSetAttribute", missing);
  ASSERT_EQ(missing, "");
  const LtAlgorithm algorithm;
  const LtConfig config;
  const auto expect_size = [&](LtConfigAttribute attribute, size_t bytes) {
    size_t held = 0;
    EXPECT_EQ(call.matmul_algo_config_get_attribute(&algorithm, attribute, nullptr, 0, &held), kBlasSuccess);
    EXPECT_EQ(held, bytes) << attribute;
  };
  expect_size(kLtConfigAlgorithm, sizeof config.algorithm);
  expect_size(kLtConfigTile, sizeof config.tile);
  expect_size(kLtConfigSplitK, sizeof config.split_k);
  expect_size(kLtConfigReduction, sizeof config.reduction);
  expect_size(kLtConfigSwizzle, sizeof config.swizzle);
  expect_size(kLtConfigCustom, sizeof config.custom);
  expect_size(kLtConfigStages, sizeof config.stages);
  expect_size(kLtConfigInnerShape, sizeof config.inner_shape);
  expect_size(kLtConfigCluster, sizeof config.cluster);
  LtPreference preference = nullptr;
  ASSERT_EQ(call.matmul_preference_create(&preference), kBlasSuccess);
  const auto set = [&](LtPreferenceAttribute attribute, const auto& value) {
    return call.matmul_preference_set_attribute(preference, attribute, &value, sizeof value);
  };
  EXPECT_EQ(set(kLtMaxWorkspaceBytes, uint64_t{1} << 25), kBlasSuccess);
  for (const auto attribute :
       {kLtReductionMask, kLtMinAlignmentFirst, kLtMinAlignmentSecond, kLtMinAlignmentC, kLtMinAlignmentD}) {
    EXPECT_EQ(set(attribute, uint32_t{2}), kBlasSuccess) << attribute;
    EXPECT_NE(set(attribute, uint64_t{2}), kBlasSuccess) << attribute;
  }
  EXPECT_EQ(call.matmul_preference_destroy(preference), kBlasSuccess);
}

TEST(VendorRoutines, are_listed_or_the_librarys_own_words_say_why_not) {
  const Workload workload{.problem = with_tight_strides({.dtype = Dtype::kF16, .m = 64, .n = 64, .k = 64})};
  const auto names = list_vendor_routines(workload);
  if (names) return;  // with a GPU, or without the libraries
  EXPECT_THAT(names.error().message, HasSubstr("cublasLtCreate gives CUBLAS_STATUS_"));
}

TEST(VendorRoutines, are_none_for_what_blas_does_not_compute) {
  const Workload workload{.problem = {.m = 4, .n = 4, .k = 0}};
  const auto names = list_vendor_routines(workload);
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_TRUE(names->empty());
  EXPECT_FALSE(open_vendor_routine("cublas", workload, 0, 0));
}

}  // namespace
}  // namespace kw::cuda
