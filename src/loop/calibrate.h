// Measures what a device can do at most and keeps it in the store as a run of its own. Called by cli.
#pragma once

#include <functional>

#include "loop/tune.h"

namespace kw {

// Uses plan.target, threads, store_path, cache_folder, wait_for_device and command. The facts with their
// measured figures.
[[nodiscard]] Result<DeviceFacts> run_calibrate(const TunePlan& plan, Progress& progress,
                                                const std::function<bool()>& should_stop);

}  // namespace kw
