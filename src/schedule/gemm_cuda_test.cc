// The three CUDA families through Space: keys, legality with reasons, search moves, order of the ranking.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "schedule/cuda_limits.h"
#include "schedule/gemm_async.h"
#include "schedule/gemm_direct.h"
#include "schedule/gemm_wgmma.h"

namespace kw {
namespace {

DeviceFacts make_device(std::string isa = "sm_90a") {
  DeviceFacts device;
  device.target = "cuda";
  device.isa = std::move(isa);
  device.cores = 132;
  device.l2_bytes = 60 << 20;
  return device;
}

Problem make_problem(int64_t m, int64_t n, int64_t k, Layout layout = Layout::kNT,
                     Dtype dtype = Dtype::kF16) {
  Problem problem;
  problem.layout = layout;
  problem.dtype = dtype;
  problem.m = m, problem.n = n, problem.k = k;
  return with_tight_strides(problem);
}

Problem with_strides(Problem problem, int64_t lda, int64_t ldb, int64_t ldc) {
  problem.lda = lda, problem.ldb = ldb, problem.ldc = ldc;
  return problem;
}

std::vector<Problem> list_samples() {
  std::vector<Problem> problems;
  for (const Layout layout : {Layout::kNT, Layout::kNN})
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{64, 64, 64},
                                  {128, 896, 4864},
                                  {1, 4096, 4096},
                                  {256, 256, 2048},
                                  {4096, 4096, 4096},
                                  {8, 8, 8}})
      problems.push_back(make_problem(m, n, k, layout));
  problems.push_back(make_problem(0, 8, 8));
  problems.push_back(make_problem(1, 1, 1));
  problems.push_back(make_problem(33, 31, 0));
  problems.push_back(make_problem(31, 37, 41, Layout::kNN, Dtype::kBf16));
  problems.push_back(with_strides(make_problem(7, 5, 3), 8, 8, 5));
  problems.push_back(with_strides(make_problem(100, 30, 50, Layout::kNN), 56, 32, 31));
  return problems;
}

std::vector<std::string> list_families(const Problem& problem, const std::string& isa = "sm_90a") {
  std::vector<std::string> names;
  for (const char* family : {"gemm_cpu", "gemm_wgmma", "gemm_direct", "gemm_async"})
    if (make_space(family, problem, make_device(isa))) names.emplace_back(family);
  EXPECT_EQ(make_spaces(problem, make_device(isa)).size(), names.empty() ? 0U : 1U);  // joined
  return names;
}

using Names = std::vector<std::string>;

TEST(CudaSpaces, are_offered_where_they_can_compute) {
  EXPECT_EQ(list_families(make_problem(64, 64, 64)), (Names{"gemm_wgmma", "gemm_direct", "gemm_async"}));
  EXPECT_EQ(list_families(make_problem(64, 64, 64, Layout::kNN, Dtype::kBf16)),
            (Names{"gemm_wgmma", "gemm_direct", "gemm_async"}));
  EXPECT_EQ(list_families(make_problem(64, 64, 64), "sm_80"), (Names{"gemm_direct", "gemm_async"}));
  EXPECT_EQ(list_families(make_problem(64, 64, 64), "sm_100a"), (Names{"gemm_direct", "gemm_async"}));
  EXPECT_EQ(list_families(with_strides(make_problem(64, 64, 0), 8, 8, 64)),
            (Names{"gemm_direct", "gemm_async"}));
  EXPECT_EQ(list_families(make_problem(64, 64, 65)), (Names{"gemm_async"}));  // lda 65
  EXPECT_EQ(list_families(make_problem(64, 66, 64, Layout::kNN)), (Names{"gemm_direct", "gemm_async"}));
  EXPECT_EQ(list_families(make_problem(64, 65, 64, Layout::kNN)), (Names{"gemm_async"}));
  EXPECT_EQ(list_families(make_problem(64, 64, 64), "sm_75"), Names{});
  EXPECT_EQ(list_families(make_problem(64, 64, 64, Layout::kTN)), Names{});
  EXPECT_EQ(list_families(make_problem(64, 64, 64, Layout::kNT, Dtype::kF32)), Names{});
  EXPECT_EQ(list_families(make_problem(64, 64, 64), "avx512"), Names{});
  EXPECT_EQ(list_families(make_problem(1 << 28, 8, 8)), Names{});  // more rows than a grid counts
  const auto unknown = make_space("gemm_magic", make_problem(8, 8, 8), make_device());
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("gemm_async"), std::string::npos);
  const auto refused = make_space("gemm_wgmma", make_problem(64, 64, 65), make_device());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("multiples of 8"), std::string::npos) << refused.error().message;
}

