// Kernels that overrun, crash, hang, call the system or are damaged: each ends with its own outcome, and
// nothing else is harmed.
#include <dirent.h>
#include <signal.h>

#include <numeric>

#include "base/random.h"
#include "target/cpu/device_bench_test.h"
#include "target/cpu/program.h"
#include "target/shared_memory.h"

namespace kw {
namespace {

size_t count_descriptors() {
  size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

TEST(CpuDeviceAttack, names_operand_and_element_when_one_element_past_the_end_is_written) {
  const RunOutcome outcome = run_once("write_past_c", {1, Placement::kEnd});
  ASSERT_EQ(outcome.status, Outcome::kFault) << outcome.detail;
  EXPECT_EQ(outcome.signal, SIGSEGV);
  ASSERT_TRUE(outcome.fault.has_value()) << outcome.detail;
  EXPECT_EQ(outcome.fault->operand, "c");
  EXPECT_EQ(outcome.fault->element, 20);
  EXPECT_NE(outcome.detail.find("write"), std::string::npos) << outcome.detail;
}

TEST(CpuDeviceAttack, sees_one_element_past_the_end_in_the_pattern_when_aligned) {
  Bench bench = start(make_binary(kernels_object(), "write_past_c", "1"), make_gemm(4, 5, 6));
  EXPECT_FALSE(bench.buffers->find_guard_hit().has_value());
  ASSERT_TRUE(bench.program->run(0, 1, kLimit).ok());
  const auto hit = bench.buffers->find_guard_hit();
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->operand, "c");
  EXPECT_EQ(hit->element, 20);
  bench.buffers->fill_guards(2);
  EXPECT_FALSE(bench.buffers->find_guard_hit().has_value());
}

TEST(CpuDeviceAttack, sees_a_write_into_the_gap_between_rows) {
  Bench bench = start(make_binary(kernels_object(), "write_into_gap", "1"), make_gemm(4, 5, 6, 2));
  ASSERT_TRUE(bench.program->run(0, 1, kLimit).ok());
  const auto hit = bench.buffers->find_guard_hit();
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->operand, "c");
  EXPECT_EQ(hit->element, 5);
}

TEST(CpuDeviceAttack, faults_when_one_element_past_an_input_is_read) {
  const RunOutcome outcome = run_once("read_past_a", {1, Placement::kEnd});
  ASSERT_EQ(outcome.status, Outcome::kFault) << outcome.detail;
  ASSERT_TRUE(outcome.fault.has_value());
  EXPECT_EQ(outcome.fault->operand, "a");
  EXPECT_EQ(outcome.fault->element, 24);
}

TEST(CpuDeviceAttack, faults_or_sees_the_pattern_when_the_element_before_the_first_is_written) {
  const RunOutcome outcome = run_once("write_before_c");
  ASSERT_EQ(outcome.status, Outcome::kFault) << outcome.detail;
  ASSERT_TRUE(outcome.fault.has_value());
  EXPECT_EQ(outcome.fault->operand, "c");
  EXPECT_EQ(outcome.fault->element, -1);

  Bench bench =
      start(make_binary(kernels_object(), "write_before_c", "1"), make_gemm(4, 5, 6), {1, Placement::kEnd});
  ASSERT_TRUE(bench.program->run(0, 1, kLimit).ok());
  const auto hit = bench.buffers->find_guard_hit();
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->element, -1);
}

TEST(CpuDeviceAttack, faults_when_an_operand_without_elements_is_touched) {
  for (const Placement placement : {Placement::kAligned, Placement::kEnd}) {
    Bench bench = start(make_binary(kernels_object(), "gemm"), make_gemm(4, 5, 0), {1, placement});
    ASSERT_TRUE(bench.program->run(0, 1, kLimit).ok());
    EXPECT_EQ(count_wrong(*bench.buffers, 0), 0);
    const RunOutcome outcome = run_once("touch_b", {1, placement}, make_gemm(4, 5, 0));
    ASSERT_EQ(outcome.status, Outcome::kFault) << outcome.detail;
    ASSERT_TRUE(outcome.fault.has_value());
    EXPECT_EQ(outcome.fault->operand, "b");
  }
}

