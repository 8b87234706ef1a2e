// Builds the filters: an own few BPF instructions for the address rule, which libseccomp cannot say, and
// libseccomp for the list of calls. The kernel takes the stricter answer of the two.
#include "cage/filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace kw {
namespace {

using Filter = void*;

constexpr uint32_t kAddressLow = offsetof(seccomp_data, instruction_pointer);
constexpr uint32_t kAddressHigh = kAddressLow + 4;

// Traps calls whose instruction pointer lies in [first, last], both with the same upper 32 bits.
Status refuse_calls_from(uint64_t first, uint64_t last) {
  const auto high = static_cast<uint32_t>(first >> 32);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddressHigh),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddressLow),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, static_cast<uint32_t>(first), 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, static_cast<uint32_t>(last), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof program / sizeof program[0], program};
  const unsigned flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter) != 0)
    return fail("cannot load the address filter: {}", std::strerror(errno));
  return {};
}

// The same for a range of any place; the pointer that the kernel sees lies behind the two-byte instruction.
Status refuse_calls_in(uint64_t begin, uint64_t end) {
  const uint64_t line = (end >> 32) << 32;
  if (begin + 1 >= line) return refuse_calls_from(begin + 1, end);
  KW_TRY_VOID(refuse_calls_from(begin + 1, line - 1));
  return refuse_calls_from(line, end);
}

// Loads and frees the filter; `code` is the first failure while it was built, 0 when none.
Status load_filter(Filter filter, int code) {
  if (code == 0) code = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
  if (code == 0) code = seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
  if (code == 0) code = seccomp_load(filter);
  seccomp_release(filter);
  if (code != 0) return fail("cannot load the system-call filter: {}", std::strerror(-code));
  return {};
}

}  // namespace

Status close_for_untrusted(int channel, uint64_t code_begin, uint64_t code_end) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail("cannot give up new privileges: {}", std::strerror(errno));
  KW_TRY_VOID(refuse_calls_in(code_begin, code_end));
  const Filter filter = seccomp_init(SCMP_ACT_TRAP);
  if (filter == nullptr) return fail("cannot build the system-call filter");
  int code = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_TRAP);
  for (const int call : {SCMP_SYS(recvfrom), SCMP_SYS(sendto)})
    if (code == 0)
      code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                              SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(channel)));
  for (const int call : {SCMP_SYS(futex), SCMP_SYS(exit_group)})
    if (code == 0) code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  return load_filter(filter, code);
}

Status close_for_vendor() {
  const Filter filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) return fail("cannot build the system-call filter");
  int code = 0;
  for (const int call : {SCMP_SYS(socket), SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace),
                         SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev)})
    if (code == 0) code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
  return load_filter(filter, code);
}

std::string print_system_call(int number) {
  char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  if (name == nullptr) return fmt::format("system call {}", number);
  std::string text = name;
  std::free(name);
  return text;
}

}  // namespace kw
