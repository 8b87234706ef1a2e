// What the command `bench` says at its end: summaries as text for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "ship/bench_summary.h"

namespace kw {

// Losses first. Empty when nothing was measured.
[[nodiscard]] std::string print_bench_text(const std::vector<BenchSummary>& summaries);
[[nodiscard]] Json make_bench_json(const std::vector<BenchSummary>& summaries);

}  // namespace kw
