// What this machine's CPU is, for DeviceFacts. In: the number of threads of the mode. Out: facts that
// identify the device. Called by the CPU device at start. Measures nothing: peaks come from peak.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/device.h"

namespace kw {

// Facts of the CPU for `threads` threads; measured figures and the compiler stay empty, a cache size that the
// machine does not tell is 0. User error when threads is outside 1..usable cores.
[[nodiscard]] Result<DeviceFacts> find_cpu_facts(int threads);

// Numbers of the cores this process may run on (affinity mask), ascending; never empty.
[[nodiscard]] std::vector<int> find_usable_cpus();

// Best instruction set that CPU and kernel both offer: "avx512" (F, DQ, BW, VL), "avx2" (AVX2, FMA), else
// "none".
[[nodiscard]] std::string find_cpu_isa();

struct CacheSizes {
  int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // as one core sees them; 0 = unknown
};
// Reads the sysfs folder of one core's caches ("cache/index*/{level,type,size}"); unreadable entries are left
// at 0.
[[nodiscard]] CacheSizes load_cache_sizes(const std::filesystem::path& folder);

// "48K", "2M", "1G" or plain bytes, as sysfs writes cache sizes.
[[nodiscard]] std::optional<int64_t> parse_cache_bytes(std::string_view text);

}  // namespace kw
