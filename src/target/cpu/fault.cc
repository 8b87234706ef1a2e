// The handler makes one system call only, exit_group, which the closed filter still allows.
#include "target/cpu/fault.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

#include "base/check.h"

namespace kw {
namespace {

FaultRecord* g_record = nullptr;
std::atomic_flag g_taken = ATOMIC_FLAG_INIT;
thread_local int t_slot = 0;

void record_fault(int signal, siginfo_t* info, void* context) {
  if (!g_taken.test_and_set()) {
    const greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    constexpr greg_t kWriteBit = 2;  // of the page-fault error code
    g_record->signal = signal;
    g_record->code = info->si_code;
    g_record->slot = t_slot;
    g_record->instruction = static_cast<uint64_t>(registers[REG_RIP]);
    g_record->stack = static_cast<uint64_t>(registers[REG_RSP]);
    if (signal == SIGSYS) {
      g_record->system_call = info->si_syscall;
    } else {
      g_record->address = reinterpret_cast<uint64_t>(info->si_addr);
      g_record->is_write = (registers[REG_ERR] & kWriteBit) != 0;
    }
    // A protection fault without an address: the instruction was read, so its bytes are there.
    if (signal == SIGSEGV && info->si_code == SI_KERNEL && info->si_addr == nullptr)
      std::memcpy(g_record->code_bytes, reinterpret_cast<const void*>(registers[REG_RIP]),
                  sizeof g_record->code_bytes);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    g_record->written = 1;
  }
  syscall(SYS_exit_group, kFaultExitCode);
}

}  // namespace

void install_fault_handlers(FaultRecord* record) {
  g_record = record;
  struct sigaction action {};
  action.sa_sigaction = record_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS})
    KW_CHECK(sigaction(signal, &action, nullptr) == 0, "sigaction {}", signal);
}

void prepare_thread_for_faults(void* stack, int slot) {
  t_slot = slot;
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = kFaultStackBytes;
  KW_CHECK(sigaltstack(&alternate, nullptr) == 0, "sigaltstack of thread {}", slot);
}

}  // namespace kw
