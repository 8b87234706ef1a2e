// The CPU as a Device: buffers, caged candidates, vendor baselines. In: which threads and cores to measure
// on. Called by loop, verify's and measure's tests. Measures no peaks (peak.h) and stores nothing.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/file.h"
#include "target/device.h"

namespace kw {

struct CpuDevicePlan {
  int threads = 1;                     // of kernels and baselines
  std::vector<int> cores;              // that workers run on; empty = the last `threads` usable ones
  fs::path worker = "/proc/self/exe";  // program that answers to the argument "worker" with run_worker()
  std::optional<DeviceFacts> facts;    // with measured figures, where known; else found without them
};

// User errors: threads or cores that this machine has not. A program started by the device dies with the
// thread that started it.
[[nodiscard]] Result<std::unique_ptr<Device>> make_cpu_device(const CpuDevicePlan& plan);

// Time of one call of a kernel that does nothing, one item a thread, through the same worker and pool, in us:
// for DeviceFacts::launch_floor_us. Least of several runs.
[[nodiscard]] Result<double> measure_launch_floor_us(const CpuDevicePlan& plan);

}  // namespace kw