TEST(CudaSpaces, draw_mutate_and_cross_legal_schedules_only) {
  for (const Problem& problem : list_samples())
    for (const auto& space : make_spaces(problem, make_device())) {
      Random random(5);
      std::string key = space->draw(random);
      int changed = 0;
      for (int i = 0; i < 60; ++i) {
        const std::string other = space->draw(random), mutant = space->mutate(key, random);
        changed += mutant != key;
        const std::string child = space->cross(mutant, other, random);
        for (const std::string& made : {other, mutant, child})
          ASSERT_EQ(space->find_illegality(made).value_or("legal"), "legal")
              << space->family() << " " << made << " for " << print_problem(problem);
        key = child;
      }
      EXPECT_EQ(changed, 60) << space->family() << " for " << print_problem(problem);
    }
}

TEST(CudaSpaces, enumerate_and_describe_every_schedule) {
  for (const Problem& problem : list_samples())
    for (const auto& space : make_spaces(problem, make_device())) {
      const auto keys = space->enumerate(300);
      EXPECT_EQ(keys, make_spaces(problem, make_device()).front()->family() == space->family()
                          ? make_spaces(problem, make_device()).front()->enumerate(300)
                          : space->enumerate(300));
      EXPECT_GE(keys.size(), 2u) << space->family() << " for " << print_problem(problem);
      EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
      const size_t features = space->feature_names().size();
      for (const std::string& key : keys) {
        ASSERT_EQ(space->find_illegality(key).value_or("legal"), "legal") << key;
        ASSERT_EQ(space->features(key).size(), features);
        for (const double feature : space->features(key)) ASSERT_TRUE(std::isfinite(feature)) << key;
        ASSERT_GT(space->predict_us(key), 0) << key;
        ASSERT_TRUE(std::isfinite(space->predict_us(key))) << key;
        ASSERT_FALSE(space->behaviour(key).empty());
        ASSERT_EQ(space->tile(key).size(), 3u);
      }
      const auto best = space->rank(10);
      for (size_t i = 1; i < best.size(); ++i)
        EXPECT_LE(space->predict_us(best[i - 1]), space->predict_us(best[i]));
    }
}

TEST(CudaKeys, parse_and_print_are_inverse) {
  const Problem problem = make_problem(256, 256, 2048);
  for (const std::string& key : (*make_space("gemm_wgmma", problem, make_device()))->enumerate(5000))
    ASSERT_EQ(print_gemm_wgmma(*parse_gemm_wgmma(key)), key);
  for (const std::string& key : (*make_space("gemm_direct", problem, make_device()))->enumerate(5000))
    ASSERT_EQ(print_gemm_direct(*parse_gemm_direct(key)), key);
  for (const std::string& key : (*make_space("gemm_async", problem, make_device()))->enumerate(5000))
    ASSERT_EQ(print_gemm_async(*parse_gemm_async(key)), key);
  EXPECT_EQ(print_gemm_wgmma({}), "g1 n32 k128 st4 s1 swap0 pdl0");
  EXPECT_EQ(print_gemm_direct({}), "mt1 nt2 wm1 wn1 wk4 c2 pdl0");
  EXPECT_EQ(print_gemm_async({}), "ca16 cb16 m64 n64 k64 wm2 wn2 wk1 st4 pdl0");
}

