#include "measure/hidden.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "record/element.h"

namespace kw {
namespace {

constexpr int kSpots = 2;  // a run; a comparison has 16 runs of each side or more

Json print_finite(double value) { return std::isfinite(value) ? Json(value) : Json("not finite"); }

}  // namespace

HiddenSpots::HiddenSpots(Buffers& buffers, SpotReference reference, uint64_t seed)
    : buffers_(buffers), reference_(std::move(reference)), random_(seed, 0x68696464656e) {
  const auto& operands = buffers.workload().operands;
  for (size_t at = 0; at < operands.size(); ++at) {
    if (operands[at].span() == 0) continue;
    if (operands[at].access == Access::kIn) inputs_.push_back(static_cast<int>(at));
    if (operands[at].access != Access::kIn && output_ < 0) output_ = static_cast<int>(at);
  }
  if (output_ < 0) reference_ = nullptr;
}

void HiddenSpots::change_input(int set) {
  if (inputs_.empty()) return;
  const int index = inputs_[random_.below(inputs_.size())];
  const Operand& operand = buffers_.workload().operands[static_cast<size_t>(index)];
  const int64_t at = random_.between(0, operand.rows - 1) * operand.ld + random_.between(0, operand.cols - 1);
  write(set, index, at, random_.normal());
}

HiddenSpots::Place HiddenSpots::choose_place(int first_set, int64_t calls) {
  const int64_t sets = buffers_.sets();
  const int64_t offset = random_.between(0, std::min(calls, sets) - 1);
  const Operand& operand = buffers_.workload().operands[static_cast<size_t>(output_)];
  Place place;
  place.set = static_cast<int>((first_set + offset) % sets);
  place.spot.row = random_.between(0, operand.rows - 1);
  place.spot.col = random_.between(0, operand.cols - 1);
  place.spot.calls = (calls - offset + sets - 1) / sets;
  const int64_t at = place.spot.row * operand.ld + place.spot.col;
  if (operand.access == Access::kOut)
    write(place.set, output_, at, std::numeric_limits<double>::quiet_NaN());
  else
    place.spot.before = load_element(operand.dtype, element(place.set, place.spot.row, place.spot.col), 0);
  return place;
}

void HiddenSpots::write(int set, int index, int64_t at, double value) {
  const Operand& operand = buffers_.workload().operands[static_cast<size_t>(index)];
  std::vector<std::byte> bytes(static_cast<size_t>(dtype_bytes(operand.dtype)));
  store_element(operand.dtype, bytes, 0, value);
  buffers_.write(set, index, static_cast<size_t>(at) * bytes.size(), bytes);
}

std::vector<std::byte> HiddenSpots::element(int set, int64_t row, int64_t col) {
  const Operand& operand = buffers_.workload().operands[static_cast<size_t>(output_)];
  std::vector<std::byte> bytes(static_cast<size_t>(dtype_bytes(operand.dtype)));
  buffers_.read(set, output_, static_cast<size_t>(row * operand.ld + col) * bytes.size(), bytes);
  return bytes;
}

// Every other time in the set whose turn is next: a baseline's, most likely.
void HiddenSpots::choose_untouched(int first_set, int64_t calls) {
  untouched_.reset();
  const int64_t others = buffers_.sets() - calls;
  if (others < 1) return;
  const Operand& operand = buffers_.workload().operands[static_cast<size_t>(output_)];
  const int64_t offset = random_.chance(0.5) ? 0 : random_.between(0, others - 1);
  Untouched place{static_cast<int>((first_set + calls + offset) % buffers_.sets()),
                  random_.between(0, operand.rows - 1),
                  random_.between(0, operand.cols - 1),
                  {}};
  place.before = element(place.set, place.row, place.col);
  untouched_ = std::move(place);
}

void HiddenSpots::prepare(int first_set, int64_t calls) {
  places_.clear();
  if (!reference_) return;
  const int64_t sets = buffers_.sets();
  for (int64_t at = 0; at < std::min(calls, sets); ++at)
    change_input(static_cast<int>((first_set + at) % sets));
  for (int i = 0; i < kSpots; ++i) places_.push_back(choose_place(first_set, calls));
  choose_untouched(first_set, calls);
}

std::optional<Json> HiddenSpots::find_foreign_write() {
  if (!untouched_) return std::nullopt;
  if (element(untouched_->set, untouched_->row, untouched_->col) == untouched_->before) return std::nullopt;
  return Json{{"set", untouched_->set}, {"element", {untouched_->row, untouched_->col}}};
}

std::optional<Json> HiddenSpots::find_wrong() {
  const auto& operands = buffers_.workload().operands;
  for (const Place& place : places_) {
    std::vector<std::span<const std::byte>> inputs(operands.size());
    for (const int input : inputs_) inputs[static_cast<size_t>(input)] = buffers_.given(place.set, input);
    const SpotValue want = reference_(inputs, place.spot);
    const bool comparable = std::isfinite(want.value) && std::isfinite(want.bound);
    if (!comparable) continue;  // beta above 1 over many calls overflows, as it does for the user
    const Operand& operand = operands[static_cast<size_t>(output_)];
    const double got = load_element(operand.dtype, element(place.set, place.spot.row, place.spot.col), 0);
    const bool ok = std::abs(got - want.value) <= want.bound;
    if (ok) continue;
    return Json{{"set", place.set},         {"element", {place.spot.row, place.spot.col}},
                {"got", print_finite(got)}, {"want", want.value},
                {"bound", want.bound},      {"calls", place.spot.calls}};
  }
  return std::nullopt;
}

}  // namespace kw
