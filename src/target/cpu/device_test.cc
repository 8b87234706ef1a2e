// The CPU device with kernels that behave: right results, sets, threads, workspace, baselines, refusals of
// records.
#include "target/cpu/device.h"

#include <algorithm>

#include "target/cpu/device_bench_test.h"
#include "target/cpu/program.h"

namespace kw {
namespace {

TEST(CpuDevice, computes_gemm_in_every_placement_and_set) {
  for (const Placement placement : {Placement::kAligned, Placement::kEnd}) {
    Bench bench = start(make_binary(kernels_object(), "gemm"), make_gemm(17, 13, 9, 3), {40, placement});
    const RunOutcome outcome = bench.program->run(0, 40, kLimit);
    ASSERT_TRUE(outcome.ok()) << outcome.detail;
    for (int set = 0; set < 40; ++set) EXPECT_EQ(count_wrong(*bench.buffers, set), 0) << "set " << set;
    EXPECT_FALSE(bench.buffers->find_guard_hit().has_value());
  }
}

TEST(CpuDevice, rotates_sets_from_the_first_and_wraps) {
  Bench bench = start(make_binary(kernels_object(), "count_call", "1"), make_gemm(1, 1, 1), {3});
  for (int set = 0; set < 3; ++set) std::memset(bench.buffers->contents(set, 2).data(), 0, 4);
  ASSERT_TRUE(bench.program->run(2, 7, kLimit).ok());
  std::vector<float> counts(3);
  for (int set = 0; set < 3; ++set)
    std::memcpy(&counts[static_cast<size_t>(set)], bench.buffers->contents(set, 2).data(), sizeof(float));
  EXPECT_EQ(counts, (std::vector<float>{2, 2, 3}));
}

TEST(CpuDevice, gives_aligned_workspace_and_scratch_that_end_at_a_guard) {
  const Workload workload = make_gemm(8, 8, 8);
  Bench bench = start(make_binary(kernels_object(), "note_workspace", "8", "m*64", "128"), workload);
  ASSERT_TRUE(bench.program->run(0, 1, kLimit).ok());
  for (size_t i = 0; i < 8; ++i) {
    float misalignment;
    std::memcpy(&misalignment, bench.buffers->contents(0, 2).data() + i * sizeof(float), sizeof(float));
    EXPECT_EQ(misalignment, 0);
  }
  for (const char* kernel : {"write_past_workspace", "write_past_scratch"}) {
    Bench past = start(make_binary(kernels_object(), kernel, "1", "m*64", "128"), workload);
    const RunOutcome outcome = past.program->run(0, 1, kLimit);
    EXPECT_EQ(outcome.status, Outcome::kFault) << kernel;
    EXPECT_NE(outcome.detail.find(kernel + 11), std::string::npos) << outcome.detail;
  }
}

TEST(CpuDevice, poisons_the_workspace_from_the_seed) {
  Bench bench = start(make_binary(kernels_object(), "sum_bytes", "1", "m*64"), make_gemm(64, 1, 1));
  const auto run_sum = [&] {
    float sum = 0;
    EXPECT_TRUE(bench.program->run(0, 1, kLimit).ok());
    std::memcpy(&sum, bench.buffers->contents(0, 2).data(), sizeof sum);
    return sum;
  };
  bench.program->poison_workspace(1);
  const float first = run_sum();
  bench.program->poison_workspace(2);
  EXPECT_NE(run_sum(), first);
  bench.program->poison_workspace(1);
  EXPECT_EQ(run_sum(), first);
}

TEST(CpuDevice, runs_the_kernels_of_a_record_in_order) {
  Binary binary = make_binary(kernels_object(), "first_byte", "m", "m");
  binary.launch.kernels.push_back({"sum_bytes", *Expression::parse("1")});
  const int threads = std::min<int>(2, static_cast<int>(find_usable_cpus().size()));
  Bench bench = start(binary, make_gemm(500, 1, 1), {}, threads);
  for (int i = 0; i < 50; ++i) {
    bench.program->poison_workspace(static_cast<uint64_t>(i));
    ASSERT_TRUE(bench.program->run(0, 1, kLimit).ok());
    float sum = 0;
    std::memcpy(&sum, bench.buffers->contents(0, 2).data(), sizeof sum);
    ASSERT_EQ(sum, 500) << "run " << i;
  }
}

TEST(CpuDevice, computes_with_a_pool_of_two_or_more_threads) {
  for (const int threads : {2, 3}) {
    CpuDevicePlan plan;
    plan.threads = threads;
    plan.cores = find_usable_cpus();
    plan.facts = DeviceFacts{};
    plan.facts->isa = "none";
    auto device = make_cpu_device(plan);
    ASSERT_TRUE(device.has_value());
    auto buffers = (*device)->make_buffers(make_gemm(133, 37, 21), {3});
    ASSERT_TRUE(buffers.has_value());
    fill_inputs(**buffers);
    auto program = (*device)->start_candidate(make_binary(kernels_object(), "gemm"), **buffers);
    ASSERT_TRUE(program && *program);
    const RunOutcome outcome = (**program)->run(0, 300, kLimit);
    ASSERT_TRUE(outcome.ok()) << outcome.detail;
    for (int set = 0; set < 3; ++set) EXPECT_EQ(count_wrong(**buffers, set), 0) << threads << " threads";
  }
}

TEST(CpuDevice, gives_every_slot_its_own_scratch) {
  if (find_usable_cpus().size() < 2) GTEST_SKIP() << "one core";
  Bench bench = start(make_binary(kernels_object(), "keep_scratch_address", "64", "0", "4096"),
                      make_gemm(64, 2, 1), {}, 2);
  ASSERT_TRUE(bench.program->run(0, 1, kLimit).ok());
  std::vector<uint64_t> addresses(64);
  std::memcpy(addresses.data(), bench.buffers->contents(0, 2).data(), addresses.size() * sizeof(uint64_t));
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  ASSERT_EQ(addresses.size(), 2U);
  EXPECT_GE(addresses[1] - addresses[0], 4096U);
}

TEST(CpuDevice, lets_kernels_use_memcpy_and_memset) {
  for (const char* flag : {"-O2", "-fno-plt"}) {
    Bench bench =
        start(make_binary(compile_kernels(kKernels, {flag}), "copy_memory", "1"), make_gemm(64, 1, 1));
    ASSERT_TRUE(bench.program->run(0, 1, kLimit).ok());
    const auto a = bench.buffers->contents(0, 0), c = bench.buffers->contents(0, 2);
    EXPECT_TRUE(std::equal(c.begin() + 128, c.end(), a.begin() + 128)) << flag;
    EXPECT_TRUE(std::all_of(c.begin(), c.begin() + 128, [](std::byte b) { return b == std::byte{0}; }))
        << flag;
  }
}

TEST(CpuDevice, refuses_records_with_a_reason) {
  const auto refusal = [](const Binary& binary, const Workload& workload = make_gemm(4, 5, 6)) {
    auto device = make_device();
    auto buffers = device->make_buffers(workload, {});
    auto program = device->start_candidate(binary, **buffers);
    EXPECT_TRUE(program.has_value() && !program->has_value());
    EXPECT_EQ(program->error().binary_hash, binary.hash);
    return program->error().code();
  };
  EXPECT_EQ(refusal(make_binary(kernels_object(), "absent")), "launch_error/missing_kernel");
  EXPECT_EQ(refusal(make_binary(kernels_object(), "gemm", "m*0-1")), "launch_error/launch_numbers");
  EXPECT_EQ(refusal(make_binary(kernels_object(), "gemm", "m", "9223372036854775807*2")),
            "launch_error/launch_numbers");
  Binary binary = make_binary(kernels_object(), "gemm");
  binary.launch.domain = {{"k", 1, 100, 4}};
  EXPECT_EQ(refusal(binary), "illegal/outside_domain");
  binary.launch.domain.clear();
  binary.launch.isa = "avx9000";
  EXPECT_EQ(refusal(binary), "launch_error/unknown_isa");
  binary.launch.isa = "none";
  binary.launch.kernels.clear();
  EXPECT_EQ(refusal(binary), "launch_error/missing_kernel");
  binary.launch.target = "cuda";
  EXPECT_EQ(refusal(binary), "launch_error/wrong_target");
}

TEST(CpuDevice, says_so_when_memory_is_not_enough) {
  auto device = make_device();
  const auto huge = device->make_buffers(make_gemm(1 << 20, 1 << 20, 4), {});
  ASSERT_FALSE(huge.has_value());
  EXPECT_NE(huge.error().message.find("smaller problem"), std::string::npos) << huge.error().message;
}

TEST(CpuDevice, refuses_cores_and_threads_that_are_not_there) {
  CpuDevicePlan plan;
  plan.threads = 0;
  EXPECT_EQ(make_cpu_device(plan).error().kind, ErrorKind::kUser);
  plan.threads = 1;
  plan.cores = {4095};
  EXPECT_EQ(make_cpu_device(plan).error().kind, ErrorKind::kUser);
}

TEST(CpuDevice, errs_when_the_worker_program_is_missing_or_no_worker) {
  for (const char* worker : {"/nowhere/to/be/found", "/bin/true"}) {
    CpuDevicePlan plan;
    plan.worker = worker;
    plan.facts = DeviceFacts{};
    plan.facts->isa = "none";
    auto device = make_cpu_device(plan);
    auto buffers = (*device)->make_buffers(make_gemm(4, 5, 6), {});
    const auto program = (*device)->start_candidate(make_binary(kernels_object(), "gemm"), **buffers);
    ASSERT_FALSE(program.has_value());
    EXPECT_NE(program.error().message.find("worker"), std::string::npos) << program.error().message;
  }
}

TEST(CpuDevice, measures_a_launch_floor_above_nothing) {
  const auto floor_us = measure_launch_floor_us({});
  ASSERT_TRUE(floor_us.has_value()) << floor_us.error().message;
  EXPECT_GT(*floor_us, 0);
}

TEST(CpuDevice, elapsed_grows_with_the_number_of_calls) {
  Bench bench = start(make_binary(kernels_object(), "gemm"), make_gemm(32, 32, 32));
  ASSERT_TRUE(bench.program->run(0, 100, kLimit).ok());
  const double few_us = bench.program->run(0, 100, kLimit).elapsed_us;
  const double many_us = bench.program->run(0, 2000, kLimit).elapsed_us;
  EXPECT_GT(many_us, 2 * few_us);
}

TEST(CpuDevice, runs_vendor_baselines_right) {
  const int threads = std::min<int>(2, static_cast<int>(find_usable_cpus().size()));
  auto device = make_device(threads);
  auto buffers = device->make_buffers(make_gemm(33, 29, 31), {2});
  const auto names = device->find_baselines((*buffers)->workload());
  ASSERT_TRUE(names);
  for (const std::string& name : *names) {
    fill_inputs(**buffers);
    auto program = device->start_baseline(name, **buffers);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_EQ((*program)->identity().substr(0, name.size()), name);
    for (int run = 0; run < 5; ++run) {
      std::memset((*buffers)->contents(0, 2).data(), 0xff, (*buffers)->contents(0, 2).size());
      const RunOutcome outcome = (*program)->run(0, 2, kLimit);
      ASSERT_TRUE(outcome.ok()) << name << ": " << outcome.detail;
      for (int set = 0; set < 2; ++set) EXPECT_EQ(count_wrong(**buffers, set), 0) << name;
    }
    EXPECT_FALSE((*buffers)->find_guard_hit().has_value()) << name;
  }
  EXPECT_FALSE(device->start_baseline("mkl", **buffers).has_value());
}

}  // namespace
}  // namespace kw
