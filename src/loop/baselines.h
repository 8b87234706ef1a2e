// Which vendor routines may be the bar: ranked, as a library may offer dozens, then shown to be right from
// the fastest on. In: a device, filled buffers, names, a way to find faults. Out: routines worth measuring,
// and why the others are not among them. Used by live_lab and bench_case.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/measure.h"

namespace kw {

struct BaselineChoice {
  size_t most = 4;                  // the fastest right ones
  std::vector<std::string> always;  // looked at as well, however slow
  Milliseconds run_limit{10'000};
  // Nothing when the routine computes the right thing, else what is wrong; asked once for each routine,
  // whatever its names.
  std::function<Result<std::optional<std::string>>(const std::string& name)> find_fault;
};

struct ChosenBaselines {
  std::vector<std::string> names;    // right, at most one name for each routine but the `always` ones
  std::vector<BaselineRow> refused;  // those that did not run, and those that were looked at and wrong
};

[[nodiscard]] Result<ChosenBaselines> choose_baselines(Device& device, Buffers& buffers,
                                                       const std::vector<std::string>& names,
                                                       const BaselineChoice& choice);

}  // namespace kw
