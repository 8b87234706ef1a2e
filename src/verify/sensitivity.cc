// Can a check tell right from wrong at all? Single elements off by four bounds, and outputs that are all but
// constant. Called before checks are trusted; runs nothing on a device.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/random.h"
#include "verify/answer.h"
#include "verify/compare.h"
#include "verify/element.h"
#include "verify/verify.h"

namespace kw {
namespace {

constexpr int kRandomPlaces = 8;
constexpr size_t kFewestValues = 8;  // of fewer, most may lie together by chance
constexpr double kNearBounds = 4;

std::string describe(const Check& check) {
  return fmt::format("family {} (seed {}) of {}", check.family, check.seed,
                     print_problem(check.workload.problem));
}

// Corners of every patch and random elements, each once, as far as their values are finite.
std::vector<Place> choose_places(const Check& check, const std::vector<Place>& places, Random& random) {
  std::set<std::pair<int64_t, int64_t>> corners;
  for (const Patch& patch : check.patches)
    for (const int64_t row : {patch.row, patch.row + patch.rows - 1})
      for (const int64_t col : {patch.col, patch.col + patch.cols - 1}) corners.insert({row, col});
  std::map<std::pair<int64_t, int64_t>, Place> chosen;
  for (const Place& place : places)
    if (corners.contains({place.row, place.col})) chosen.insert({{place.row, place.col}, place});
  for (int draw = 0; draw < kRandomPlaces && !places.empty(); ++draw) {
    const Place& place = places[random.below(places.size())];
    chosen.insert({{place.row, place.col}, place});
  }
  std::vector<Place> list;
  for (const auto& [where, place] : chosen) list.push_back(place);
  return list;
}

// All chosen elements are spoiled at once; exactly they must be found.
Result<int64_t> count_seen(const Check& check, const std::vector<Place>& places) {
  const Operand& output = get_output(check);
  Random random(check.seed, 0x73656e73);
  std::vector<std::byte> bytes = make_right_answer(check);
  if (const Comparison right = compare_patches(check, bytes); right.wrong != 0)
    return fail("{} refuses its own reference in {} of {} elements", describe(check), right.wrong,
                right.compared);
  const std::vector<Place> spoiled = choose_places(check, places, random);
  for (const Place& place : spoiled)
    store_element(output.dtype, bytes, place.row * output.ld + place.col,
                  move_away(output.dtype, place, random.chance(0.5) ? 1 : -1));
  std::set<std::pair<int64_t, int64_t>> seen;
  for (const WrongElement& element : compare_patches(check, bytes).elements)
    seen.insert({element.row, element.col});
  for (const Place& place : spoiled)
    if (!seen.contains({place.row, place.col}))
      return fail("{} does not see element ({}, {}) off by four bounds", describe(check), place.row,
                  place.col);
  return static_cast<int64_t>(spoiled.size());
}

// More than half of the values within a few bounds of the middle one.
bool is_all_but_constant(std::vector<Place> places) {
  const auto middle = places.begin() + static_cast<std::ptrdiff_t>(places.size() / 2);
  std::nth_element(places.begin(), middle, places.end(),
                   [](const Place& left, const Place& right) { return left.value < right.value; });
  const double value = middle->value;
  const auto near = std::count_if(places.begin(), places.end(), [&](const Place& place) {
    return std::fabs(place.value - value) <= kNearBounds * place.bound;
  });
  return static_cast<size_t>(near) * 2 > places.size();
}

}  // namespace

Result<int64_t> count_seen_errors(std::span<const Check> checks) {
  int64_t seen = 0;
  for (const Check& check : checks) {
    if (!has_output(check)) continue;
    std::vector<Place> places = list_places(check);
    KW_TRY(const int64_t here, count_seen(check, places));
    seen += here;
    if (has_products(check.workload) && places.size() >= kFewestValues &&
        is_all_but_constant(std::move(places)))
      return fail("{} cannot tell right from noise: most values lie within four bounds of the middle one",
                  describe(check));
  }
  return seen;
}

Status check_families_are_admitted(std::span<const Check> checks) {
  KW_TRY([[maybe_unused]] const NullKernelCounts counts, count_null_refusals(checks));
  KW_TRY([[maybe_unused]] const int64_t seen, count_seen_errors(checks));
  return {};
}

}  // namespace kw
