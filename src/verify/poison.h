// Operand memory filled with a random pattern before a run (protocol.md A.4), so that an element a kernel did
// not write, or read when it must not, shows. Used by verify and the null kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/workload.h"

namespace kw {

enum class PoisonKind {
  kFinite,  // random signs and mantissas, magnitudes 1/8 .. 128: shows in any sum
  kNan,     // NaN with random payloads: shows even when multiplied by zero
};

// Fills every element of the operand; gaps stay. The same (kind, seed) gives the same pattern.
void poison_elements(const Operand& operand, std::span<std::byte> bytes, PoisonKind kind, uint64_t seed);

}  // namespace kw
