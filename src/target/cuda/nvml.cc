#include "target/cuda/nvml.h"

#include <dlfcn.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace kw::cuda {
namespace {

using Handle = void*;
constexpr int kSmClock = 1;

struct Nvml {
  int (*init)();
  int (*get_handle)(unsigned index, Handle* device);
  int (*get_clock)(Handle device, int type, unsigned* mhz);
  int (*get_power)(Handle device, unsigned* milliwatts);
  int (*get_reasons)(Handle device, unsigned long long* reasons);
};

const Nvml* load() {
  static const std::optional<Nvml> nvml = []() -> std::optional<Nvml> {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return std::nullopt;
    Nvml functions{};
    bool whole = true;
    const auto take = [&](auto*& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      whole = whole && function != nullptr;
    };
    take(functions.init, "nvmlInit_v2");
    take(functions.get_handle, "nvmlDeviceGetHandleByIndex_v2");
    take(functions.get_clock, "nvmlDeviceGetClockInfo");
    take(functions.get_power, "nvmlDeviceGetPowerUsage");
    take(functions.get_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!whole || functions.init() != 0) return std::nullopt;
    return functions;
  }();
  return nvml ? &*nvml : nullptr;
}

// Bits of the reasons that hold a busy GPU back; idle and set clocks are none.
constexpr std::pair<uint64_t, const char*> kReasons[] = {{0x4, "power cap"},
                                                         {0x8, "hardware slowdown"},
                                                         {0x20, "thermal (software)"},
                                                         {0x40, "thermal (hardware)"},
                                                         {0x80, "power brake"}};

}  // namespace

std::optional<GpuState> read_gpu_state(int ordinal) {
  const Nvml* nvml = load();
  Handle device = nullptr;
  if (nvml == nullptr || nvml->get_handle(static_cast<unsigned>(ordinal), &device) != 0) return std::nullopt;
  unsigned mhz = 0, milliwatts = 0;
  unsigned long long reasons = 0;
  if (nvml->get_clock(device, kSmClock, &mhz) != 0 || nvml->get_power(device, &milliwatts) != 0 ||
      nvml->get_reasons(device, &reasons) != 0)
    return std::nullopt;
  GpuState state{static_cast<int>(mhz), milliwatts / 1000.0, {}};
  for (const auto& [bit, name] : kReasons)
    if ((reasons & bit) != 0) state.throttled += (state.throttled.empty() ? "" : ", ") + std::string(name);
  return state;
}

}  // namespace kw::cuda
