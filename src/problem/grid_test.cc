// The named lists: how many, which, in which layouts, and that they never change.
#include "problem/grid.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "problem/model.h"

namespace kw {
namespace {

using testing::HasSubstr;

const fs::path kModels = fs::path(__FILE__).parent_path() / "../../examples/models";

std::vector<ProblemUse> get_grid(const std::string& name, GridPlan plan = {}) {
  const auto grid = make_grid(name, plan);
  EXPECT_TRUE(grid) << (grid ? "" : grid.error().message);
  return grid.value_or(std::vector<ProblemUse>());
}

std::set<std::string> list_keys(const std::vector<ProblemUse>& uses) {
  std::set<std::string> keys;
  for (const ProblemUse& use : uses) {
    EXPECT_TRUE(check_problem(use.problem)) << use.name;
    EXPECT_FALSE(use.name.empty());
    keys.insert(print_problem(use.problem));
  }
  return keys;
}

double log2_flops(const Problem& p) { return 1 + std::log2(p.m) + std::log2(p.n) + std::log2(p.k); }

TEST(Grid, cuda_l2_has_two_thousand_cases) {
  const auto uses = get_grid("cuda-l2");
  EXPECT_EQ(uses.size(), 2000u);
  const auto keys = list_keys(uses);
  EXPECT_EQ(keys.size(), 2000u);
  EXPECT_TRUE(keys.contains("gemm f16 nn m64 n12288 k16384 lda16384 ldb12288 ldc12288 alpha1 beta0"));
  EXPECT_TRUE(keys.contains("gemm f16 nt m16384 n64 k128 lda128 ldb128 ldc64 alpha1 beta0"));
  EXPECT_EQ(get_grid("cuda-l2", {.layouts = {Layout::kTN}, .dtype = Dtype::kBf16}).size(), 1000u);
}

TEST(Grid, any_beginning_of_a_list_is_a_sample_of_it) {
  const auto uses = get_grid("cuda-l2");
  double all = 0, first = 0;
  for (const ProblemUse& use : uses) all += log2_flops(use.problem) / 2000;
  for (size_t i = 0; i < 200; ++i) first += log2_flops(uses[i].problem) / 200;
  EXPECT_NEAR(first, all, 1);
}

TEST(Grid, server_is_an_even_spread_of_a_hundred_shapes) {
  const auto uses = get_grid("server");
  EXPECT_EQ(uses.size(), 200u);
  const auto all = list_keys(get_grid("cuda-l2"));
  const auto keys = list_keys(uses);
  EXPECT_EQ(keys.size(), 200u);
  std::map<int, int> bands;
  for (const ProblemUse& use : uses) {
    EXPECT_TRUE(all.contains(print_problem(use.problem)));
    ++bands[static_cast<int>(log2_flops(use.problem)) / 4];
  }
  EXPECT_EQ(bands.begin()->first, 19 / 4);   // 64^3
  EXPECT_EQ(bands.rbegin()->first, 43 / 4);  // 16384^3
  for (int band = 5; band <= 9; ++band) {
    EXPECT_GE(bands[band], 28) << band;
    EXPECT_LE(bands[band], 38) << band;
  }
}

TEST(Grid, odd_has_three_hundred_unaligned_shapes) {
  const auto uses = get_grid("odd", {.layouts = {Layout::kNT}});
  EXPECT_EQ(uses.size(), 300u);
  EXPECT_EQ(list_keys(uses).size(), 300u);
  EXPECT_EQ(get_grid("odd").size(), 600u);
  std::map<std::string, int> kinds;
  int gpt2 = 0;
  for (const ProblemUse& use : uses) {
    const Problem& p = use.problem;
    EXPECT_TRUE(p.m % 8 != 0 || p.n % 8 != 0 || p.k % 8 != 0) << describe_problem(p);
    EXPECT_LE(log2_flops(p), 38);
    ++kinds[use.name];
    gpt2 += p.n == 50257 ? 1 : 0;
  }
  EXPECT_EQ(kinds["odd/vocabulary"], 102);
  EXPECT_EQ(kinds["odd/prime"], 99);
  EXPECT_EQ(kinds["odd/off_by_one"], 99);
  EXPECT_EQ(gpt2, 24);
}

TEST(Grid, decode_holds_the_linear_layers_of_the_models_once) {
  GridPlan plan;
  for (const char* name : {"gpt2", "qwen2.5-0.5b", "mixtral-8x7b"})
    plan.models.push_back({name, read_file(kModels / (std::string(name) + ".json")).value_or("")});
  const auto uses = get_grid("decode", plan);
  EXPECT_EQ(list_keys(uses).size(), uses.size());
  const std::set<int64_t> rows = {1, 2, 4, 8, 16, 32};
  std::set<int64_t> seen;
  std::string head;
  for (const ProblemUse& use : uses) {
    const bool conv1d = use.problem.layout == Layout::kNN;  // how GPT-2 stores its weights
    EXPECT_TRUE(use.problem.layout == Layout::kNT || (conv1d && use.name.starts_with("gpt2/"))) << use.name;
    EXPECT_EQ(use.problem.dtype, Dtype::kF16);
    EXPECT_LE(use.problem.m, 32);
    seen.insert(use.problem.m);
    if (use.problem.n == 50257 && use.problem.m == 32) head = use.name;
  }
  EXPECT_TRUE(std::includes(seen.begin(), seen.end(), rows.begin(), rows.end()));
  EXPECT_EQ(head, "gpt2/lm_head");
  EXPECT_THAT(make_grid("decode", {}).error().message, HasSubstr("no model files"));
}

TEST(Grid, never_changes) {
  std::string all;
  for (const char* name : {"cuda-l2", "server", "odd"})
    for (const ProblemUse& use : get_grid(name)) all += print_problem(use.problem) + "\n";
  EXPECT_EQ(short_hash(hash_parts({all})), "ea3351e657ed");
}

TEST(Grid, unknown_names_are_refused_with_the_known_ones) {
  const auto grid = make_grid("cuda-l3", {});
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.error().kind, ErrorKind::kUser);
  EXPECT_THAT(grid.error().message, HasSubstr("use cuda-l2, decode, odd, server"));
}

TEST(Grid, shapes_with_strides_of_their_own_keep_their_layout) {
  const auto uses = parse_shapes_csv("m,n,k,lda\n8,8,8,16\n", "list");
  ASSERT_TRUE(uses);
  EXPECT_THAT(with_layouts(*uses, {Layout::kNN}).error().message, HasSubstr("8x8x8"));
}

}  // namespace
}  // namespace kw
