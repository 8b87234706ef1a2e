// The tune as a whole: every problem of a list searched, confirmed and decided, all of it in the store.
// Called by cli.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "loop/progress.h"
#include "measure/measure.h"
#include "record/candidate.h"
#include "record/device.h"
#include "store/store.h"

namespace kw {

struct TunePlan {
  std::vector<ProblemUse> uses;
  std::string target = "cpu";  // "cpu", "cuda"
  int threads = 1;             // of kernels and baselines
  uint64_t seed = 0;           // of the search; inputs come from a secret seed
  double budget_s = 0;         // of the whole command; 0 = none
  double shape_budget_s = 0;   // of one problem; 0 = an equal share of budget_s
  int64_t trials = 0;          // evaluations per problem, those in the store included; 0 = no limit
  std::vector<std::string> proposers = {"seed", "evolve"};
  fs::path store_path;
  fs::path cache_folder;  // of compiled objects
  int64_t max_cache_bytes = int64_t{512} << 20;
  fs::path recorded_table;      // not empty: replay this table instead of a device
  bool wait_for_device = true;  // another run on the same device: wait (true) or fail
  std::string command;          // as the user typed it
};

struct ProblemResult {
  ProblemUse use;
  Decision decision;
  std::optional<Timing> confirmation;  // of the decision's kernel
  std::string kernel_name, schedule;   // of the decision's kernel
  std::string failure;                 // why the shape could not be tuned; empty = it was
  std::optional<Evaluation> best;      // best measured so far, confirmed or not
  std::vector<BaselineRow> baselines;
  int64_t evaluations = 0, new_evaluations = 0, passed = 0;
  double flops = 0, bytes = 0;
};

struct TuneOutcome {
  std::vector<ProblemResult> results;  // of the problems that were reached
  DeviceFacts device;
  uint64_t secret_seed = 0;
  int64_t compiler_runs = 0;
  double elapsed_s = 0;
  bool interrupted = false;
};

// `should_stop` is asked often and from the measuring thread only; once true, the evaluation in flight is
// finished and stored and the rest is left.
[[nodiscard]] Result<TuneOutcome> run_tune(const TunePlan& plan, Progress& progress,
                                           const std::function<bool()>& should_stop);

}  // namespace kw
