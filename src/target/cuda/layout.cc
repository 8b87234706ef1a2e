#include "target/cuda/layout.h"

#include "target/shared_memory.h"

namespace kw::cuda {
namespace {

int64_t round_up_to(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Maps the granules that [begin, begin + size) touches; ranges come in ascending order.
void map(Layout& layout, int64_t begin, int64_t size) {
  if (size <= 0) return;
  int64_t first = begin / kGranuleBytes * kGranuleBytes;
  const int64_t end = round_up_to(begin + size, kGranuleBytes);
  if (!layout.mapped.empty()) {
    MappedRange& last = layout.mapped.back();
    const int64_t last_end = last.offset + last.size;
    if (first <= last_end) {
      last.size = std::max(last_end, end) - last.offset;
      return;
    }
  }
  layout.mapped.push_back({first, end - first});
}

// Device side of an operand of `span_bytes`, rows spread or not, between two unmapped granules.
void fence(Layout& layout, OperandPlace& place, int64_t span_bytes, Placement placement) {
  const int64_t begin = layout.device_bytes + kGranuleBytes;
  const bool spread = place.rows > 0;
  const int64_t guard = spread || span_bytes == 0 ? 0 : kGuardBytes;
  const int64_t taken = round_up_to(guard + round_up_to(span_bytes, kOddBytes), kGranuleBytes);
  if (placement == Placement::kAligned) {
    place.device_offset = begin;
    place.guard_before = 0;
    place.guard_behind = guard;
  } else {
    place.device_offset = begin + taken - round_up_to(span_bytes, kOddBytes);
    place.guard_before = guard;
    place.guard_behind = spread ? 0 : round_up_to(span_bytes, kOddBytes) - span_bytes;
  }
  if (span_bytes > 0 && spread)
    for (int64_t row = 0; row < place.rows; ++row)
      map(layout, place.device_offset + row * place.device_pitch_bytes, place.row_bytes);
  else if (span_bytes > 0)
    map(layout, place.device_offset - place.guard_before,
        place.guard_before + span_bytes + place.guard_behind);
  layout.device_bytes = begin + taken + kGranuleBytes;
}

void put_beside(Layout& layout, OperandPlace& place, int64_t span_bytes, int64_t shift) {
  place.device_offset = round_up_to(layout.device_bytes + kGuardBytes, kAlignedBytes) + shift;
  layout.device_bytes = place.device_offset + span_bytes + kGuardBytes;
}

}  // namespace

Layout plan_layout(const Workload& workload, const BufferPlan& plan) {
  Layout layout;
  layout.sets = plan.sets;
  layout.operands = static_cast<int>(workload.operands.size());
  layout.fenced = plan.sets == 1;
  // kEnd: every start is 16-byte aligned and no more, as a slice of a larger tensor is.
  const int64_t shift = plan.placement == Placement::kEnd ? kOddBytes : 0;
  for (int set = 0; set < plan.sets; ++set)
    for (size_t at = 0; at < workload.operands.size(); ++at) {
      const Operand& operand = workload.operands[at];
      OperandPlace place;
      place.span_bytes = operand.span_bytes();
      place.mirror_offset = round_up_to(layout.mirror_bytes + kGuardBytes, kAlignedBytes) + shift;
      layout.mirror_bytes = place.mirror_offset + place.span_bytes + kGuardBytes;
      int64_t device_span_bytes = place.span_bytes;
      if (plan.spread) {
        const Operand& seen = plan.spread->operands[at];
        const int64_t element_bytes = dtype_bytes(operand.dtype);
        device_span_bytes = seen.span_bytes();
        place.rows = operand.rows;
        place.row_bytes = operand.cols * element_bytes;
        place.mirror_pitch_bytes = operand.ld * element_bytes;
        place.device_pitch_bytes = seen.ld * element_bytes;
      }
      if (layout.fenced)
        fence(layout, place, device_span_bytes, plan.placement);
      else
        put_beside(layout, place, device_span_bytes, shift);
      layout.places.push_back(place);
    }
  layout.mirror_bytes = round_up_to(layout.mirror_bytes, static_cast<int64_t>(kPageBytes));
  return layout;
}

Json print_layout(const Layout& layout) {
  Json places = Json::array(), mapped = Json::array();
  for (const OperandPlace& place : layout.places)
    places.push_back({place.mirror_offset, place.device_offset, place.span_bytes, place.guard_before,
                      place.guard_behind, place.rows, place.row_bytes, place.mirror_pitch_bytes,
                      place.device_pitch_bytes});
  for (const MappedRange& range : layout.mapped) mapped.push_back({range.offset, range.size});
  return {{"mirror_bytes", layout.mirror_bytes},
          {"device_bytes", layout.device_bytes},
          {"fenced", layout.fenced},
          {"sets", layout.sets},
          {"operands", layout.operands},
          {"places", std::move(places)},
          {"mapped", std::move(mapped)}};
}

Layout read_layout(const Json& json) {
  Layout layout;
  layout.mirror_bytes = json["mirror_bytes"];
  layout.device_bytes = json["device_bytes"];
  layout.fenced = json["fenced"];
  layout.sets = json["sets"];
  layout.operands = json["operands"];
  for (const Json& one : json["places"])
    layout.places.push_back({one[0], one[1], one[2], one[3], one[4], one[5], one[6], one[7], one[8]});
  for (const Json& one : json["mapped"]) layout.mapped.push_back({one[0], one[1]});
  return layout;
}

}  // namespace kw::cuda
