// One case of a benchmark from buffers to rows: rank all vendor routines, verify from the fastest on, measure
// the best interleaved, measure the winner once more, then ours where there is one. Called by bench.h; writes
// no file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record/bench_row.h"
#include "record/candidate.h"
#include "record/problem.h"
#include "target/device.h"

namespace kw {

// How a routine of a case is shown to be right before its time counts.
enum class BenchCheck {
  kNone,
  kSpots,     // some runs with changing inputs and hidden output elements
  kFamilies,  // check_baseline on input families with sampled references
};

// Cases whose operands take up to so many bytes, all three together.
struct BenchClass {
  double up_to_bytes = 0;
  BenchCheck check = BenchCheck::kSpots;
};

struct BenchSettings {
  double sample_us = 300;  // least length of a sample
  size_t finalists = 4;    // verified and measured, besides cuBLAS' default and cuBLASLt's heuristic
  int pairs = 9;           // samples of each, and of the winner's second measurement
  int ours_pairs = 40;     // of a kernel of ours with the bar
  int single_calls = 50;   // cuda-l2 mode: calls of each
  size_t served = 2;       // server mode: the fastest offline, besides the two named above
  int64_t server_calls = 500;
  double rate_hz = 2000;
  // In ascending order; a case larger than all gets the last one's check.
  std::vector<BenchClass> classes = {{0x1p23, BenchCheck::kFamilies}, {0x1p62, BenchCheck::kSpots}};
  std::vector<std::string> families = {"normal", "exact_integers"};
  double max_reference_flops = 1e7;  // per family; beyond it rows and columns are sampled
  Milliseconds run_limit{10'000};
  std::vector<int> cores;                  // that measure; empty = all
  std::optional<int64_t> workspace_mib;    // that the target gives to vendor routines
  std::function<BenchState()> read_state;  // clock, power, throttling after a case; may be empty
  // A kernel of ours that passed for the problem; may be empty.
  std::function<Result<std::optional<Binary>>(const Problem&)> find_ours;
};

// One row for each mode, in their order. `seed` decides inputs, order and gaps. An error when the device
// fails or does not support a mode.
[[nodiscard]] Result<std::vector<BenchRow>> run_bench_case(Device& device, const ProblemUse& use,
                                                           const std::vector<BenchMode>& modes,
                                                           const BenchSettings& settings, uint64_t seed);

}  // namespace kw
