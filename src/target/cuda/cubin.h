// What a module may contain, read from the cubin before any GPU sees it: the trust rule of the GPU side. In:
// an untrusted file and the record's kernels. Out: nothing, or the verdict. Called by device.
#pragma once

#include <optional>
#include <string_view>

#include "record/candidate.h"

namespace kw::cuda {

// illegal/object: no cubin; illegal/writable_static_data: variables that outlive a launch;
// illegal/undefined_symbol: device-side malloc, printf, assert or launches; launch_error/missing_kernel: the
// record names another.
[[nodiscard]] std::optional<Verdict> check_cubin(std::string_view cubin, const LaunchRecord& launch);

}  // namespace kw::cuda
