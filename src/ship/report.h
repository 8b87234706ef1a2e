// The report: everything a store knows about its decisions as one self-contained HTML file. In: decisions
// with the searches behind them. Out: HTML text that needs no network. Called by cli. Reads no store, writes
// no file and measures nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "store/query.h"

namespace kw {

struct ReportCase {
  DecisionRow row;
  double flops = 0, bytes = 0;          // of one call: useful operations, least traffic
  std::vector<Evaluation> evaluations;  // of this problem and device, oldest first
  std::vector<BaselineRecord> baselines;
};

struct ReportInput {
  std::vector<ReportCase> cases;
  std::vector<ProblemSummary> undecided;  // measured, but no decision yet
  std::vector<RunRow> runs;
  std::string store;    // path, for people
  std::string command;  // that makes this report
  std::string made;     // ISO 8601 UTC
  std::string version;  // ours
  // Family -> what the words of its schedule keys mean, in order; a family that is not here shows the words
  // alone.
  std::map<std::string, std::vector<std::string>> schedule_fields;
};

// A user error when there is no decision. All text is escaped; numbers that are not finite are shown as "-".
[[nodiscard]] Result<std::string> make_report(const ReportInput& input);

}  // namespace kw