TEST(CudaKeys, refuse_what_was_not_printed) {
  const std::string key = print_gemm_wgmma({});
  for (const std::string& bad :
       {std::string(), std::string("g1"), key + " ", " " + key, key + " x1", "g01" + key.substr(2),
        "g3" + key.substr(2), key.substr(0, key.size() - 1), std::string("n32 g1")}) {
    const auto schedule = parse_gemm_wgmma(bad);
    ASSERT_FALSE(schedule) << bad;
    EXPECT_EQ(schedule.error().kind, ErrorKind::kUser);
    EXPECT_NE(schedule.error().message.find("gemm_wgmma"), std::string::npos);
  }
  EXPECT_NE(parse_gemm_wgmma("g3" + key.substr(2)).error().message.find("g3 is none of g1, g2"),
            std::string::npos);
}

struct Case {
  std::string key, words;  // of the reason
  Problem problem;
  std::string isa = "sm_90a";
};

void expect_reasons(std::string_view family, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const auto space = make_space(family, c.problem, make_device(c.isa));
    ASSERT_TRUE(space) << space.error().message;
    const auto reason = (*space)->find_illegality(c.key);
    ASSERT_EQ(reason.has_value(), !c.words.empty()) << c.key << ": " << reason.value_or("legal");
    if (reason) {
      EXPECT_NE(reason->find(c.words), std::string::npos) << *reason << " for " << c.key;
    }
  }
}

TEST(GemmWgmmaLegality, names_the_broken_rule) {
  const Problem square = make_problem(256, 256, 2048), few = make_problem(8, 4096, 4096);
  const Problem nn = make_problem(256, 256, 2048, Layout::kNN),
                thin = make_problem(128, 1024, 8192, Layout::kNN);
  expect_reasons("gemm_wgmma",
                 {
                     {"g1 n64 k128 st3 s8 swap0 pdl0", "", square},
                     {"g1 n8 k128 st6 s8 swap1 pdl0", "stages are never filled", few},
                     {"g1 n8 k128 st5 s8 swap1 pdl0", "", few},
                     {"g1 n8 k128 st9 s1 swap1 pdl1", "", few},
                     {"g1 n8 k128 st9 s1 swap1 pdl1", "at most 32 rows", square},
                     {"g1 n16 k128 st4 s1 swap0 pdl0", "at least 32 columns", nn},
                     {"g2 n32 k128 st4 s1 swap0 pdl0", "one warpgroup covers", few},
                     {"g1 n16 k128 st4 s1 swap1 pdl0", "half of the tile's 16 columns", few},
                     {"g1 n8 k128 st4 s1 swap0 pdl0", "read X once for each", few},
                     {"g1 n64 k128 st9 s1 swap0 pdl0", "bytes of shared memory", thin},
                     {"g1 n64 k128 st2 s16 swap0 pdl0", "too few for 16 blocks", make_problem(64, 64, 1024)},
                     {"g1 n32 k128 st2 s16 swap0 pdl0", "without a split", thin},
                 });
}

TEST(GemmDirectLegality, names_the_broken_rule) {
  const Problem square = make_problem(256, 256, 512), nn = make_problem(256, 256, 512, Layout::kNN);
  expect_reasons(
      "gemm_direct",
      {
          {"mt1 nt2 wm1 wn1 wk4 c2 pdl0", "", square},
          {"mt1 nt2 wm1 wn1 wk4 c2 pdl1", "", square},
          {"mt1 nt2 wm1 wn1 wk4 c2 pdl1", "needs sm_90", square, "sm_86"},
          {"mt2 nt2 wm1 wn1 wk1 c1 pdl0", "half of the tile's 32 rows", make_problem(16, 64, 64)},
          {"mt1 nt4 wm1 wn1 wk1 c1 pdl0", "half of the tile's 32 columns", make_problem(64, 16, 64)},
          {"mt1 nt8 wm1 wn1 wk4 c2 pdl0", "loads 8 columns", with_strides(nn, 512, 260, 256)},
          {"mt1 nt4 wm1 wn1 wk4 c2 pdl0", "", with_strides(nn, 512, 260, 256)},
          {"mt1 nt2 wm2 wn2 wk8 c1 pdl0", "at most 16", square},
          {"mt2 nt8 wm1 wn1 wk1 c4 pdl0", "registers", square},
          {"mt2 nt8 wm1 wn1 wk4 c1 pdl0", "", make_problem(256, 256, 2048)},
          {"mt2 nt8 wm1 wn1 wk8 c1 pdl0", "of shared memory", make_problem(256, 256, 2048)},
          {"mt1 nt2 wm1 wn1 wk16 c1 pdl0", "too few for 16 warps", make_problem(64, 64, 256)},
          {"mt1 nt2 wm1 wn1 wk8 c4 pdl0", "lie beyond k", make_problem(64, 64, 256)},
      });
}

