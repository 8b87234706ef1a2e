// Read-only questions to the store. learn and ship may include this file; nothing here writes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/measurements.h"
#include "store/store.h"

namespace kw {

// Everything measured of a problem on a device under the current protocol version, oldest first. Samples
// (latency_us), source texts and the binary's launch record are left out unless asked for.
[[nodiscard]] Result<std::vector<Evaluation>> find_evaluations(const Store& store, const std::string& problem,
                                                               const std::string& device_key,
                                                               bool with_samples = false);

// The `most` best passing and timed kernels by ratio, best first, each binary once; samples and texts left
// out.
[[nodiscard]] Result<std::vector<Evaluation>> find_best(const Store& store, const std::string& problem,
                                                        const std::string& device_key, int most);

// The newest row of each baseline name and version, under the current protocol version.
[[nodiscard]] Result<std::vector<BaselineRecord>> find_baseline_rows(const Store& store,
                                                                     const std::string& problem,
                                                                     const std::string& device_key);

// Newest decision per problem and device under the current protocol version, in order of problem and device.
struct DecisionRow {
  Decision decision;
  DeviceFacts device;  // as the deciding run found it
  std::optional<Timing> confirmation;
  std::string kernel_name, schedule;
  std::string run_command;     // "tune --model ..."
  std::string decided;         // ISO 8601 UTC
  bool imported_only = false;  // the verdict comes from an imported table, not from a measurement made here
};
[[nodiscard]] Result<std::vector<DecisionRow>> find_decisions(const Store& store);

// One kernel by binary hash or unambiguous prefix, with source text, lineage and samples, under every
// problem, device and protocol version; a user error says that none or how many match.
[[nodiscard]] Result<std::vector<Evaluation>> find_kernel(const Store& store, const std::string& prefix);

// Per problem and device under the current protocol version, in order of problem and device.
struct ProblemSummary {
  std::string problem, device_key;
  int64_t evaluations = 0, passed = 0;
  std::vector<std::pair<std::string, int64_t>> failures;  // verdict code -> count, most frequent first
  std::optional<double> best_ratio;
};
[[nodiscard]] Result<std::vector<ProblemSummary>> list_problems(const Store& store);

struct RunRow {
  int64_t id = 0;
  RunRecord run;  // an imported run has only command, version and device.target "recorded"
  std::string device_key;
  bool imported = false;
  std::string started, ended;  // ISO 8601 UTC; ended empty while running or killed
  std::string how;
};
[[nodiscard]] Result<std::vector<RunRow>> list_runs(const Store& store);

// Compact table of measurements for the recorded target (results/cpu/measurements.csv): CSV (RFC 4180, "\n"
// at line ends, quotes only where needed), a header line, then one line per (device, protocol version,
// problem, family, schedule) in that order; of several binaries of one schedule the newest. Free-form kernels
// have no schedule and are left out. Columns; the ones after `verdict` but device_key and protocol_version
// are empty unless the kernel was timed:
//   problem, family, schedule, binary_hash (empty when none was built), verdict ("pass",
//   "wrong_result/k_tail"), median_us, ratio (baseline / candidate), baseline_us, device_key,
//   protocol_version, baseline ("onednn"), mode, cache, threads, ratio_low, ratio_high, disturbed (0 or 1)
// Numbers are the shortest text that reads back to the same float64. Store::import_measurements is the
// inverse.
[[nodiscard]] Result<std::string> export_measurements(const Store& store);

// The same table from a damaged store: rows that cannot be read are counted and left out.
struct Salvage {
  std::string csv;
  int64_t unreadable = 0;  // evaluations
};
[[nodiscard]] Result<Salvage> salvage_measurements(const Store& store);

}  // namespace kw