TEST(CpuDeviceAttack, reports_crashes_with_signal_and_cause) {
  struct Case {
    const char* kernel;
    int signal;
    const char* says;
  };
  for (const Case& c :
       {Case{"write_null", SIGSEGV, "not tell"}, Case{"divide", SIGFPE, "instruction"},
        Case{"trap", SIGILL, "instruction"}, Case{"overflow_stack", SIGSEGV, "stack"},
        Case{"write_own_code", SIGSEGV, "own code"}, Case{"run_data", SIGSEGV, "element 0 of a"}}) {
    const RunOutcome outcome = run_once(c.kernel);
    EXPECT_EQ(outcome.status, Outcome::kFault) << c.kernel << ": " << outcome.detail;
    EXPECT_EQ(outcome.signal, c.signal) << c.kernel;
    EXPECT_NE(outcome.detail.find(c.says), std::string::npos) << c.kernel << ": " << outcome.detail;
  }
}

TEST(CpuDeviceAttack, refuses_every_system_call_of_a_kernel_by_name) {
  struct Case {
    const char* kernel;
    const char* name;
  };
  for (const Case& c :
       {Case{"call_open", "open"}, Case{"call_socket", "socket"}, Case{"call_fork", "fork"},
        Case{"call_exit", "exit_group"}, Case{"forge_reply", "sendto"}, Case{"call_32_bit", ""}}) {
    const RunOutcome outcome = run_once(c.kernel);
    EXPECT_EQ(outcome.status, Outcome::kForbiddenCall) << c.kernel << ": " << outcome.detail;
    EXPECT_NE(outcome.detail.find(c.name), std::string::npos) << c.kernel << ": " << outcome.detail;
  }
}

TEST(CpuDeviceAttack, ends_a_kernel_that_leaves_control_state_changed) {
  for (const char* kernel :
       {"flush_to_zero", "set_direction", "set_x87_rounding", "move_thread_memory_away"}) {
    const RunOutcome outcome = run_once(kernel);
    EXPECT_EQ(outcome.status, Outcome::kControl) << kernel << ": " << outcome.detail;
  }
  EXPECT_EQ(run_once("set_alignment_check").signal, SIGBUS);  // at the worker's next misaligned access
}

TEST(CpuDeviceAttack, ends_a_kernel_that_reads_a_clock) {
  for (const char* kernel : {"read_cycles", "read_cycles_and_core", "read_counter"}) {
    const RunOutcome outcome = run_once(kernel);
    EXPECT_EQ(outcome.status, Outcome::kClock) << kernel << ": " << outcome.detail;
  }
}

TEST(CpuDeviceAttack, faults_when_an_input_is_changed_even_for_a_moment) {
  for (const int set : {0, 40}) {  // beyond kGuardedSets operands lie wall to wall
    Bench bench = start(make_binary(kernels_object(), "change_and_restore_a", "1"), make_gemm(4, 5, 6), {42});
    const RunOutcome outcome = bench.program->run(set, 1, kLimit);
    ASSERT_EQ(outcome.status, Outcome::kFault) << outcome.detail;
    ASSERT_TRUE(outcome.fault.has_value()) << outcome.detail;
    EXPECT_EQ(outcome.fault->operand, "a");
    EXPECT_EQ(outcome.fault->element, 1);
  }
}

TEST(CpuDeviceAttack, skips_a_kernel_that_wants_more_memory_than_there_is) {
  constexpr int kThreads = 256;
  if (find_spare_bytes() > kThreads * static_cast<size_t>(kMaxWorkspaceBytes))
    GTEST_SKIP() << "too much memory";
  auto device = make_device(kThreads);
  auto buffers = device->make_buffers(make_gemm(4, 5, 6), {});
  const auto program = device->start_candidate(
      make_binary(kernels_object(), "gemm", "m", "0", std::to_string(kMaxWorkspaceBytes)), **buffers);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  ASSERT_FALSE(program->has_value());
  EXPECT_EQ(program->error().code(), "skipped/memory_needed");
}