TEST(GemmAsyncLegality, names_the_broken_rule) {
  const Problem odd = make_problem(255, 257, 511), even = make_problem(256, 256, 512);
  expect_reasons(
      "gemm_async",
      {
          {"ca2 cb2 m64 n64 k64 wm2 wn2 wk1 st4 pdl0", "", odd},
          {"ca16 cb16 m64 n64 k64 wm2 wn2 wk1 st4 pdl0", "", even},
          {"ca16 cb2 m64 n64 k64 wm2 wn2 wk1 st4 pdl0", "", with_strides(even, 512, 513, 256)},
          {"ca4 cb8 m64 n64 k64 wm2 wn2 wk1 st4 pdl0", "", with_strides(even, 514, 516, 256)},
          {"ca16 cb16 m64 n64 k64 wm2 wn2 wk1 st4 pdl0", "allow copies of 2 bytes", odd},
          {"ca8 cb16 m64 n64 k64 wm2 wn2 wk1 st4 pdl0", "allow copies of 16 bytes", even},
          {"ca16 cb16 m64 n64 k64 wm2 wn2 wk1 st4 pdl1", "needs sm_90", even, "sm_80"},
          {"ca16 cb16 m16 n64 k64 wm2 wn2 wk1 st4 pdl0", "shared by 2 warps of 16 rows", even},
          {"ca16 cb16 m64 n16 k64 wm2 wn2 wk1 st4 pdl0", "warps of 16 columns", even},
          {"ca16 cb16 m64 n64 k32 wm2 wn2 wk4 st4 pdl0", "warps of 16 steps", even},
          {"ca16 cb16 m64 n64 k64 wm4 wn4 wk4 st4 pdl0", "at most 16", even},
          {"ca16 cb16 m128 n128 k64 wm1 wn1 wk1 st4 pdl0", "registers", even},
          {"ca16 cb16 m64 n64 k128 wm2 wn2 wk1 st6 pdl0", "never filled", even},
          {"ca16 cb16 m64 n64 k64 wm2 wn2 wk1 st4 pdl0", "half of the tile's 64 rows",
           make_problem(32, 256, 512)},
          {"ca16 cb16 m64 n64 k128 wm2 wn2 wk1 st2 pdl0", "half of the 128 steps",
           make_problem(256, 256, 64)},
          {"ca16 cb16 m128 n128 k128 wm2 wn2 wk1 st4 pdl0", "of shared memory", make_problem(256, 256, 2048)},
      });
}

