// The fault run: candidates in a row through compiler, loader, worker and comparison; at random places one
// that carries a fault. In: how many. Out: what became of each kind and of the others, and what was left
// behind.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "selftest/battery.h"
#include "selftest/fault_footprint.h"

namespace kw {

// What must become of one kind of fault, or of the candidates without any, and what did.
struct FaultTally {
  std::string expected;
  int64_t count = 0, as_expected = 0;
  Json surprise = Json::object();  // of the first that came out differently
  double seconds = 0;
};

struct FaultRun {
  std::map<std::string, FaultTally> kinds;  // by name
  FaultTally others;                        // without a fault
  Footprint before, early, after;           // early: after a quarter of the candidates
};

// `faults` of the candidates carry one, the kinds in equal numbers; positions drawn from the seed.
struct FaultPlan {
  int candidates = 0, faults = 0;
  uint64_t seed = 0;
  std::function<bool()> should_stop = [] { return false; };
};

[[nodiscard]] std::vector<std::string> list_fault_kinds();

// Stops early when told so. Error when a stage fails us, which no fault may bring about.
[[nodiscard]] Result<FaultRun> run_faults(Battery& battery, const FaultPlan& plan);

}  // namespace kw
