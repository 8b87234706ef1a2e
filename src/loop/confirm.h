// The kernels that were chosen, measured once more in fresh processes: are they still never slower? For the
// bar cpu.significant_losses, and after a change of machine or toolchain.
#pragma once

#include "loop/tune.h"

namespace kw {

struct ConfirmCase {
  Decision decision;  // as the store has it
  std::string schedule;
  std::optional<Timing> now;  // fresh measurement of a chosen kernel; absent for vendor cases
  bool loss = false;          // significantly below 0.99, Holm over all cases (protocol.md B)
  std::string problem_found;  // "the kernel compiles to another binary now", ...; empty = measured or vendor
};

struct ConfirmOutcome {
  std::vector<ConfirmCase> cases;
  DeviceFacts device;
  bool interrupted = false;
};

// All decisions of the store that were made on this device with plan.threads; plan.uses is not used.
[[nodiscard]] Result<ConfirmOutcome> run_confirm(const TunePlan& plan, Progress& progress,
                                                 const std::function<bool()>& should_stop);

}  // namespace kw
