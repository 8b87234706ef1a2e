// How fast, how sure? protocol.md B: paired, interleaved in random order, outside clock, bootstrap interval.
// In: programs that run on a device's buffers. Out: Timing, or the Verdict of a candidate that failed while
// timed. Called by loop and cli. Does not judge right or wrong and does not decide what ships (selection.h).
// Why these numbers: doc/measurement.md.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/spot.h"
#include "target/device.h"

namespace kw {

// Pairs of samples behind every ratio that is claimed: a promotion's, a user's kernel's, a later
// confirmation's.
inline constexpr int kConfirmingPairs = 100;

struct MeasurePlan {
  double sample_us = 1000;  // least length of one sample
  int min_pairs = 8, max_pairs = 64;
  double budget_us = 2e6;  // of both sides together; exceeded up to 3 times to reach min_pairs
  double confidence = kIntervalConfidence;  // of the interval in Timing
  double look_confidence = 0.999;           // of the interval by which a comparison is given up early
  int resamples = 2000;                     // of the bootstrap
  double give_up_below = 0;  // stop early when the interval lies wholly below this ratio; 0 = never
  uint64_t seed = 0;         // order of pairs, bootstrap
  double floor_us = 0;       // flops / measured peak: a faster median is an error, not a record; 0 = unknown
  Milliseconds run_limit{10000};  // of the first call; raise it for problems whose calls last seconds
  std::string baseline;           // its name in Timing; empty = the program's identity
  int threads = 1;                // copied to Timing
  std::vector<int> cores;         // cores that measure, watched for other load; empty = all
  bool watch_load = true;
  // Knows the value of any output element: inputs then change between runs and timed outputs are checked
  // (hidden.h). Empty only where no values exist, as in simulations.
  SpotReference reference = nullptr;
};

// Number of operand sets: footprint at least 4 x L2 and at least 2 sets, at most 4096 sets and kMaxSetBytes
// in all (on a GPU kMaxGraphNodes and kMaxGpuSetBytes). A problem of which two do not fit is larger than the
// caches and gets one set.
inline constexpr double kMaxSetBytes = double{1 << 30};
inline constexpr double kMaxGpuSetBytes = double{8} * (1 << 30), kMaxGraphNodes = 128;
[[nodiscard]] int plan_sets(const Workload& workload, const DeviceFacts& device);

// Fills what calls read with N(0,1), different in every set, and outputs that no call reads with NaN. Gaps of
// pitched rows stay as they are.
void fill_for_timing(Buffers& buffers, uint64_t seed);

// Candidate against baseline on the same buffers. A fault while timing is a Verdict; when the baseline is to
// blame it is "skipped/baseline_failed". `confirmed` is left to the caller, who knows which process and
// samples these are.
[[nodiscard]] tl::expected<Timing, Verdict> run_comparison(Program& candidate, Program& baseline,
                                                           Buffers& buffers, const MeasurePlan& plan);

// Starts one more worker of a program on the buffers of the comparison; a Verdict when it is refused.
using StartProgram = std::function<Result<tl::expected<std::unique_ptr<Program>, Verdict>>()>;

// The same with both sides in new workers for every pair. Where a worker's pages lie makes it some per cent
// faster or slower for as long as it lives: an interval from one worker a side knows nothing of that
// (doc/measurement.md). The budget covers the starts. An error when a worker cannot be started.
[[nodiscard]] Result<tl::expected<Timing, Verdict>> run_fresh_comparison(const StartProgram& start_candidate,
                                                                         const StartProgram& start_baseline,
                                                                         Buffers& buffers,
                                                                         const MeasurePlan& plan);

// Fastest verified baseline of a workload, each measured; the bar.
struct BaselineRow {
  std::string name;
  double median_us = 0;            // valid when not refused
  std::string identity;            // name and version of what ran; empty when it did not start
  std::string refused;             // why it may not be the bar; empty = may
  std::string note;                // self-test: the halves of its samples still differ after measuring again
  std::vector<double> latency_us;  // its samples
};
// Every named routine, interleaved round by round in random order, the fastest first, refused ones last.
// Names behind which the same routine stands (equal identities) are measured once.
[[nodiscard]] Result<std::vector<BaselineRow>> measure_baselines(Device& device, Buffers& buffers,
                                                                 const std::vector<std::string>& names,
                                                                 const MeasurePlan& plan);

// For libraries that offer dozens of algorithms: every named routine twice through all operand sets.
// median_us is the second run's time per call; good enough to choose whom to measure. The fastest first,
// refused ones last.
[[nodiscard]] Result<std::vector<BaselineRow>> rank_baselines(Device& device, Buffers& buffers,
                                                              const std::vector<std::string>& names,
                                                              Milliseconds run_limit);

}  // namespace kw
