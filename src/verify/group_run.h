// Runs the checks of one workload at one placement in one worker: families in turn, then many calls and
// single changed elements; compares every output and keeps what was measured. Called by verify.cc. Makes no
// buffers, and no verdict of a pass.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "record/measured_family.h"
#include "verify/trial.h"
#include "verify/verify.h"

namespace kw {

// Checks that share one set of buffers and one worker.
struct Group {
  BufferPlan buffers;
  std::vector<const Check*> checks;
  bool many_calls = false;
};

// What was run and measured so far, over all groups of a subject.
struct Tally {
  std::vector<MeasuredFamily> families;
  int64_t checks = 0, runs = 0, workloads = 0, spread_checks = 0;
};

// A failure's verdict, or nothing when every run was right.
[[nodiscard]] std::optional<Verdict> run_group(const Group& group, Trial& trial, const Subject& subject,
                                               const VerifyPlan& plan, Random& random, Tally& tally);

}  // namespace kw
