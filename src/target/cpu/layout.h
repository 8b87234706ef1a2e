// Where the operands of a workload lie: in the memory file, and in a worker's address space between guard
// pages. In: a workload and a buffer plan. Out: offsets only. Used by buffers, program and worker; touches no
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "target/device.h"

namespace kw {

// A run of pages of a memory file and where it appears in a worker, relative to a reserved, inaccessible
// range.
struct Region {
  uint64_t file_offset = 0, address_offset = 0, size_bytes = 0;
  bool writable = true;  // false: operands that are only read
};

// One operand of one set. Slack = bytes of its pages that belong to no element.
struct OperandPlace {
  uint64_t file_offset = 0;     // first element
  uint64_t address_offset = 0;  // first element, in the worker's reserved range
  uint64_t span_bytes = 0;
  uint64_t address_span_bytes = 0;  // in the worker; more than span_bytes where rows are spread
  uint64_t slack_before = 0, slack_behind = 0;
};

struct OperandLayout {
  int sets = 0, operands = 0;
  std::vector<OperandPlace> places;  // [set * operands + operand]
  std::vector<Region> regions;       // what a worker maps; gaps between them stay inaccessible
  uint64_t file_bytes = 0, reserved_bytes = 0;
  const OperandPlace& place(int set, int operand) const {
    return places[static_cast<size_t>(set) * static_cast<size_t>(operands) + static_cast<size_t>(operand)];
  }
};

inline constexpr uint64_t kGuardBytes = 64 << 10;  // inaccessible bytes between operands
inline constexpr int kGuardedSets = 32;            // sets beyond these are guarded by patterned slack only
inline constexpr uint64_t kLineBytes = 64;

// Every operand of the first kGuardedSets sets lies between guards. With more than one set, aligned operands
// start a few cache lines into their page, differently per set and operand, so that timing sees no 4-KiB
// aliasing between them. Operands that are only read are not writable, so that nobody changes them even for a
// moment. With plan.spread (one set) only the pages of rows are mapped, each row where the wider
// stride puts it. Errors: sizes that overflow.
[[nodiscard]] Result<OperandLayout> plan_operands(const Workload& workload, const BufferPlan& plan);

// The operand nearest to an address of the reserved range and the element the address falls on, negative
// before the first; empty outside the range or farther than a guard from every operand. `workload` is the one
// that the kernel sees.
struct NearElement {
  int set = 0, operand = 0;
  int64_t element = 0;
};
[[nodiscard]] std::optional<NearElement> find_near_element(const OperandLayout& layout,
                                                           const Workload& workload, uint64_t address_offset);

}  // namespace kw
