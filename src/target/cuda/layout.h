// Where operands lie: in the host mirror (workload's strides, guard bands around) and in device memory. A
// single set is fenced there: addresses before its start (kAligned) or behind its end (kEnd) are not mapped,
// so that touching them faults; rows may be spread, with nothing mapped between. Several sets, which are
// timed, lie side by side. In: workload, plan. Out: offsets. Used by buffers, and as numbers by the worker.
#pragma once

#include <vector>

#include "target/device.h"

namespace kw::cuda {

inline constexpr int64_t kGuardBytes = 4096;  // before and behind every operand, where no fence is
inline constexpr int64_t kGranuleBytes = int64_t{2} << 20;     // of mapped device memory
inline constexpr int64_t kAlignedBytes = 256, kOddBytes = 16;  // starts of operands at kAligned, at kEnd

struct OperandPlace {
  int64_t mirror_offset = 0;  // of the first element
  int64_t device_offset = 0;
  int64_t span_bytes = 0;                                          // in the mirror, gaps included
  int64_t guard_before = kGuardBytes, guard_behind = kGuardBytes;  // bytes that the device has around it
  // Rows that move one by one because the device keeps them farther apart; rows = 0: all of it moves as one.
  int64_t rows = 0, row_bytes = 0, mirror_pitch_bytes = 0, device_pitch_bytes = 0;
};

struct MappedRange {
  int64_t offset = 0, size = 0;  // multiples of kGranuleBytes
};

struct Layout {
  int64_t mirror_bytes = 0, device_bytes = 0;  // device: of addresses where fenced, else of memory
  bool fenced = false;
  std::vector<MappedRange> mapped;  // fenced: what has memory behind it
  int sets = 1, operands = 0;
  std::vector<OperandPlace> places;  // [set * operands + operand]
  const OperandPlace& place(int set, int operand) const {
    return places[static_cast<size_t>(set * operands + operand)];
  }
};

[[nodiscard]] Layout plan_layout(const Workload& workload, const BufferPlan& plan);

// As it travels to the worker; both are the same build.
[[nodiscard]] Json print_layout(const Layout& layout);
[[nodiscard]] Layout read_layout(const Json& json);

}  // namespace kw::cuda
