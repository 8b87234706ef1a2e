// Attacks by machine code that no source rule sees: bytes of a constant table, run as code, call the system
// in every way the processor knows, or read a clock. One text holds them all; each attack launches one of its
// kernels.
#include <fmt/format.h>

#include "selftest/attack.h"
#include "selftest/mutants.h"

namespace kw {
namespace {

// rcx, the fourth argument of a function, to r10, the fourth of a call; the number; the call; return.
constexpr const char* kSystemCall = "0x49, 0x89, 0xca, 0xb8, {}, {}, 0, 0, 0x0f, 0x05, 0xc3";
// The same, but jumping to r9, the sixth argument, for the call: code that is not the kernel's.
constexpr const char* kBorrowedCall = "0x49, 0x89, 0xca, 0xb8, {}, {}, 0, 0, 0x41, 0xff, 0xe1";

constexpr const char* kHead = R"(
using Code = long (*)(unsigned long, unsigned long, unsigned long, unsigned long, unsigned long, const void*);
#define KERNEL(name) extern "C" void name(long long, const kw_call* call)
#define RUN(bytes, a, b, c) reinterpret_cast<Code>(const_cast<unsigned char*>(bytes))( \
    (unsigned long)(a), (unsigned long)(b), (unsigned long)(c), 0x22, 0, nullptr)
static const char path[] = "/tmp/kernelwright", line[] = "printed\n";
static float* answer(const kw_call* call) { return static_cast<float*>(call->operand[2]); }

// A call and return inside the C library, found downwards from where the stub of memcpy jumps to.
extern "C" void* memcpy(void*, const void*, unsigned long);
static const unsigned char* find_library_call() {
  static const unsigned char wanted[] = {0x0f, 0x05, 0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff, 0x73, 0x01, 0xc3};
  const volatile unsigned char* stub = reinterpret_cast<const unsigned char*>(&memcpy);
  const volatile unsigned char* slot = stub + 6 + *reinterpret_cast<const volatile int*>(stub + 2);
  const volatile unsigned char* at = *reinterpret_cast<const volatile unsigned char* const volatile*>(slot);
  for (;; --at) {
    unsigned same = 0;
    while (same < sizeof wanted && at[same] == wanted[same]) ++same;
    if (same == sizeof wanted) return const_cast<const unsigned char*>(at);
  }
}

// The system's clock function, found through the table above the first stack frame.
static const char* find_system_page() {
  const volatile unsigned long mark = 0, *at = &mark;
  for (;; ++at)
    if (at[0] == 33 && at[1] != 0 && at[1] % 4096 == 0 && at[-1] % 8 != 3) {
      const char* page = reinterpret_cast<const char*>(at[1]);
      if (page[0] == 0x7f && page[1] == 'E') return page;
    }
}
static bool is_same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}
struct Header { char start[32]; unsigned long programs; char rest[16]; unsigned short program_count; };
struct Segment { unsigned type, flags; unsigned long offset, address, physical, size, memory, alignment; };
struct Entry { long tag; unsigned long value; };
struct Symbol { unsigned name; unsigned char info, other; unsigned short section; unsigned long value, size; };
static const void* find_in_page(const char* page, const char* name) {
  const Header* header = reinterpret_cast<const Header*>(page);
  const Segment* segment = reinterpret_cast<const Segment*>(page + header->programs);
  while (segment->type != 2) ++segment;
  const char* names = nullptr;
  const Symbol* symbols = nullptr;
  for (const Entry* e = reinterpret_cast<const Entry*>(page + segment->offset); e->tag != 0; ++e) {
    if (e->tag == 5) names = page + e->value;
    if (e->tag == 6) symbols = reinterpret_cast<const Symbol*>(page + e->value);
  }
  while (!is_same(names + symbols->name, name)) ++symbols;
  return page + symbols->value;
}
)";

// A reply with the right token, which lies on the stack of the worker's loop, before the worker's own.
constexpr const char* kForgery = R"(
  const volatile unsigned long mark = 0, *at = &mark;
  while (!(at[0] >> 48 != 0 && at[1] == 0 && at[2] == 1 && at[3] <= 1)) ++at;
  const unsigned long token = at[0];
  reinterpret_cast<Code>(const_cast<unsigned char*>(forge))(3, (unsigned long)&token, sizeof token, 0, 0, find_library_call());
)";

struct SystemCall {
  const char* name;
  int number;
  const char* arguments;
};

// Numbers of the x86-64 table.
constexpr SystemCall kCalls[] = {
    {"open", 2, "path, 0x241, 0644"},
    {"write", 1, "1, line, 8"},
    {"read", 0, "0, answer(call), 8"},
    {"socket", 41, "2, 1, 0"},
    {"connect", 42, "3, path, 16"},
    {"fork", 57, "0, 0, 0"},
    {"clone", 56, "0x10f00, 0, 0"},
    {"execve", 59, "path, 0, 0"},
    {"kill", 62, "1, 9, 0"},
    {"ptrace", 101, "16, 1, 0"},
    {"mmap", 9, "0, 4096, 7"},
    {"mprotect", 10, "reinterpret_cast<unsigned long>(path) & -4096ul, 4096, 7"},
    {"prctl", 157, "26, 1, 0"},
    {"nanosleep", 35, "line, 0, 0"},
    {"clock_gettime", 228, "1, answer(call), 0"},
    {"memfd_create", 319, "path, 0, 0"},
    {"process_vm_readv", 310, "1, line, 1"},
    {"bpf", 321, "0, 0, 0"},
    {"io_uring_setup", 425, "8, line, 0"},
    {"exit_group", 231, "0, 0, 0"},
    {"sendto", 44, "3, line, 8"},
    {"recvfrom", 45, "3, answer(call), 8"},
    {"rt_sigreturn", 15, "0, 0, 0"},
    {"seccomp", 317, "0, 0, 0"},
};

