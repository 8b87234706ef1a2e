// The report's tables. In: groups of cases and the rest of what the store knows. Out: HTML of one section
// each. Called by report.cc; draws no charts.
#pragma once

#include <string>
#include <vector>

#include "ship/report_case.h"

namespace kw {

// Shapes where the vendor stays or our kernel is slower, slowest first, and why; a sentence when there is
// none.
[[nodiscard]] std::string print_losses(const CaseGroup& group);
// Every shape with everything that was decided about it.
[[nodiscard]] std::string print_shapes(const CaseGroup& group);
// Geometric mean by size of the problem.
[[nodiscard]] std::string print_bands(const CaseGroup& group);
// What in this table cannot be, or wants an explanation; a sentence when nothing does.
[[nodiscard]] std::string print_oddities(const CaseGroup& group);
[[nodiscard]] std::string print_devices(const std::vector<CaseGroup>& groups, const ReportInput& input);
[[nodiscard]] std::string print_baselines(const std::vector<CaseGroup>& groups);
[[nodiscard]] std::string print_runs(const ReportInput& input);

}  // namespace kw
