// Which values of one size or stride a launch record's domain allows. Used where shapes are chosen inside a
// domain: domain.cc, spread.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "record/launch.h"

namespace kw {

struct Range {
  int64_t low = 0, high = INT64_MAX, multiple = 1;

  // The allowed value next to the wanted one, upwards where there is one.
  [[nodiscard]] std::optional<int64_t> nearest(int64_t wanted) const;
  // The largest allowed value that is not above the wanted one.
  [[nodiscard]] std::optional<int64_t> at_most(int64_t wanted) const;
};

// All rules of the domain for a variable together.
[[nodiscard]] Range find_range(const LaunchRecord& launch, std::string_view variable);

}  // namespace kw