// Others have no such instruction in 64-bit mode.
bool is_intel() {
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") != 0;
}

// Some systems have done away with it.
bool has_fixed_page() {
  const auto maps = read_file("/proc/self/maps");
  return maps && maps->find("[vsyscall]") != std::string::npos;
}

std::string print_bytes(const char* code, int number) {
  return fmt::format(fmt::runtime(code), number & 0xff, number >> 8);
}

std::string print_kernel(const std::string& name, const std::string& bytes, const std::string& body) {
  return fmt::format("KERNEL({}) {{\n  static const unsigned char code[] = {{{}}};\n  {}\n}}\n", name, bytes,
                     body);
}

std::string print_all() {
  std::string text = kHead;
  for (const SystemCall& call : kCalls)
    text += print_kernel(fmt::format("call_{}", call.name), print_bytes(kSystemCall, call.number),
                         fmt::format("RUN(code, {});", call.arguments));
  text += print_kernel("old_interrupt", "0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3", "RUN(code, 0, 0, 0);");
  text += print_kernel("fast_entry", "0xb8, 20, 0, 0, 0, 0x0f, 0x34, 0xc3", "RUN(code, 0, 0, 0);");
  text += print_kernel("cycle_counter", "0x0f, 0x31, 0xc3", "answer(call)[0] = (float)RUN(code, 0, 0, 0);");
  text += print_kernel("cycle_counter_and_core", "0x0f, 0x01, 0xf9, 0xc3", "RUN(code, 0, 0, 0);");
  text += print_kernel("event_counter", "0x31, 0xc9, 0x0f, 0x33, 0xc3", "RUN(code, 0, 0, 0);");
  text += print_kernel(
      "borrowed_call", print_bytes(kBorrowedCall, 2),
      "reinterpret_cast<Code>(const_cast<unsigned char*>(code))((unsigned long)path, 0, 0, 0, 0, "
      "find_library_call());");
  text += R"(KERNEL(system_clock) {
  long now[2];
  const void* function = find_in_page(find_system_page(), "__vdso_clock_gettime");
  reinterpret_cast<int (*)(int, long*)>(const_cast<void*>(function))(1, now);
  answer(call)[0] = (float)now[1];
}
KERNEL(fixed_page_clock) { answer(call)[0] = (float)reinterpret_cast<long (*)(long*)>(0xffffffffff600400ul)(nullptr); }
)";
  return text;
}

Attack make_call_attack(const std::string& name, const std::string& kernel_name, const std::string& expected,
                        const std::string& says) {
  return {name, expected, "worker", says, [kernel_name](AttackBench& bench) {
            CorpusKernel kernel;
            kernel.name = "calls " + kernel_name;
            kernel.text = print_all();
            kernel.kernels = {kernel_name};
            return bench.judge(kernel);
          }};
}

// Computes rightly, then answers for the worker.
Attack make_forgery() {
  Mutant mutant{"forged_answer", "", {}};
  mutant.edits = {{kDeclarations, fmt::format("{}\nstatic const unsigned char forge[] = {{{}}};", kHead,
                                              print_bytes(kBorrowedCall, 44))},
                  {kEnd, fmt::format("if (last == m) {{ {} }}", kForgery)}};
  return {mutant.name, "cheat/forbidden_syscall", "worker", "did not owe",
          [mutant](AttackBench& bench) { return bench.judge(make_mutant(mutant)); }};
}

}  // namespace

std::vector<Attack> list_call_attacks() {
  std::vector<Attack> attacks;
  for (const SystemCall& call : kCalls)
    attacks.push_back(make_call_attack(fmt::format("hidden_{}", call.name), fmt::format("call_{}", call.name),
                                       "cheat/forbidden_syscall", call.name));
  attacks.push_back(
      make_call_attack("call_from_the_C_library", "borrowed_call", "cheat/forbidden_syscall", "open"));
  attacks.push_back(
      make_call_attack("call_by_the_old_interrupt", "old_interrupt", "cheat/forbidden_syscall", ""));
  attacks.push_back(make_call_attack("call_by_the_32_bit_entry", "fast_entry",
                                     is_intel() ? "crash/segfault" : "crash/illegal_instruction", ""));
  attacks.push_back(make_forgery());
  attacks.push_back(make_call_attack("hidden_cycle_counter", "cycle_counter", "cheat/clock", "clock"));
  attacks.push_back(
      make_call_attack("hidden_cycle_counter_and_core", "cycle_counter_and_core", "cheat/clock", "clock"));
  attacks.push_back(make_call_attack("hidden_event_counter", "event_counter", "cheat/clock", "counter"));
  attacks.push_back(make_call_attack("clock_of_the_system_page", "system_clock", "cheat/clock", "clock"));
  if (has_fixed_page())
    attacks.push_back(
        make_call_attack("clock_of_the_fixed_page", "fixed_page_clock", "cheat/forbidden_syscall", "time"));
  return attacks;
}

}  // namespace kw
