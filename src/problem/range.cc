#include "problem/range.h"

#include <algorithm>
#include <numeric>

namespace kw {

std::optional<int64_t> Range::nearest(int64_t wanted) const {
  const int64_t floor = std::max(wanted, low);
  if (floor > INT64_MAX - multiple) return std::nullopt;
  const int64_t up = (floor + multiple - 1) / multiple * multiple;
  if (up <= high) return up;
  return at_most(high);
}

std::optional<int64_t> Range::at_most(int64_t wanted) const {
  const int64_t down = std::min(wanted, high) / multiple * multiple;
  return down >= low && down >= 0 ? std::optional(down) : std::nullopt;
}

Range find_range(const LaunchRecord& launch, std::string_view variable) {
  Range range;
  for (const DomainRule& rule : launch.domain) {
    if (rule.variable != variable) continue;
    range.low = std::max(range.low, rule.low);
    range.high = std::min(range.high, rule.high);
    if (rule.multiple > 1) range.multiple = std::lcm(range.multiple, rule.multiple);
  }
  return range;
}

}  // namespace kw