// The measured rules of thumb: which instances lead for their shapes.
TEST(GemmWgmmaRank, brings_the_measured_winners_to_the_top) {
  const auto get_best = [](const Problem& problem) {
    return *parse_gemm_wgmma((*make_space("gemm_wgmma", problem, make_device()))->rank(1).front());
  };
  const auto find_place = [](const Problem& problem, const std::string& key, size_t most) {
    const auto keys = (*make_space("gemm_wgmma", problem, make_device()))->rank(most);
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const int64_t k : {64, 128, 256, 512}) {
    const GemmWgmmaSchedule best = get_best(make_problem(256, 256, k));
    EXPECT_EQ(best.split, 1) << k;
    EXPECT_LE(best.columns, 64) << k;
  }
  for (const auto& [side, k] :
       {std::pair<int64_t, int64_t>{64, 4096}, {128, 4096}, {256, 4096}, {64, 2048}}) {
    const Problem problem = make_problem(side, side, k);
    const GemmWgmmaSchedule best = get_best(problem);
    EXPECT_GE(best.split, 4) << side << " " << k;
    EXPECT_LE(best.tiles(problem) * best.split, 132) << side << " " << k;
  }
  EXPECT_TRUE(find_place(make_problem(64, 64, 2048), "g1 n32 k128 st2 s16 swap0 pdl1", 10));
  EXPECT_TRUE(find_place(make_problem(128, 128, 4096), "g1 n64 k128 st5 s8 swap0 pdl1", 100));
  EXPECT_TRUE(find_place(make_problem(256, 256, 4096), "g1 n64 k128 st6 s4 swap0 pdl1", 100));
  EXPECT_TRUE(find_place(make_problem(256, 256, 512), "g1 n32 k128 st4 s1 swap0 pdl1", 10));
  EXPECT_TRUE(find_place(make_problem(8, 4096, 4096), "g1 n8 k128 st9 s1 swap1 pdl1", 20));
  EXPECT_TRUE(get_best(make_problem(8, 4096, 4096)).swapped);
  EXPECT_TRUE(get_best(make_problem(8, 4096, 4096)).pdl);
  EXPECT_EQ(get_best(make_problem(4096, 4096, 4096)).columns, 256);
}

// 128 blocks in clusters of 8 at one block an SM do not fit: measured 3.72 -> 6.38 us from 64 to 128 blocks.
TEST(GemmWgmmaRank, knows_that_clusters_do_not_fill_all_sms) {
  const GemmWgmmaSchedule s = {1, 64, 128, 6, 8, false, false};
  const double fits = predict_gemm_wgmma_us(s, make_problem(128, 256, 8192), make_device());
  const double waits = predict_gemm_wgmma_us(s, make_problem(256, 256, 8192), make_device());
  EXPECT_GT(waits, fits + 1.5);
}

TEST(CudaRank, prefers_direct_loads_for_small_k_without_pdl) {
  const auto get_best_us = [](std::string_view family, const Problem& problem) {
    const auto space = make_space(family, problem, make_device());
    double best = 1e9;
    for (const std::string& key : (*space)->enumerate(100000))
      if (key.ends_with("pdl0")) best = std::min(best, (*space)->predict_us(key));
    return best;
  };
  for (const int64_t k : {64, 256, 512})
    EXPECT_LT(get_best_us("gemm_direct", make_problem(128, 128, k)),
              get_best_us("gemm_wgmma", make_problem(128, 128, k)))
        << k;
  for (const int64_t k : {4096, 8192})
    EXPECT_GT(get_best_us("gemm_direct", make_problem(128, 128, k)),
              get_best_us("gemm_wgmma", make_problem(128, 128, k)))
        << k;
  EXPECT_GT(get_best_us("gemm_async", make_problem(256, 256, 1024)),
            get_best_us("gemm_wgmma", make_problem(256, 256, 1024)));
}

TEST(CudaLimits, follow_the_generation) {
  EXPECT_EQ(get_sm_version("sm_90a"), 90);
  EXPECT_EQ(get_sm_version("sm_100a"), 100);
  EXPECT_EQ(get_sm_version("avx512"), 0);
  EXPECT_EQ(get_sm_version("sm_"), 0);
  EXPECT_EQ(get_sm_version("sm_9x"), 0);
  EXPECT_EQ(get_block_shared_bytes(90), 232448);
  EXPECT_EQ(get_block_shared_bytes(80), 166912);
  EXPECT_EQ(get_block_shared_bytes(86), 101376);
  EXPECT_EQ(get_register_limit(128), 255);
  EXPECT_EQ(get_register_limit(512), 128);
}

}  // namespace
}  // namespace kw
