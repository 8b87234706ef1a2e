// A user's own kernel through the same stages as any candidate: emit, compile, verify, measure, promote,
// store.
#pragma once

#include "loop/tune.h"

namespace kw {

struct CheckRequest {
  Problem problem;
  std::string text, language = "c++", name;
  LaunchRecord launch;
  int threads = 1;
  fs::path store_path, cache_folder;
  std::string command;
};

struct CheckOutcome {
  Evaluation evaluation;            // verdict of the promotion, or of the stage that refused it
  std::optional<Timing> timing;     // only with a pass
  std::optional<Json> certificate;  // only with a pass
  std::vector<BaselineRow> baselines;
  DeviceFacts device;
  double flops = 0;
};

[[nodiscard]] Result<CheckOutcome> run_check(const CheckRequest& request, Progress& progress,
                                             const std::function<bool()>& should_stop);

}  // namespace kw
