// DeviceFacts: the machine (or GPU) a measurement belongs to. Found by target, stored with every run.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"

namespace kw {

struct DeviceFacts {
  std::string target;                                 // "cpu", "cuda", "recorded"
  std::string name;                                   // model name
  std::string isa;                                    // best we use: "avx512", "avx2", "none"
  int cores = 0;                                      // usable by this process
  int threads = 1;                                    // used by kernels and baselines in this mode
  int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // per core, per core, shared
  double peak_gflops = 0;                             // measured, for `threads`, f32
  double bandwidth_gbs = 0;                           // measured, large copy, read + write
  double launch_floor_us = 0;                         // measured, empty kernel through the same path
  std::string os, compiler;                           // kernel release; compiler name and version

  // Identity of the device for caching measurements: target, name, isa, cores, threads. Not the measured
  // figures.
  std::string key() const;
};

[[nodiscard]] Json print_device(const DeviceFacts& device);
[[nodiscard]] Result<DeviceFacts> parse_device(const Json& json);

// A measured peak may be this much below the true one: only a time below this share of flops / peak is
// impossible.
inline constexpr double kPeakTolerance = 0.9;

// Least possible time of one call in us: max(flops / peak, bytes / bandwidth) + launch floor (protocol.md B).
[[nodiscard]] double roofline_us(const DeviceFacts& device, double flops, double bytes);

}  // namespace kw
