// The loops that peak.cc times: multiply-adds in registers, and reading a block. One per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kw {

// Runs at least `flops` f32 operations (one multiply-add = 2) and returns how many it ran. `isa` as
// find_cpu_isa gives it; the caller must not name one that this machine lacks.
[[nodiscard]] double run_multiply_adds(std::string_view isa, double flops);

// Reads `bytes` (a multiple of 128) once; the sum is returned so that no compiler may skip the loads.
[[nodiscard]] float read_block(const float* block, size_t bytes);

}  // namespace kw
