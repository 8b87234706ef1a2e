#include "verify/answer.h"

#include <algorithm>
#include <cmath>

#include "verify/element.h"
#include "verify/poison.h"

namespace kw {

const Operand& get_output(const Check& check) {
  return check.workload.operands[static_cast<size_t>(check.output)];
}

std::vector<std::byte> make_before(const Check& check) {
  std::vector<std::byte> bytes = check.contents[static_cast<size_t>(check.output)];
  const Operand& output = get_output(check);
  if (output.access == Access::kOut) poison_elements(output, bytes, PoisonKind::kFinite, check.seed);
  return bytes;
}

std::vector<std::byte> make_right_answer(const Check& check) {
  std::vector<std::byte> bytes = make_before(check);
  const Operand& output = get_output(check);
  for (const Patch& patch : check.patches)
    for (int64_t at = 0; at < patch.rows * patch.cols; ++at) {
      const int64_t index = (patch.row + at / patch.cols) * output.ld + patch.col + at % patch.cols;
      store_element(output.dtype, bytes, index, patch.value[static_cast<size_t>(at)]);
    }
  return bytes;
}

std::vector<Place> list_places(const Check& check) {
  std::vector<Place> places;
  for (const Patch& patch : check.patches)
    for (int64_t at = 0; at < patch.rows * patch.cols; ++at) {
      const auto i = static_cast<size_t>(at);
      if (!std::isfinite(patch.value[i]) || !std::isfinite(patch.bound[i])) continue;
      places.push_back(
          {patch.row + at / patch.cols, patch.col + at % patch.cols, patch.value[i], patch.bound[i]});
    }
  return places;
}

double move_away(Dtype dtype, const Place& place, int direction) {
  const DtypeFacts facts = get_dtype_facts(dtype);
  const double step = std::max(2 * facts.unit_roundoff * std::fabs(place.value), facts.smallest_subnormal);
  return round_to_dtype(dtype, place.value + direction * std::max(4 * place.bound, step));
}

bool has_products(const Workload& workload) {
  return workload.flops > 0 && (workload.scalars.empty() || workload.scalars.front() != 0);
}

bool has_output(const Check& check) {
  return std::any_of(check.patches.begin(), check.patches.end(),
                     [](const Patch& patch) { return patch.rows * patch.cols > 0; });
}

}  // namespace kw
