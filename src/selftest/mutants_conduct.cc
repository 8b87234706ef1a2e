// Mutants that hang, crash, or break the trust rule.
#include <string>

#include "selftest/mutants.h"

namespace kw {

std::vector<Mutant> list_conduct_mutants() {
  return {
      {"never_ends", "hang/time_limit", {{kEnd, "for (volatile int wait = 1; wait != 0;) {}"}}},
      {"null_pointer", "crash/segfault", {{kEnd, "*static_cast<volatile int*>(nullptr) = 1;"}}},
      {"endless_recursion",
       "crash/segfault",
       {{kDeclarations,
         "__attribute__((noinline)) static int dive(volatile int* x) { volatile int y[64]; y[0] = *x + 1;"
         " return dive(y) + y[0]; }"},
        {kEnd, "volatile int x = 1; x = dive(&x);"}}},
      {"division_by_zero",
       "crash/arithmetic",
       {{kEnd, "volatile int zero = 0; zero = static_cast<int>(n + 7) / zero;"}}},
      {"illegal_instruction",
       "crash/illegal_instruction",
       {{kDeclarations,
         "__attribute__((noinline, used)) static int hide() { return 0x00c30b0f; }"},  // 0f 0b: ud2
        {kEnd, "reinterpret_cast<void (*)()>(reinterpret_cast<char*>(hide) + 1)();"}}},
      {"hidden_system_call",
       "cheat/forbidden_syscall",
       {{kDeclarations,  // the bytes 0f 05 c3 (syscall, return) inside a constant; two doubles put 2 (open)
                         // into al
         "__attribute__((noinline, used)) static int hide() { return 0x00c3050f; }"},
        {kEnd, "reinterpret_cast<void (*)(int, ...)>(reinterpret_cast<char*>(hide) + 1)(0, 1.0, 2.0);"}}},
      {"static_counter",
       "illegal/writable_static_data",
       {{kDeclarations, "static volatile int calls = 5;"}, {kEnd, "calls = calls + 1;"}}},
      {"calls_a_library",
       "illegal/undefined_symbol",
       {{kDeclarations, "extern \"C\" void* malloc(unsigned long);"},
        {kEnd, "if (n > 0) c = static_cast<float*>(malloc(4)), c[0] = 1;"}}},
      {"other_name", "launch_error/missing_kernel", {{"void gemm(", "void gemm_of_another_name("}}},
      {"inline_assembly", "illegal/inline_assembly", {{kEnd, "asm volatile(\"syscall\");"}}},
      {"reads_clock", "illegal/clock", {{kEnd, "if (__builtin_ia32_rdtsc() == 0) return;"}}},
      {"reads_file", "illegal/include", {{kDeclarations, "#include \"/proc/self/environ\""}}},
      {"no_cxx", "compile_error/syntax", {{kBegin, "this is no C++;"}}},
  };
}

}  // namespace kw
