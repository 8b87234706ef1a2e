// A space restricted to the schedules that a recorded table knows, so that a search over recordings never
// misses. In: a family's space and the table's rows of one problem. Out: a Space. Called by loop, bench and
// tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedule/space.h"
#include "target/recorded.h"

namespace kw {

// Keys that `base` finds illegal are left out. Draws are uniform over the rest; a mutation or crossover of
// `base` becomes one of its nearest rows by distance of scaled features (not a parent itself, as long as
// there is another). Needs at least one legal key.
[[nodiscard]] Result<std::unique_ptr<Space>> make_recorded_space(std::unique_ptr<Space> base,
                                                                 const std::vector<std::string>& keys);

// The same from a table: the rows of `problem` and of base's family whose verdict is not illegal.
[[nodiscard]] Result<std::unique_ptr<Space>> make_recorded_space(std::unique_ptr<Space> base,
                                                                 const RecordedTable& table,
                                                                 std::string_view problem);

}  // namespace kw
