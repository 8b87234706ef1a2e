// The outcome of a tune as a table for people and as one JSON document for programs.
#pragma once

#include <string>

#include "base/json.h"
#include "loop/tune.h"

namespace kw {
[[nodiscard]] std::string print_results(const TuneOutcome& outcome);
[[nodiscard]] Json print_results_json(const TunePlan& plan, const TuneOutcome& outcome);
}  // namespace kw
