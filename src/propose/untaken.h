// What keeps draws new: a random stream per position of the search, and the last resort of a proposer whose
// draws meet only taken schedules. In: context, or space and taken keys. Called by offspring.cc and
// random.cc.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "propose/proposer.h"

namespace kw {

// Stream of random numbers for a call: calls that differ in history or in what is under way draw differently,
// the same call after a restart draws the same.
[[nodiscard]] uint64_t find_stream(const ProposeContext& context);

// Up to `count` keys in the space's order that are not taken; empty when the space is used up.
[[nodiscard]] std::vector<std::string> find_untaken(const Space& space, const std::set<std::string>& taken,
                                                    size_t count);

}  // namespace kw
