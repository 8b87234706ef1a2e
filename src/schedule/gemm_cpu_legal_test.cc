// Every legality rule of gemm_cpu: a schedule that breaks it and the words of its reason.
#include <gtest/gtest.h>

#include <climits>
#include <functional>

#include "schedule/gemm_cpu.h"

namespace kw {
namespace {

struct Case {
  std::string words;  // of the reason
  std::function<void(GemmCpuSchedule&)> breaks;
  Layout layout = Layout::kNN;
  int threads = 1;
};

// Legal for every case below before it is broken: 100x200x300, Y and X packed.
GemmCpuSchedule make_legal() {
  GemmCpuSchedule s;
  s.rows = 6, s.width = 4, s.unroll = 2, s.pack_a = s.pack_b = true;
  return s;
}

TEST(GemmCpuLegality, names_the_broken_rule) {
  const std::vector<Case> cases = {
      {"must lie in [1", [](auto& s) { s.rows = 0; }},
      {"must lie in [1", [](auto& s) { s.rows = 1 << 30, s.width = 1, s.sums = s.unroll = 4; }},
      {"vector registers", [](auto& s) { s.rows = 8; }},
      {"avx2 has 16", [](auto& s) { s.avx512 = false; }},
      {"1, 2 or 4", [](auto& s) { s.rows = s.width = 1, s.sums = 3, s.unroll = 3; }},
      {"hide the FMA latency", [](auto& s) { s.rows = 12, s.width = 1, s.sums = 2; }},
      {"multiple of the partial sums", [](auto& s) { s.rows = s.width = 2, s.sums = 2, s.unroll = 1; }},
      {"unrolled body", [](auto& s) { s.unroll = 16; }},
      {"more rows than the problem", [](auto& s) { s.micro = Micro::kOuterM, s.rows = 26, s.width = 1; },
       Layout::kNN, 3},
      {"wider than the problem", [](auto& s) { s.rows = 1, s.width = 15; }},
      {"ports idle", [](auto& s) { s.rows = 3, s.width = 2; }},
      {"prefetch is a sum", [](auto& s) { s.prefetch = 8; }},
      {"more than one panel", [](auto& s) { s.prefetch = 2; }},
      {"packed Y", [](auto& s) { s.prefetch = 1; }},
      {"no next Y",
       [](auto& s) { s.prefetch = 1, s.pack_b = false, s.micro = Micro::kOuterM, s.rows = 20, s.width = 1; },
       Layout::kNN, 3},
      {"no next X", [](auto& s) { s.prefetch = 2, s.pack_b = false, s.width = 2; }, Layout::kNN, 3},
      {"B stored (k, n) must be packed", [](auto& s) { s.micro = Micro::kDot, s.pack_a = s.pack_b = false; }},
      {"A stored (k, m) must be packed",
       [](auto& s) { s.micro = Micro::kDot, s.pack_a = false, s.pack_b = true; }, Layout::kTN},
      {"packing it for dot gains nothing", [](auto& s) { s.micro = Micro::kDot; }, Layout::kNT},
      {"A is contiguous along k", [](auto& s) { s.micro = Micro::kDot; }},
      {"vectors along n need B", [](auto& s) { s.pack_b = false; }, Layout::kNT},
      {"vectors along m need A", [](auto& s) { s.micro = Micro::kOuterM, s.pack_a = false; }},
      {"positive, or all", [](auto& s) { s.kc = -8; }},
      {"written as all", [](auto& s) { s.mc = 100; }},
      {"smaller than the tile", [](auto& s) { s.mc = 5; }},
      {"multiple of the tile's columns", [](auto& s) { s.nc = 80; }},
      {"multiple of 8", [](auto& s) { s.kc = 100; }},
      {"multiple of 16", [](auto& s) { s.micro = Micro::kDot, s.pack_a = false, s.kc = 24; }},
      {"order of the block loops", [](auto& s) { s.blocks_by_rows = true; }},
      {"order of the tile loops", [](auto& s) { s.width = 2, s.tiles_by_rows = true; }, Layout::kNN, 3},
      {"row blocks have no effect", [](auto& s) { s.pack_a = false, s.mc = 48, s.tiles_by_rows = true; }},
      {"column blocks have no effect", [](auto& s) { s.pack_b = false, s.nc = 64; }},
      {"at least 1", [](auto& s) { s.split_m = 0; }},
      {"nothing to split", [](auto& s) { s.split_m = 2; }},
      {"only add overhead", [](auto& s) { s.split_m = 16; }, Layout::kNN, 2},
      {"only add overhead", [](auto& s) { s.split_m = s.split_n = s.split_k = INT_MAX; }, Layout::kNN, 2},
      {"more splits than tiles", [](auto& s) { s.split_n = 5; }, Layout::kNN, 2},
      {"steps of k", [](auto& s) { s.split_k = 8; }, Layout::kNN, 2},
  };
  for (const Case& c : cases) {
    Problem problem;
    problem.layout = c.layout;
    problem.m = 100, problem.n = c.threads == 3 ? 20 : 200, problem.k = 300;
    problem = with_tight_strides(problem);
    DeviceFacts device;
    device.isa = "avx512";
    device.threads = c.threads;
    GemmCpuSchedule s = make_legal();
    c.breaks(s);
    const auto reason = find_gemm_cpu_illegality(s, problem, device);
    ASSERT_TRUE(reason) << c.words << ": " << print_gemm_cpu(s);
    EXPECT_NE(reason->find(c.words), std::string::npos) << *reason << " for " << print_gemm_cpu(s);
  }
}

TEST(GemmCpuLegality, accepts_the_schedule_the_cases_start_from) {
  Problem problem;
  problem.m = 100, problem.n = 200, problem.k = 300;
  problem = with_tight_strides(problem);
  DeviceFacts device;
  device.isa = "avx512";
  EXPECT_EQ(find_gemm_cpu_illegality(make_legal(), problem, device).value_or("legal"), "legal");
}

TEST(GemmCpuLegality, limits_packed_blocks_to_the_caches) {
  Problem problem;
  problem.m = 20000, problem.n = 20000, problem.k = 20000;
  problem = with_tight_strides(problem);
  DeviceFacts device;
  device.isa = "avx512";
  const auto reason = find_gemm_cpu_illegality(make_legal(), problem, device);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("packed blocks"), std::string::npos) << *reason;
  GemmCpuSchedule direct = make_legal();
  direct.pack_a = direct.pack_b = false;
  const auto panel = find_gemm_cpu_illegality(direct, problem, device);
  ASSERT_TRUE(panel);
  EXPECT_NE(panel->find("one panel"), std::string::npos) << *panel;
}

// Their bytes would not fit 64 bits, and a wrapped number could look as if it fitted the cache.
TEST(GemmCpuLegality, refuses_matrices_beyond_all_memory) {
  Problem problem;
  problem.m = problem.k = 1 << 20, problem.n = int64_t{1} << 40;
  problem = with_tight_strides(problem);
  DeviceFacts device;
  device.isa = "avx512";
  const auto reason = find_gemm_cpu_illegality(make_legal(), problem, device);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("at most 2^50 elements"), std::string::npos) << *reason;
}

}  // namespace
}  // namespace kw
