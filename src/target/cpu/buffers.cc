// Operand buffers: access to elements, patterned guards around and between them.
#include "target/cpu/buffers.h"

#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "target/pattern.h"

namespace kw {
namespace {

// Calls visit(begin, end) for each run of bytes around or inside the operand that belongs to no element, as
// file offsets, until visit returns true; returns whether it did.
template <class Visit>
bool visit_guards(const Operand& operand, const OperandPlace& place, const Visit& visit) {
  const uint64_t end = place.file_offset + place.span_bytes;
  if (visit(place.file_offset - place.slack_before, place.file_offset)) return true;
  if (visit(end, end + place.slack_behind)) return true;
  if (place.span_bytes == 0 || operand.ld == operand.cols) return false;
  const auto element = static_cast<uint64_t>(dtype_bytes(operand.dtype));
  const uint64_t row_bytes = static_cast<uint64_t>(operand.cols) * element;
  const uint64_t pitch_bytes = static_cast<uint64_t>(operand.ld) * element;
  for (int64_t row = 0; row + 1 < operand.rows; ++row) {
    const uint64_t start = place.file_offset + static_cast<uint64_t>(row) * pitch_bytes;
    if (visit(start + row_bytes, start + pitch_bytes)) return true;
  }
  return false;
}

}  // namespace

CpuBuffers::CpuBuffers(Workload workload, std::optional<Workload> seen, OperandLayout layout,
                       SharedMemory memory)
    : workload_(std::move(workload)),
      seen_(std::move(seen)),
      layout_(std::move(layout)),
      memory_(std::move(memory)) {}

Result<std::unique_ptr<CpuBuffers>> CpuBuffers::make(const Workload& workload, const BufferPlan& plan) {
  KW_TRY(OperandLayout layout, plan_operands(workload, plan));
  const std::string what =
      fmt::format("{} operand sets of {}", plan.sets, describe_problem(workload.problem));
  KW_TRY(SharedMemory memory, SharedMemory::make(what, layout.file_bytes));
  std::unique_ptr<CpuBuffers> buffers(
      new CpuBuffers(workload, plan.spread, std::move(layout), std::move(memory)));
  buffers->fill_guards(make_secret_seed());
  return buffers;
}

std::span<std::byte> CpuBuffers::contents(int set, int operand) {
  KW_CHECK(set >= 0 && set < layout_.sets && operand >= 0 && operand < layout_.operands,
           "set {} of {}, operand {} of {}", set, layout_.sets, operand, layout_.operands);
  const OperandPlace& place = layout_.place(set, operand);
  return {memory_.bytes().data() + place.file_offset, place.span_bytes};
}

void CpuBuffers::fill_guards(uint64_t seed) {
  guard_seed_ = seed;
  for (int set = 0; set < layout_.sets; ++set)
    for (int i = 0; i < layout_.operands; ++i)
      visit_guards(workload_.operands[static_cast<size_t>(i)], layout_.place(set, i),
                   [&](uint64_t begin, uint64_t end) {
                     fill_pattern(memory_.bytes(), begin, end, seed);
                     return false;
                   });
}

std::optional<GuardHit> CpuBuffers::find_guard_hit() {
  std::optional<size_t> broken;
  const auto is_broken = [&](uint64_t begin, uint64_t end) {
    broken = find_pattern_break(memory_.bytes(), begin, end, guard_seed_);
    return broken.has_value();
  };
  for (int set = 0; set < layout_.sets; ++set) {
    for (int i = 0; i < layout_.operands; ++i) {
      const Operand& operand = workload_.operands[static_cast<size_t>(i)];
      const OperandPlace& place = layout_.place(set, i);
      if (!visit_guards(operand, place, is_broken)) continue;
      const int64_t bytes = static_cast<int64_t>(*broken) - static_cast<int64_t>(place.file_offset);
      const int64_t size = dtype_bytes(operand.dtype);
      return GuardHit{operand.name, bytes >= 0 ? bytes / size : -((-bytes + size - 1) / size)};
    }
  }
  return std::nullopt;
}

}  // namespace kw
