// The report's charts. In: groups of cases. Out: HTML with inline SVG, one section's content each. Called by
// report.cc.
#pragma once

#include <string>
#include <vector>

#include "ship/report_case.h"

namespace kw {

// A dot and its interval per shape, losses on top; where the vendor stays, hollow: the closest rival.
[[nodiscard]] std::string draw_speedups(const CaseGroup& group);

struct RooflinePoint {
  double intensity = 0;                         // flop / byte
  double vendor_gflops = 0, chosen_gflops = 0;  // GFLOP/s
  const CaseView* view = nullptr;
};
// Of the cases that have flops, bytes and times.
[[nodiscard]] std::vector<RooflinePoint> list_roofline_points(const CaseGroup& group);
// GFLOP/s against flop / byte, both logarithmic, below the device's measured peaks; a sentence when there is
// no point.
[[nodiscard]] std::string draw_roofline(const CaseGroup& group);

// How near the searches were to their final best over time, then each shape's best so far by who found it.
[[nodiscard]] std::string draw_progress(const CaseGroup& group);
// Proposals, passes and improvements per proposer.
[[nodiscard]] std::string draw_proposers(const CaseGroup& group);

// Verdict codes that are not a pass: bars by count, then an example of each.
[[nodiscard]] std::string draw_failures(const std::vector<CaseGroup>& groups);

// For each field of a schedule family the values of the kernels that ship, most frequent first.
[[nodiscard]] std::string draw_winning_schedules(const std::vector<CaseGroup>& groups,
                                                 const ReportInput& input);

}  // namespace kw
