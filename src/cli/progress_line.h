// Progress on stderr: one line rewritten in place in a terminal, a plain line now and then when piped.
#pragma once

#include <fstream>

#include "base/clock.h"
#include "loop/progress.h"

namespace kw {

class ProgressLine : public Progress {
 public:
  // `trace`: file that gets one line of JSON for each evaluation; empty = none.
  explicit ProgressLine(bool quiet, const std::string& trace = {});
  ~ProgressLine() override { clear(); }
  void update(const ProgressState& state) override;
  void say(const std::string& line) override;
  void record(const Evaluation& evaluation) override;

 private:
  void clear();
  bool quiet_, terminal_;
  std::ofstream trace_;
  bool shown_ = false;
  bool told_busy_ = false;
  size_t last_problem_ = SIZE_MAX;
  std::string last_phase_;
  Clock::time_point last_time_{};
};

// "[12/60 s] 3/12 1x896x4864 nt f32 | 57 tried, 55 right, crash 2 | best 1.31x onednn (41.2 us) | evolve"
[[nodiscard]] std::string print_progress(const ProgressState& state);

}  // namespace kw
