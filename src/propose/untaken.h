// The last resort of a proposer whose draws meet only taken schedules: walks the space in order.
// In: space and taken keys. Out: untaken keys. Called by offspring.cc and random.cc.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "schedule/space.h"

namespace kw {

// Up to `count` keys in the space's order that are not taken; empty when the space is used up.
[[nodiscard]] inline std::vector<std::string> find_untaken(const Space& space, const std::set<std::string>& taken,
                                                           size_t count) {
  std::vector<std::string> free;
  for (std::string& key : space.enumerate(taken.size() + count)) {
    if (free.size() < count && !taken.count(key)) free.push_back(std::move(key));
  }
  return free;
}

}  // namespace kw
