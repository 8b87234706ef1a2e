// Pattern: bytes that belong to nobody, drawn from a seed by position, so that any write to them can be seen.
// Used by buffers (guards) and program (poisoned workspace).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace kw {

// Fills memory[begin, end) with the pattern of the seed; a byte's value depends on its position in `memory`
// only.
void fill_pattern(std::span<std::byte> memory, size_t begin, size_t end, uint64_t seed);

// Position of the first byte in [begin, end) that differs from the pattern.
[[nodiscard]] std::optional<size_t> find_pattern_break(std::span<const std::byte> memory, size_t begin,
                                                       size_t end, uint64_t seed);

}  // namespace kw
