// The Space of gemm_cpu: text keys in front of the functions of gemm_cpu.h. Used by space.cc.
#pragma once

#include <memory>

#include "schedule/space.h"

namespace kw {

[[nodiscard]] std::unique_ptr<Space> make_gemm_cpu_space(const Problem& problem, const DeviceFacts& device);

// Empty when the family can compute the problem on the device, else why not.
[[nodiscard]] std::optional<std::string> find_gemm_cpu_refusal(const Problem& problem,
                                                               const DeviceFacts& device);

}  // namespace kw