TEST(CpuDeviceAttack, stops_a_program_between_its_runs) {
  Bench bench = start(make_binary(kernels_object(), "gemm"), make_gemm(4, 5, 6));
  const std::string file = fmt::format("/proc/{}/stat", static_cast<CpuProgram&>(*bench.program).pid());
  const auto is_stopped = [&] {  // delivered when the thread next leaves the kernel
    const auto stat = read_file(file);
    return stat && stat->substr(stat->rfind(')') + 2, 1) == "T";
  };
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(bench.program->run(0, 1, kLimit).ok());
    const auto start = Clock::now();
    while (!is_stopped() && seconds_since(start) < 20) continue;
    EXPECT_TRUE(is_stopped());
  }
}

TEST(CpuDeviceAttack, outlives_kernels_whose_code_is_damaged) {
  auto device = make_device();
  auto buffers = device->make_buffers(make_gemm(4, 5, 6), {});
  Random random(3);
  int ran = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Binary binary = make_binary(kernels_object(), "gemm");
    // The code section follows the file header; headers and tables stay whole.
    for (int i = 0; i < 40; ++i) binary.object[64 + random.below(600)] = static_cast<char>(random.next());
    auto program = device->start_candidate(binary, **buffers);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    if (!*program) continue;
    ++ran;
    (**program)->run(0, 1, Milliseconds(100));
  }
  EXPECT_EQ(ran, 60);
}

TEST(CpuDeviceAttack, kills_a_kernel_that_never_ends) {
  for (const int threads : {1, 2}) {
    if (threads > static_cast<int>(find_usable_cpus().size())) continue;
    const char* kernel = threads == 1 ? "hang" : "hang_in_second_slot";
    Bench bench = start(make_binary(kernels_object(), kernel, "1000"), make_gemm(4, 5, 6), {}, threads);
    const pid_t pid = static_cast<CpuProgram&>(*bench.program).pid();
    const RunOutcome outcome = bench.program->run(0, 1, Milliseconds(200));
    EXPECT_EQ(outcome.status, Outcome::kTimeout) << outcome.detail;
    EXPECT_TRUE(is_gone(pid));
    EXPECT_EQ(bench.program->run(0, 1, kLimit).status, Outcome::kKilled) << "a dead program stays dead";
  }
}

TEST(CpuDeviceAttack, leaves_the_parents_memory_alone) {
  std::vector<uint64_t> own(100'000);
  std::iota(own.begin(), own.end(), 0);
  const std::vector<uint64_t> copy = own;
  for (const char* kernel : {"write_null", "overflow_stack", "write_past_c", "call_fork"}) run_once(kernel);
  EXPECT_EQ(own, copy);
}

TEST(CpuDeviceAttack, leaks_no_descriptor_and_no_process_over_many_starts) {
  auto device = make_device();
  auto buffers = device->make_buffers(make_gemm(4, 5, 6), {});
  size_t before = 0;
  const Binary right = make_binary(kernels_object(), "gemm"),
               crashing = make_binary(kernels_object(), "write_null");
  for (int i = 0; i < 200; ++i) {
    if (i == 2) before = count_descriptors();
    auto program = device->start_candidate(i % 4 == 3 ? crashing : right, **buffers);
    ASSERT_TRUE(program && *program);
    const pid_t pid = static_cast<CpuProgram&>(***program).pid();
    (**program)->run(0, 1, kLimit);
    program->value().reset();
    ASSERT_TRUE(is_gone(pid));
  }
  EXPECT_EQ(count_descriptors(), before);
}

}  // namespace
}  // namespace kw
