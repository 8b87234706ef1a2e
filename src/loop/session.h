// What the problems of one tune share: store, device, compiler, seeds, progress. Used by tune and check.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "compile/compile.h"
#include "loop/tune.h"
#include "store/device_lock.h"
#include "store/store.h"
#include "target/device.h"
#include "target/recorded.h"

namespace kw {

struct Session {
  const TunePlan& plan;
  Progress& progress;
  const std::function<bool()>& should_stop;
  Store store;
  int64_t run = 0;
  DeviceFacts device_facts;
  std::unique_ptr<Device> device;      // live
  std::optional<Compiler> compiler;    // live
  std::optional<DeviceLock> lock;      // live: no other run measures on this device meanwhile
  std::optional<RecordedTable> table;  // replay
  std::vector<int> compile_cpus;
  std::vector<int> measure_cpus;
  uint64_t secret_seed = 0;
  Clock::time_point start = Clock::now();
  std::vector<std::string> neighbours;  // winning schedules of earlier problems, nearest first
};

// Opens store and device (or table), takes the device's lock, measures its peaks and notes the run.
[[nodiscard]] Result<Session> open_session(const TunePlan& plan, Progress& progress,
                                           const std::function<bool()>& should_stop);

// Searches, confirms and decides one problem within `budget_s` (0 = no limit but the plan's trials).
[[nodiscard]] Result<ProblemResult> tune_problem(Session& session, const ProblemUse& use, ProgressState state,
                                                 double budget_s);

}  // namespace kw
