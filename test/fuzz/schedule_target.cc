// Schedule key, on its first line, and a problem on the second: a key is accepted exactly in canonical form;
// what is legal has finite features, a positive time and tiles.
#include <cmath>

#include "base/check.h"
#include "schedule/gemm_cpu.h"
#include "schedule/space.h"
#include "target.h"

namespace kw::fuzz {
namespace {

DeviceFacts make_device(const char* isa, int threads) {
  DeviceFacts device;
  device.target = "cpu";
  device.isa = isa;
  device.cores = device.threads = threads;
  device.l1d_bytes = 48 << 10, device.l2_bytes = 2 << 20, device.l3_bytes = 32 << 20;
  device.peak_gflops = 100, device.bandwidth_gbs = 20, device.launch_floor_us = 1;
  return device;
}

void judge(std::string_view key, const Problem& problem, const DeviceFacts& device) {
  const auto space = make_space("gemm_cpu", problem, device);
  if (!space) return demand_plain(space.error());
  if (const auto reason = (*space)->find_illegality(key)) return demand_text(*reason, kMaxPrintedBytes);
  for (const double feature : (*space)->features(key)) KW_CHECK(std::isfinite(feature), "{}", key);
  KW_CHECK((*space)->predict_us(key) > 0, "{} on {}", key, print_problem(problem));
  KW_CHECK(!(*space)->behaviour(key).empty(), "{}", key);
  for (const int64_t size : (*space)->tile(key)) KW_CHECK(size >= 0, "{}", key);
  const auto schedule = parse_gemm_cpu(key);
  KW_CHECK(gemm_cpu_scratch_floats(*schedule, view_tile(problem, *schedule)) >= 0, "{}", key);
}

}  // namespace

void run_schedule(std::string_view input) {
  const size_t end = std::min(input.find('\n'), input.size());
  const std::string_view key = input.substr(0, end);
  const auto schedule = parse_gemm_cpu(key);
  if (!schedule) return demand_plain(schedule.error());
  KW_CHECK(print_gemm_cpu(*schedule) == key, "not canonical: {}", key);
  const auto given = end == input.size() ? parse_problem("") : parse_problem(input.substr(end + 1));
  Problem problem;
  problem.m = 129, problem.n = 1024, problem.k = 777;
  problem = given ? *given : with_tight_strides(problem);
  for (const char* isa : {"avx2", "avx512"})
    for (const int threads : {1, 8}) judge(key, problem, make_device(isa, threads));
}

}  // namespace kw::fuzz
