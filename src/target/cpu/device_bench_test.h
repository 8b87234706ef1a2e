// A bench for tests of the CPU device: kernels that compute, overrun, crash, hang or call the system, and the
// steps to start one of them on fresh buffers. Included by device_test.cc and device_attack_test.cc.
#pragma once

#include <memory>
#include <string>

#include "target/cpu/device.h"
#include "target/cpu/facts.h"
#include "target/cpu/kernels_test.h"

namespace kw {

inline constexpr Milliseconds kLimit{20'000};
using Outcome = RunOutcome::Status;

// One object for all tests; each launches one of its kernels.
inline constexpr const char* kKernels = R"text(
#define KERNEL(name) extern "C" __attribute__((visibility("default"))) void name(long long item, const kw_call* call)
static long raw_call(long number, long a, long b, long c) {
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}
static float* operand(const kw_call* call, int i) { return (float*)call->operand[i]; }
KERNEL(gemm) {
  const long long n = call->size[1], k = call->size[2], lda = call->size[3], ldb = call->size[4], ldc = call->size[5];
  const float *a = operand(call, 0), *b = operand(call, 1);
  for (long long j = 0; j < n; ++j) {
    float sum = 0;
    for (long long l = 0; l < k; ++l) sum += a[item * lda + l] * b[l * ldb + j];
    operand(call, 2)[item * ldc + j] = sum;
  }
}
KERNEL(write_past_c) { operand(call, 2)[(call->size[0] - 1) * call->size[5] + call->size[1]] = 1; }
KERNEL(write_before_c) { operand(call, 2)[-1] = 1; }
KERNEL(write_into_gap) { operand(call, 2)[call->size[1]] = 1; }
KERNEL(read_past_a) {
  volatile float* a = operand(call, 0);
  operand(call, 2)[0] = a[(call->size[0] - 1) * call->size[3] + call->size[2]];
}
KERNEL(touch_b) { *(volatile float*)operand(call, 1); }
KERNEL(write_null) { *(volatile int*)0 = 1; }
KERNEL(hang) { for (;;) asm volatile(""); }
KERNEL(hang_in_second_slot) { while (call->slot != 0) asm volatile(""); for (int i = 0; i < 1000; ++i) asm volatile("pause"); }
KERNEL(call_open) { raw_call(2, (long)"/etc/passwd", 0, 0); }
KERNEL(call_socket) { raw_call(41, 2, 1, 0); }
KERNEL(call_fork) { raw_call(57, 0, 0, 0); }
KERNEL(call_exit) { raw_call(231, 0, 0, 0); }
KERNEL(forge_reply) { char reply[8] = {}; raw_call(44, 3, (long)reply, 8); }
KERNEL(call_32_bit) { asm volatile("int $0x80" : : "a"(1L), "b"(0L) : "memory"); }
KERNEL(divide) { volatile int zero = 0; volatile int one = 1; one = one / zero; }
KERNEL(trap) { __builtin_trap(); }
__attribute__((noinline)) static long sink(long depth) {
  volatile char big[4096];
  big[depth % 4096] = 1;
  return depth < 0 ? 0 : sink(depth + 1) + big[(depth + 1) % 4096];
}
KERNEL(overflow_stack) { operand(call, 2)[0] = (float)sink(item); }
KERNEL(write_own_code) { *(volatile char*)&gemm = 1; }
KERNEL(run_data) { ((void (*)())call->operand[0])(); }
KERNEL(note_workspace) {
  float* c = operand(call, 2);
  c[item] = (float)((unsigned long)call->workspace % 64 + (unsigned long)call->scratch % 64);
  call->workspace[0] = 1;
  call->workspace[call->size[0] * 64 - 1] = 2;
  call->scratch[0] = 3;
  call->scratch[127] = 4;
}
KERNEL(write_past_workspace) { call->workspace[call->size[0] * 64] = 2; }
KERNEL(write_past_scratch) { call->scratch[128] = 2; }
KERNEL(keep_scratch_address) {
  for (int i = 0; i < 20000; ++i) asm volatile("pause");
  ((const char**)operand(call, 2))[item] = call->scratch;
}
KERNEL(count_call) { operand(call, 2)[0] += 1; }
KERNEL(copy_memory) {
  __builtin_memcpy(operand(call, 2), operand(call, 0), (unsigned long)call->size[0] * 4);
  __builtin_memset(operand(call, 2), 0, (unsigned long)(call->size[0] / 2) * 4);
}
KERNEL(flush_to_zero) { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000); }
KERNEL(set_direction) { asm volatile("std"); }
KERNEL(set_alignment_check) { __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | 0x40000); }
KERNEL(set_x87_rounding) {
  unsigned short control = 0;
  asm volatile("fnstcw %0" : "=m"(control));
  control |= 0xc00;
  asm volatile("fldcw %0" : : "m"(control));
}
__attribute__((target("fsgsbase"))) static void move_thread_memory() { __builtin_ia32_wrfsbase64(0); }
KERNEL(move_thread_memory_away) { move_thread_memory(); }
KERNEL(read_cycles) { *(volatile long long*)operand(call, 2) = __builtin_ia32_rdtsc(); }
KERNEL(read_cycles_and_core) { unsigned core; *(volatile long long*)operand(call, 2) = __builtin_ia32_rdtscp(&core); }
KERNEL(read_counter) { *(volatile long long*)operand(call, 2) = __builtin_ia32_rdpmc(0); }
KERNEL(change_and_restore_a) {
  volatile float* a = operand(call, 0);
  const float kept = a[1];
  a[1] = kept + 1;
  a[1] = kept;
}
KERNEL(first_byte) { call->workspace[item] = 1; }
KERNEL(sum_bytes) {
  float sum = 0;
  for (long long i = 0; i < call->size[0]; ++i) sum += call->workspace[i];
  operand(call, 2)[item] = sum;
}
)text";

inline const std::string& kernels_object() {
  static const std::string object = compile_kernels(kKernels);
  return object;
}

inline std::unique_ptr<Device> make_device(int threads = 1) {
  CpuDevicePlan plan;
  plan.threads = threads;
  DeviceFacts facts;
  facts.target = "cpu";
  facts.isa = find_cpu_isa();
  facts.threads = threads;
  plan.facts = facts;
  auto device = make_cpu_device(plan);
  EXPECT_TRUE(device.has_value()) << (device ? "" : device.error().message);
  return *std::move(device);
}

struct Bench {
  std::unique_ptr<Device> device;
  std::unique_ptr<Buffers> buffers;
  std::unique_ptr<Program> program;
};

inline Bench start(const Binary& binary, const Workload& workload, const BufferPlan& plan = {},
                   int threads = 1) {
  Bench bench{make_device(threads)};
  auto buffers = bench.device->make_buffers(workload, plan);
  EXPECT_TRUE(buffers.has_value()) << (buffers ? "" : buffers.error().message);
  bench.buffers = *std::move(buffers);
  fill_inputs(*bench.buffers);
  auto program = bench.device->start_candidate(binary, *bench.buffers);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  EXPECT_TRUE(program->has_value()) << (program->has_value() ? "" : program->error().code());
  bench.program = std::move(**program);
  return bench;
}

inline RunOutcome run_once(const std::string& kernel, const BufferPlan& plan = {},
                           const Workload& workload = make_gemm(4, 5, 6)) {
  return start(make_binary(kernels_object(), kernel, "1"), workload, plan).program->run(0, 1, kLimit);
}

}  // namespace kw
