// Keys, legality and search moves of gemm_cpu, through Space and directly.
#include "schedule/gemm_cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schedule/space.h"

namespace kw {
namespace {

DeviceFacts make_device(std::string isa, int threads) {
  DeviceFacts device;
  device.target = "cpu";
  device.isa = std::move(isa);
  device.threads = threads;
  device.l1d_bytes = 48 << 10;
  device.l2_bytes = 2 << 20;
  device.l3_bytes = 32 << 20;
  device.peak_gflops = 110 * threads;
  return device;
}

Problem make_problem(Layout layout, int64_t m, int64_t n, int64_t k) {
  Problem problem;
  problem.layout = layout;
  problem.m = m, problem.n = n, problem.k = k;
  return with_tight_strides(problem);
}

const std::vector<Problem>& samples() {
  static const std::vector<Problem> problems = {
      make_problem(Layout::kNT, 128, 4864, 896), make_problem(Layout::kNT, 1, 896, 4864),
      make_problem(Layout::kNN, 30, 200, 90),    make_problem(Layout::kTN, 700, 2, 40),
      make_problem(Layout::kTT, 3, 1500, 20),    make_problem(Layout::kNN, 1, 1, 1)};
  return problems;
}

TEST(GemmCpuKey, parse_and_print_are_inverse_over_drawn_schedules) {
  for (const Problem& problem : samples()) {
    const auto space = make_space("gemm_cpu", problem, make_device("avx512", 2));
    ASSERT_TRUE(space);
    Random random(11);
    for (int i = 0; i < 1000; ++i) {
      const std::string key = (*space)->draw(random);
      const auto schedule = parse_gemm_cpu(key);
      ASSERT_TRUE(schedule) << key;
      ASSERT_EQ(print_gemm_cpu(*schedule), key);
    }
  }
}

TEST(GemmCpuKey, refuses_what_it_did_not_print) {
  const std::string key = print_gemm_cpu(GemmCpuSchedule{});
  EXPECT_TRUE(parse_gemm_cpu(key));
  for (const std::string& bad : {std::string(), std::string("avx512"), key + " ", " " + key, key + " x1",
                                 std::string("sse") + key.substr(6), key.substr(0, key.size() - 1)}) {
    const auto schedule = parse_gemm_cpu(bad);
    ASSERT_FALSE(schedule) << bad;
    EXPECT_EQ(schedule.error().kind, ErrorKind::kUser);
    EXPECT_NE(schedule.error().message.find(bad), std::string::npos);
  }
  std::string leading_zero = key;
  leading_zero.replace(leading_zero.find(" r1"), 3, " r01");
  EXPECT_FALSE(parse_gemm_cpu(leading_zero));
}

TEST(GemmCpuSpace, draws_mutates_and_crosses_legal_schedules_only) {
  for (const Problem& problem : samples())
    for (const int threads : {1, 2}) {
      const auto space = make_space("gemm_cpu", problem, make_device("avx512", threads));
      ASSERT_TRUE(space);
      Random random(5);
      std::string key = (*space)->draw(random);
      int changed = 0;
      for (int i = 0; i < 500; ++i) {
        const std::string other = (*space)->draw(random), mutant = (*space)->mutate(key, random);
        changed += mutant != key;
        const std::string child = (*space)->cross(mutant, other, random);
        for (const std::string& made : {other, mutant, child})
          ASSERT_EQ((*space)->find_illegality(made).value_or("legal"), "legal") << made;
        key = child;
      }
      EXPECT_GE(changed, 400);
    }
}

TEST(GemmCpuSpace, mutation_reaches_every_field) {
  const Problem problem = make_problem(Layout::kNN, 300, 300, 300);
  const auto space = make_space("gemm_cpu", problem, make_device("avx512", 2));
  Random random(6);
  std::set<std::string> micros, tiles, blocks, splits, prefetches;
  std::string key = (*space)->draw(random);
  for (int i = 0; i < 3000; ++i) {
    key = (*space)->mutate(key, random);
    const GemmCpuSchedule s = *parse_gemm_cpu(key);
    micros.insert(fmt::format("{}{}", s.avx512, static_cast<int>(s.micro)));
    tiles.insert(fmt::format("{}x{}", s.rows, s.width));
    blocks.insert(fmt::format("{}{}{}", s.mc != 0, s.nc != 0, s.kc != 0));
    splits.insert(fmt::format("{}{}{}", s.split_m > 1, s.split_n > 1, s.split_k > 1));
    prefetches.insert(fmt::format("{}", s.prefetch));
  }
  EXPECT_EQ(micros.size(), 6u);
  EXPECT_GE(tiles.size(), 40u);
  EXPECT_EQ(blocks.size(), 8u);
  EXPECT_GE(splits.size(), 4u);
  EXPECT_GE(prefetches.size(), 3u);
}

TEST(GemmCpuSpace, enumerates_distinct_legal_schedules_in_a_fixed_order) {
  for (const Problem& problem : samples()) {
    const DeviceFacts device = make_device("avx512", 1);
    const auto keys = (*make_space("gemm_cpu", problem, device))->enumerate(2000);
    EXPECT_EQ(keys, (*make_space("gemm_cpu", problem, device))->enumerate(2000));
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
    for (const std::string& key : keys)
      ASSERT_EQ(find_gemm_cpu_illegality(*parse_gemm_cpu(key), problem, device).value_or("legal"), "legal")
          << key;
  }
}

TEST(GemmCpuSpace, has_hundreds_of_schedules_for_ordinary_problems_and_dozens_for_the_smallest) {
  for (const Problem& problem : samples())
    for (const std::string isa : {"avx512", "avx2"}) {
      const size_t count = enumerate_gemm_cpu(problem, make_device(isa, 1)).size();
      const bool tiny = problem.m * problem.n * problem.k == 1;
      EXPECT_GE(count, tiny ? 36u : 1000u) << print_problem(problem) << " " << isa;
      EXPECT_LE(count, 300'000u) << print_problem(problem) << " " << isa;
    }
  for (const Layout layout : {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT})
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                  {1, 1, 2048},
                                  {2048, 1, 1},
                                  {1, 2048, 1},
                                  {2, 3, 2},
                                  {0, 5, 5},
                                  {5, 5, 0},
                                  {2048, 2048, 2048}})
      EXPECT_GE(enumerate_gemm_cpu(make_problem(layout, m, n, k), make_device("avx512", 1)).size(), 36u)
          << print_layout(layout) << " " << m << " " << n << " " << k;
}

TEST(GemmCpuSpace, gives_features_of_one_length_and_a_tile) {
  for (const Problem& problem : samples()) {
    const auto space = make_space("gemm_cpu", problem, make_device("avx2", 1));
    for (const std::string& key : (*space)->enumerate(50)) {
      EXPECT_EQ((*space)->features(key).size(), (*space)->feature_names().size());
      for (const double feature : (*space)->features(key)) EXPECT_TRUE(std::isfinite(feature)) << key;
      EXPECT_EQ((*space)->tile(key).size(), 3u);
      EXPECT_FALSE((*space)->behaviour(key).empty());
      EXPECT_GT((*space)->predict_us(key), 0);
    }
  }
}

TEST(GemmCpuRank, prefers_large_tiles_and_needed_packing_for_large_products) {
  const Problem problem = make_problem(Layout::kNT, 512, 1024, 1024);
  const auto space = make_space("gemm_cpu", problem, make_device("avx512", 1));
  const auto best = (*space)->rank(20);
  ASSERT_EQ(best.size(), 20u);
  EXPECT_EQ(std::set<std::string>(best.begin(), best.end()).size(), 20u);
  EXPECT_TRUE(std::is_sorted(best.begin(), best.end(), [&](const std::string& a, const std::string& b) {
    return (*space)->predict_us(a) < (*space)->predict_us(b);
  }));
  for (const std::string& key : best) {
    const GemmCpuSchedule s = *parse_gemm_cpu(key);
    EXPECT_TRUE(s.avx512) << key;
    EXPECT_GE(s.rows * s.width, 18) << key;
  }
  const double floor_us = 2.0 * 512 * 1024 * 1024 / 110e3;
  EXPECT_GE((*space)->predict_us(best.front()), 0.95 * floor_us);
  EXPECT_LE((*space)->predict_us(best.front()), 1.5 * floor_us);
}

TEST(GemmCpuRank, prefers_no_packing_for_a_single_row) {
  const auto space =
      make_space("gemm_cpu", make_problem(Layout::kNT, 1, 896, 4864), make_device("avx512", 1));
  for (const std::string& key : (*space)->rank(10)) EXPECT_TRUE(parse_gemm_cpu(key)->dot()) << key;
}

TEST(MakeSpaces, offers_gemm_cpu_where_it_can_run) {
  Problem problem = make_problem(Layout::kNN, 8, 8, 8);
  EXPECT_EQ(make_spaces(problem, make_device("avx512", 1)).size(), 1u);
  EXPECT_TRUE(make_spaces(problem, make_device("none", 1)).empty());
  EXPECT_FALSE(make_space("gemm_tpu", problem, make_device("avx2", 1)));
  problem.dtype = Dtype::kF16;
  EXPECT_TRUE(make_spaces(problem, make_device("avx512", 1)).empty());
  EXPECT_FALSE(make_space("gemm_cpu", problem, make_device("avx2", 1)));
}

}  // namespace
}  // namespace kw
