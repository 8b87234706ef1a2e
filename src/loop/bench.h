// A benchmark over many problems: the vendor's routines on this device, and ours where there is one. In: a
// device, problems, modes, a file. Out: a table that grows by a row a finished case; stopped at any time and
// started again it goes on where it was. Called by cli. Sums nothing up: ship/bench_summary.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "loop/bench_case.h"
#include "ship/bench_summary.h"

namespace kw {

struct BenchPlan {
  std::vector<ProblemUse> uses;
  std::vector<BenchMode> modes = {BenchMode::kOffline};
  fs::path table;
  uint64_t seed = 0;  // of inputs and orders; secret where candidates run
  BenchSettings settings;
};

struct BenchProgress {
  size_t done = 0, total = 0;    // problems, those that were finished before included
  double elapsed_s = 0;          // since this run began
  std::optional<double> left_s;  // by the mean of the cases of this run so far
  std::string problem;           // in work, described for people
};

struct BenchWatcher {
  std::function<void(const BenchProgress&)> show;  // before every case
  std::function<void(const std::string&)> say;     // once, worth a line: refused routines, failed cases
  std::function<bool()> should_stop;               // asked between cases
};

struct BenchOutcome {
  std::vector<BenchCase> cases;  // of the plan's problems and modes, in the table's order
  int64_t measured = 0;          // rows that this run added
  int64_t known = 0;             // rows that were there
  int64_t failed = 0;            // problems that the device could not run; a new start tries them again
  bool interrupted = false;
};

// Ends early, with all finished rows in the table: when asked to stop, on a full disk, when a mode is not
// supported, and when three problems in a row fail.
[[nodiscard]] Result<BenchOutcome> run_bench(Device& device, const BenchPlan& plan,
                                             const BenchWatcher& watcher);

}  // namespace kw
