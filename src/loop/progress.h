// What a tune tells the person who waits: filled by loop, shown by cli. Carries no decisions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "record/candidate.h"

namespace kw {

struct ProgressState {
  std::string problem;  // described for people
  size_t problem_index = 0, problems = 1;
  std::string phase;                          // "preparing", "searching", "confirming"
  double elapsed_s = 0, budget_s = 0;         // budget 0 = none
  int64_t tried = 0, passed = 0, trials = 0;  // of this problem; trials 0 = no limit
  std::map<std::string, int64_t> failures;    // verdict code -> count
  std::string baseline;                       // the bar
  double baseline_us = 0;
  std::optional<double> best_us, best_ratio;
  std::string proposer;  // of the latest evaluation
  bool disturbed = false;
};

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void update(const ProgressState& state) = 0;    // often; the receiver limits its own rate
  virtual void say(const std::string& line) = 0;          // once, worth a line
  virtual void record(const Evaluation& evaluation) = 0;  // each one, after it is safe in the store
};

}  // namespace kw
