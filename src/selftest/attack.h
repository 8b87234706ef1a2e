// What somebody may try to fool or break this bench with, as a list: each attack, the verdict it must get and
// the stage that must give it. The themes are in attack_*.cc; attack_section.cc runs them all. Misuse of the
// machine around the bench (full disks, killed compilers) is the faults section's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "selftest/battery.h"

namespace kw {

// Where an attack ended. `caught` is empty when it got through.
struct Stopped {
  std::string code;  // a verdict's code, or kUserError
  std::string
      caught;  // "source rules", "compiler", "launch record", "loader", "worker", "comparison", "timing"
  std::string detail;  // what the user is told
};
inline constexpr const char* kUserError = "user error";  // refused while it is read, with exit code 2

// What attacks run on: the battery, a compiler with tight limits, one secret seed.
class AttackBench {
 public:
  [[nodiscard]] static Result<AttackBench> make(Battery& battery, uint64_t seed);

  // Through every stage.
  [[nodiscard]] Result<Stopped> judge(const CorpusKernel& kernel);
  // From the loader on, with the record of a kernel "gemm" of `items` items unless another is given.
  [[nodiscard]] Result<Stopped> judge_object(const std::string& object);
  [[nodiscard]] Result<Stopped> judge_object(const std::string& object, const LaunchRecord& launch);
  // Only through the compiler with tight limits: what the source rules let through.
  [[nodiscard]] Result<Stopped> compile(const std::string& text);
  // The mutant of this name, which is in the mutants section too.
  [[nodiscard]] Result<Stopped> judge_mutant(const std::string& name);
  // Timed against the right kernel of mutants.cc without having been verified. `sets` = 0: as many operand
  // sets as a measurement uses. Without `spots` no output is looked at.
  [[nodiscard]] Result<Stopped> time(const CorpusKernel& kernel, int sets = 0, bool spots = true);

 private:
  AttackBench(Battery& battery, Compiler compiler, uint64_t seed)
      : battery_(&battery), tight_(std::move(compiler)), seed_(seed) {}
  Battery* battery_;
  Compiler tight_;
  uint64_t seed_;
};

struct Attack {
  std::string name, expected, caught;
  std::string says;  // must occur in Stopped::detail; empty = anything
  std::function<Result<Stopped>(AttackBench&)> run;
};

[[nodiscard]] std::vector<Attack> list_source_attacks();  // texts that the source rules refuse
[[nodiscard]] std::vector<Attack>
list_compiler_attacks();                                  // texts that exhaust the compiler or hide behind it
[[nodiscard]] std::vector<Attack> list_record_attacks();  // launch records
[[nodiscard]] std::vector<Attack> list_object_attacks();  // hand-made objects
[[nodiscard]] std::vector<Attack> list_call_attacks();  // machine code that calls the system or reads clocks
[[nodiscard]] std::vector<Attack>
list_conduct_attacks();                                   // hangs, crashes, overruns, the worker's own memory
[[nodiscard]] std::vector<Attack> list_answer_attacks();  // answers that were not computed
[[nodiscard]] std::vector<Attack> list_timing_attacks();  // work that is not done while the clock runs

[[nodiscard]] Stopped make_stopped(const Judged& judged);

}  // namespace kw
