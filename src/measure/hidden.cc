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
  store_element(operand.dtype, buffers_.contents(set, index), at, random_.normal());
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
  const auto contents = buffers_.contents(place.set, output_);
  if (operand.access == Access::kOut)
    store_element(operand.dtype, contents, at, std::numeric_limits<double>::quiet_NaN());
  else
    place.spot.before = load_element(operand.dtype, contents, at);
  return place;
}

std::span<std::byte> HiddenSpots::element(int set, int64_t row, int64_t col) {
  const Operand& operand = buffers_.workload().operands[static_cast<size_t>(output_)];
  const auto size = static_cast<size_t>(dtype_bytes(operand.dtype));
  return buffers_.contents(set, output_).subspan(static_cast<size_t>(row * operand.ld + col) * size, size);
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
  const auto bytes = element(place.set, place.row, place.col);
  place.before.assign(bytes.begin(), bytes.end());
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
  const auto bytes = element(untouched_->set, untouched_->row, untouched_->col);
  if (std::equal(bytes.begin(), bytes.end(), untouched_->before.begin())) return std::nullopt;
  return Json{{"set", untouched_->set}, {"element", {untouched_->row, untouched_->col}}};
}

std::optional<Json> HiddenSpots::find_wrong() {
  const auto& operands = buffers_.workload().operands;
  for (const Place& place : places_) {
    std::vector<std::span<const std::byte>> contents;
    for (size_t at = 0; at < operands.size(); ++at)
      contents.emplace_back(buffers_.contents(place.set, static_cast<int>(at)));
    const SpotValue want = reference_(contents, place.spot);
    const bool comparable = std::isfinite(want.value) && std::isfinite(want.bound);
    if (!comparable) continue;  // beta above 1 over many calls overflows, as it does for the user
    const Operand& operand = operands[static_cast<size_t>(output_)];
    const double got = load_element(operand.dtype, contents[static_cast<size_t>(output_)],
                                    place.spot.row * operand.ld + place.spot.col);
    const bool ok = std::abs(got - want.value) <= want.bound;
    if (ok) continue;
    return Json{{"set", place.set},         {"element", {place.spot.row, place.spot.col}},
                {"got", print_finite(got)}, {"want", want.value},
                {"bound", want.bound},      {"calls", place.spot.calls}};
  }
  return std::nullopt;
}

}  // namespace kw
