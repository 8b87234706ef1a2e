// The GPU's own account of clock, power and why it is held back, through NVML, loaded at run time. Called by
// the benchmark between cases; changes no setting.
#pragma once

#include <optional>
#include <string>

namespace kw::cuda {

struct GpuState {
  int sm_clock_mhz = 0;
  double power_w = 0;
  std::string throttled;  // "power cap, thermal"; empty when nothing holds it back
};

// Nothing where the library or the GPU does not answer.
[[nodiscard]] std::optional<GpuState> read_gpu_state(int ordinal);

}  // namespace kw::cuda
