// One candidate or baseline loaded on one set of buffers: puts inputs in place, poisons, runs, and checks
// everything but the numbers (outcome, guards, inputs). Used by verify.cc; compares no output with a
// reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/check.h"
#include "target/device.h"
#include "verify/poison.h"

namespace kw {

using StartedProgram = tl::expected<std::unique_ptr<Program>, Verdict>;

// What is on trial.
struct Subject {
  std::function<Result<StartedProgram>(Buffers&)> start;
  std::string hash;           // binary hash; empty for a baseline
  bool deterministic = true;  // promises bitwise equal repeats
  bool has_memory = true;     // workspace or scratch: somewhere to keep things between calls
  int threads = 1;
};

// How one run is prepared. Equal recipes on a kernel that keeps its promises give equal bits.
struct Recipe {
  PoisonKind poison = PoisonKind::kFinite;
  uint64_t output_seed = 0;                // of the pattern in pure outputs
  std::optional<uint64_t> workspace_seed;  // nothing: workspace stays as the call before left it
  int64_t calls = 1;                       // more than one only where the output is pure
  bool items_reversed = false;
};

class Trial {
 public:
  // The program must be loaded on `buffers`.
  Trial(std::unique_ptr<Buffers> buffers, std::unique_ptr<Program> program, const Subject& subject,
        BufferPlan plan, Milliseconds limit);

  // Puts the check's inputs (or `contents` in place of them) into the buffers and fills the guards. Both must
  // outlive the runs that follow.
  void load(const Check& check, uint64_t guard_seed);
  void load(const Check& check, const std::vector<std::vector<std::byte>>& contents, uint64_t guard_seed);

  // Prepares and runs; nothing when the run ended well, guards hold and inputs are unchanged. The output is
  // then valid.
  [[nodiscard]] std::optional<Verdict> run(const Recipe& recipe);

  const std::vector<std::byte>& output() const { return output_; }  // of the last run
  const std::vector<std::byte>& before() const { return before_; }  // output operand before the last run
  // Every operand as it lies in memory now, with what stands in the gaps.
  [[nodiscard]] std::vector<std::vector<std::byte>> memory();
  const Operand& output_operand() const;
  bool output_is_pure() const { return output_operand().access == Access::kOut; }
  const Check& check() const { return *check_; }
  int64_t runs() const { return runs_; }
  // family, seed, problem, placement, threads: in every verdict; the kernel's own view where strides are
  // spread.
  [[nodiscard]] Json print_circumstances() const;

 private:
  void prepare(const Recipe& recipe);
  std::optional<Verdict> judge_outcome(const RunOutcome& outcome) const;
  std::optional<Verdict> find_guard_damage();
  std::optional<Verdict> find_changed_input();

  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<Program> program_;  // after buffers_: goes first
  const Subject& subject_;
  BufferPlan plan_;
  Milliseconds limit_;
  const Check* check_ = nullptr;
  const std::vector<std::vector<std::byte>>* contents_ = nullptr;
  std::vector<std::byte> output_, before_;
  int64_t runs_ = 0;
};

}  // namespace kw
