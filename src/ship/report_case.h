// One decision as the report's charts and tables see it: labels, counted ratio, GFLOP/s, distance from the
// roofline, and what the search behind it did. In: ReportCase. Out: CaseView, CaseGroup. Pure functions of
// records.
#pragma once

#include <string>
#include <vector>

#include "ship/report.h"

namespace kw {

// Of the interval of one shape's ratio, in percent.
inline constexpr double kShapeIntervalPercent = 100 * kIntervalConfidence;

struct CaseView {
  const ReportCase* source = nullptr;
  std::string label;        // "128x896x4864 nt f32"
  std::string short_label;  // its first word
  bool ours = false;        // a kernel ships, not the vendor's routine
  bool valid = false;       // ratio is a finite number above 0
  bool loss = false;        // the vendor stays, or the kernel is slower, or there is no valid ratio
  double ratio = 1, low = 1, high = 1;  // vendor counts as 1
  const Timing* tried = nullptr;     // vendor stays: its closest rival, confirmed where it was; else nothing
  const Evaluation* best = nullptr;  // fastest of the search against the vendor, by its search timing
  double chosen_gflops = 0, vendor_gflops = 0;  // NaN without flops or time
  double floor_share = 0;  // least possible time / time of what ships; NaN where peaks are unknown
  double intensity = 0;    // flop per byte; NaN without bytes
  const DecisionRow& row() const { return source->row; }
  const Decision& decision() const { return source->row.decision; }
};

// Cases of one device and thread count.
struct CaseGroup {
  std::string device_key, name;  // name: "Xeon ..., 1 thread", for people
  DeviceFacts device;            // of the newest decision
  std::string first_decided, last_decided;
  std::vector<CaseView> cases;  // losses first, each slowest first
};

// Views point into `cases`, which must outlive them.
[[nodiscard]] std::vector<CaseGroup> group_cases(const std::vector<ReportCase>& cases);

// A step of the best so far.
struct Improvement {
  double at_s = 0;  // since the first evaluation of this shape finished
  double ratio = 0;
  const Evaluation* evaluation = nullptr;
};

struct SearchTrace {
  std::vector<Improvement> improvements;
  double total_s = 0;
};

// A step back in time is another run and a step of more than a minute is a pause: both count as no time.
inline constexpr double kLongestStepS = 60;
[[nodiscard]] SearchTrace trace_search(const std::vector<Evaluation>& evaluations);

// Best ratio known at a time; 0 before the first.
[[nodiscard]] double best_at(const SearchTrace& trace, double at_s);

}  // namespace kw
