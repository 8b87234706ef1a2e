// Read-only questions to the store. learn and ship may include this file; nothing here writes.
#pragma once

#include <optional>
#include <vector>

#include "store/store.h"

namespace kw {

// Everything measured of a problem on a device under the current protocol version, oldest first. Samples are left out
// (latency_us empty) unless asked for.
[[nodiscard]] Result<std::vector<Evaluation>> find_evaluations(const Store& store, const std::string& problem,
                                                               const std::string& device_key, bool with_samples = false);
[[nodiscard]] Result<std::vector<BaselineRecord>> find_baseline_rows(const Store& store, const std::string& problem,
                                                                     const std::string& device_key);
// Newest decision per problem.
struct DecisionRow {
  Decision decision;
  DeviceFacts device;
  std::optional<Timing> confirmation;
  std::string kernel_name, schedule;
};
[[nodiscard]] Result<std::vector<DecisionRow>> find_decisions(const Store& store);

// One kernel by binary hash or unambiguous prefix, with source text, lineage and samples; a user error says how many match.
[[nodiscard]] Result<std::vector<Evaluation>> find_kernel(const Store& store, const std::string& prefix);

struct ProblemSummary {
  std::string problem, device_key;
  int64_t evaluations = 0, passed = 0;
  std::vector<std::pair<std::string, int64_t>> failures;  // verdict code -> count
  std::optional<double> best_ratio;
};
[[nodiscard]] Result<std::vector<ProblemSummary>> list_problems(const Store& store);

struct RunRow {
  int64_t id = 0;
  RunRecord run;
  std::string started, ended;  // ISO 8601 UTC; ended empty while running or killed
  std::string how;
};
[[nodiscard]] Result<std::vector<RunRow>> list_runs(const Store& store);

// Compact table of measurements for the recorded target (results/cpu/measurements.csv): one line per (problem,
// schedule): problem, family, schedule, binary hash, verdict code, median us, ratio, baseline us, device key,
// protocol version.
[[nodiscard]] Result<std::string> export_measurements(const Store& store);

}  // namespace kw
