// Lays operands out one behind the other: pages of an operand, guard, pages of the next.
#include "target/cpu/layout.h"

#include "base/check.h"
#include "target/shared_memory.h"

namespace kw {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 46;  // less than half of a process's address space

// Cache lines between the page start and an aligned operand: 0 for the first, then spread over the page.
uint64_t stagger_bytes(const BufferPlan& plan, int set, int operand) {
  if (plan.sets <= 1) return 0;
  const auto lines = static_cast<uint64_t>(set) * 5 + static_cast<uint64_t>(operand) * 21;
  return lines % (kPageBytes / kLineBytes) * kLineBytes;
}

struct Cursor {
  uint64_t file = 0, address = kGuardBytes;
};

OperandPlace place_operand(Cursor& cursor, uint64_t span_bytes, uint64_t front_bytes, const BufferPlan& plan,
                           bool guarded) {
  OperandPlace place;
  place.span_bytes = place.address_span_bytes = span_bytes;
  const uint64_t behind = guarded ? 0 : kLineBytes;
  uint64_t pages = round_up(front_bytes + span_bytes + behind, kPageBytes);
  if (guarded && span_bytes == 0) pages = front_bytes = 0;
  place.slack_before = plan.placement == Placement::kEnd ? pages - span_bytes - behind : front_bytes;
  place.slack_behind = pages - span_bytes - place.slack_before;
  place.file_offset = cursor.file + place.slack_before;
  place.address_offset = cursor.address + place.slack_before;
  cursor.file += pages;
  cursor.address += pages + (guarded ? kGuardBytes : 0);
  return place;
}

// Distance from an address to an operand, 0 inside.
uint64_t distance(const OperandPlace& place, uint64_t address_offset) {
  if (address_offset < place.address_offset) return place.address_offset - address_offset;
  const uint64_t end = place.address_offset + place.address_span_bytes;
  return address_offset >= end ? address_offset - end : 0;
}

// The operand as the kernel sees it, where that is not as it is stored.
const Operand* find_spread(const Workload& workload, const BufferPlan& plan, size_t operand) {
  if (!plan.spread) return nullptr;
  const Operand &stored = workload.operands[operand], &seen = plan.spread->operands[operand];
  KW_CHECK(seen.rows == stored.rows && seen.cols == stored.cols && seen.dtype == stored.dtype,
           "operand {}: {}x{} spread to {}x{}", stored.name, stored.rows, stored.cols, seen.rows, seen.cols);
  if (seen.ld == stored.ld || stored.rows < 2 || stored.cols == 0) return nullptr;
  const int64_t size = dtype_bytes(stored.dtype);
  KW_CHECK(seen.ld > stored.ld && (seen.ld - stored.ld) * size % kSpreadBytes == 0 &&
               (stored.ld - stored.cols) * size >= 2 * kSpreadBytes,
           "operand {}: stride {} spread to {}", stored.name, stored.ld, seen.ld);
  return &seen;
}

// Maps the pages of each row where the wider stride puts it; moves the cursor over the holes between them.
void spread_rows(OperandPlace& place, const Operand& stored, const Operand& seen, Cursor& cursor,
                 std::vector<Region>& regions) {
  const auto size = static_cast<uint64_t>(dtype_bytes(stored.dtype));
  const uint64_t row_bytes = static_cast<uint64_t>(stored.cols) * size;
  const uint64_t hole_bytes = static_cast<uint64_t>(seen.ld - stored.ld) * size;
  for (int64_t row = 0; row < stored.rows; ++row) {
    const uint64_t start = place.file_offset + static_cast<uint64_t>(row * stored.ld) * size;
    const uint64_t begin = start / kPageBytes * kPageBytes, end = round_up(start + row_bytes, kPageBytes);
    const uint64_t shift = place.address_offset - place.file_offset + static_cast<uint64_t>(row) * hole_bytes;
    regions.push_back({begin, begin + shift, end - begin, stored.access != Access::kIn});
  }
  place.address_span_bytes = static_cast<uint64_t>(seen.span_bytes());
  cursor.address += place.address_span_bytes - place.span_bytes;
}

}  // namespace

Result<OperandLayout> plan_operands(const Workload& workload, const BufferPlan& plan) {
  if (plan.sets < 1) return fail_user("operand sets {}: at least 1 is needed", plan.sets);
  KW_CHECK(!plan.spread || (plan.sets == 1 && plan.spread->operands.size() == workload.operands.size()),
           "{} sets spread, {} operands", plan.sets, workload.operands.size());
  OperandLayout layout;
  layout.sets = plan.sets;
  layout.operands = static_cast<int>(workload.operands.size());
  unsigned __int128 total = 0;
  for (const Operand& operand : plan.spread ? plan.spread->operands : workload.operands) {
    KW_CHECK(operand.span() >= 0, "operand {} spans {}", operand.name, operand.span());
    total +=
        static_cast<unsigned __int128>(operand.span()) * static_cast<uint64_t>(dtype_bytes(operand.dtype)) +
        3 * kPageBytes + kGuardBytes;
  }
  if (total * static_cast<unsigned>(plan.sets) > kMostBytes)
    return fail("operands of {} sets need more than {} TiB; use a smaller problem", plan.sets,
                kMostBytes >> 40);

  Cursor cursor;
  for (int set = 0; set < plan.sets; ++set) {
    const bool guarded = set < kGuardedSets;
    for (int i = 0; i < layout.operands; ++i) {
      const Cursor before = cursor;
      const Operand& operand = workload.operands[static_cast<size_t>(i)];
      const bool writable = operand.access != Access::kIn;
      const auto span_bytes = static_cast<uint64_t>(operand.span_bytes());
      const uint64_t front = plan.placement == Placement::kAligned ? stagger_bytes(plan, set, i) : 0;
      layout.places.push_back(place_operand(cursor, span_bytes, front, plan, guarded));
      if (const Operand* seen = find_spread(workload, plan, static_cast<size_t>(i))) {
        spread_rows(layout.places.back(), operand, *seen, cursor, layout.regions);
        continue;
      }
      const uint64_t pages = cursor.file - before.file;
      const bool follows =
          set > kGuardedSets && !layout.regions.empty() && layout.regions.back().writable == writable;
      if (follows)
        layout.regions.back().size_bytes += pages;
      else if (pages > 0)
        layout.regions.push_back({before.file, before.address, pages, writable});
    }
  }
  layout.file_bytes = cursor.file;
  layout.reserved_bytes = cursor.address + kGuardBytes;
  return layout;
}

std::optional<NearElement> find_near_element(const OperandLayout& layout, const Workload& workload,
                                             uint64_t address_offset) {
  if (address_offset >= layout.reserved_bytes) return std::nullopt;
  std::optional<NearElement> nearest;
  uint64_t least = kGuardBytes + 1;
  for (int set = 0; set < layout.sets; ++set) {
    for (int i = 0; i < layout.operands; ++i) {
      const OperandPlace& place = layout.place(set, i);
      if (distance(place, address_offset) >= least) continue;
      least = distance(place, address_offset);
      const int64_t bytes = static_cast<int64_t>(address_offset) - static_cast<int64_t>(place.address_offset);
      const int64_t size = dtype_bytes(workload.operands[static_cast<size_t>(i)].dtype);
      nearest = {set, i, bytes >= 0 ? bytes / size : -((-bytes + size - 1) / size)};
    }
  }
  return nearest;
}

}  // namespace kw
