// The measured peaks of a device, whatever its target: for the roofline, and for the rule that nothing is
// faster. Called by session, live_lab, and the command calibrate.
#pragma once

#include <vector>

#include "target/device.h"

namespace kw {

// Fills facts.peak_gflops, bandwidth_gbs and launch_floor_us. `cores`: those that measure (cpu).
[[nodiscard]] Status measure_peaks(Device& device, const std::vector<int>& cores, DeviceFacts& facts);

}  // namespace kw
