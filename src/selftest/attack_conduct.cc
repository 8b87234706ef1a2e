// Attacks by what a kernel does while it runs: it does not end, crashes when nobody expects it, reaches for
// memory that is not its own, leaves the processor changed. Most are changes of the right kernel of
// mutants.cc; those that are mutants already are taken from there by name.
#include "selftest/attack.h"
#include "selftest/mutants.h"

namespace kw {
namespace {

Attack make_attack(const Mutant& mutant, std::string caught, std::string says = "") {
  return {mutant.name, mutant.expected, std::move(caught), std::move(says),
          [mutant](AttackBench& bench) { return bench.judge(make_mutant(mutant)); }};
}

Attack take_mutant(const std::string& name, std::string expected, std::string caught, std::string says = "") {
  return {name, std::move(expected), std::move(caught), std::move(says),
          [name](AttackBench& bench) { return bench.judge_mutant(name); }};
}

// In the last item of a call: counts calls in the workspace, which holds noise at first.
std::string on_later_call(const std::string& action) {
  return "unsigned* seen = reinterpret_cast<unsigned*>(call->workspace);"
         "if (last == m) { if (seen[0] == 0xabcd1234u) { " +
         action + " } seen[0] = 0xabcd1234u; }";
}

constexpr const char* kWait = "for (volatile int wait = 1; wait != 0;) {}";
constexpr const char* kWaitHalfAMinute =
    "for (volatile long wait = 0; wait < 10000000000; wait = wait + 1) {}";

std::vector<Attack> list_ends() {
  return {
      take_mutant("never_ends", "hang/time_limit", "worker"),
      make_attack({"ends_after_half_a_minute", "hang/time_limit", {{kEnd, kWaitHalfAMinute}}}, "worker"),
      make_attack({"hangs_on_the_second_call", "hang/time_limit", {{kEnd, on_later_call(kWait)}}, "64"},
                  "worker"),
      make_attack(
          {"crashes_on_a_later_call",
           "crash/illegal_instruction",
           {{kDeclarations, "static const unsigned char stop[] = {0x0f, 0x0b};"},
            {kEnd, on_later_call("reinterpret_cast<void (*)()>(const_cast<unsigned char*>(stop))();")}},
           "64"},
          "worker"),
      take_mutant("null_pointer", "crash/segfault", "worker"),
      take_mutant("division_by_zero", "crash/arithmetic", "worker"),
      take_mutant("endless_recursion", "crash/segfault", "worker", "stack has overflowed"),
      make_attack(
          {"gigabyte_on_the_stack",
           "crash/segfault",
           {{kEnd, "volatile char block[1 << 30]; for (long i = 0; i < 1 << 30; i += 4096) block[i] = 1;"}}},
          "worker"),
      make_attack({"jumps_into_an_operand",
                   "crash/segfault",
                   {{kEnd, "reinterpret_cast<void (*)()>(reinterpret_cast<long>(call->workspace))();"}},
                   "64"},
                  "worker", "workspace"),
  };
}

std::vector<Attack> list_overruns() {
  return {
      make_attack({"writes_its_own_code",
                   "crash/segfault",
                   {{kEnd, "*reinterpret_cast<volatile char*>(reinterpret_cast<long>(&gemm)) = 1;"}}},
                  "worker", "own code"),
      make_attack({"writes_its_own_constants",
                   "crash/segfault",
                   {{kDeclarations, "static const int table[] = {1, 2, 3};"},
                    {kEnd, "const int* volatile at = table; const_cast<int*>(at)[n % 3] = 4;"}}},
                  "worker", "own code"),
      make_attack({"writes_past_its_workspace", "crash/segfault", {{kEnd, "call->workspace[64] = 1;"}}, "64"},
                  "worker", "workspace"),
      make_attack({"writes_before_its_workspace",
                   "crash/segfault",
                   {{kEnd, "call->workspace[-4096 - 4096] = 1;"}},
                   "64"},
                  "worker", "workspace"),
      take_mutant("writes_past_c", "out_of_bounds/write_past_c", "comparison"),
      take_mutant("writes_gap_of_c", "out_of_bounds/write_gap_c", "comparison"),
      take_mutant("reads_past_a", "out_of_bounds/past_a", "worker"),
      take_mutant("writes_a", "input_modified/a", "worker"),
      make_attack(
          {"changes_an_input_and_back",
           "input_modified/b",
           {{kBegin,
             "if (k > 0 && n > 0) { volatile float* own = const_cast<float*>(b); const float kept = own[0];"
             " own[0] = kept + 1; own[0] = kept; }"}}},
          "worker"),
      make_attack(
          {"empties_the_inputs_to_skip_the_work",  // E02: zeros times zeros
           "input_modified/a",
           {{kBegin,
             "for (long long i = first; i < last; ++i) __builtin_memset(const_cast<float*>(a) + i * lda,"
             " 0, 4 * (unsigned long)k);"}}},
          "worker"),
  };
}

// The worker's own memory is in reach; what comes of it must be seen.
std::vector<Attack> list_reaches() {
  return {
      make_attack({"changes_the_sizes_it_is_given",
                   "wrong_result/n_tail",
                   {{kEnd, "if (last == m) const_cast<long long*>(call->size)[1] = 1;"}}},
                  "comparison"),
      make_attack({"clears_the_list_of_operands",
                   "crash/segfault",
                   {{kEnd, "if (last == m) const_cast<void**>(call->operand)[2] = nullptr;"}}},
                  "worker"),
      make_attack({"overwrites_the_stack_above_it",
                   "crash/segfault",
                   {{kEnd, "volatile long mark = 0; for (volatile long* at = &mark;; ++at) *at = 0;"}}},
                  "worker"),
      make_attack({"rounds_down_from_now_on",
                   "crash/control_state",
                   {{kEnd, "__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x2000);"}}},
                  "worker", "control"),
      make_attack({"flushes_small_numbers_from_now_on",
                   "crash/control_state",
                   {{kEnd, "__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);"}}},
                  "worker", "control"),
      make_attack({"turns_string_instructions_round",
                   "crash/control_state",
                   {{kEnd, "__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | 0x400);"}}},
                  "worker", "control"),
      make_attack(
          {"moves_the_thread_pointer",
           "crash/control_state",
           {{kDeclarations,
             "__attribute__((target(\"fsgsbase\"))) static void move() { __builtin_ia32_wrfsbase64(0); }"},
            {kEnd, "move();"}}},
          "worker"),
  };
}

}  // namespace

std::vector<Attack> list_conduct_attacks() {
  std::vector<Attack> attacks;
  for (const auto& list : {list_ends(), list_overruns(), list_reaches()})
    attacks.insert(attacks.end(), list.begin(), list.end());
  return attacks;
}

}  // namespace kw
