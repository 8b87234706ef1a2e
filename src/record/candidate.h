// What becomes of an idea on its way to a number: Proposal -> Source -> Binary -> Verdict -> Timing =
// Evaluation. Plain structs; each stage fills one and reads the earlier ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "record/launch.h"
#include "record/problem.h"

namespace kw {

// Version of protocol.md as implemented; part of every measurement's identity. Raise it when a number made
// before can no longer stand beside a number made after.
inline constexpr int kProtocolVersion = 1;

struct Proposal {
  std::string proposer;               // "seed", "evolve", "user", ...
  std::string family;                 // "gemm_cpu", or "free" for a user's or a model's own text
  std::string schedule;               // canonical key of the family's schedule; empty for "free"
  std::string free_text;              // source text when family is "free"
  std::string free_language = "c++";  // "c++" or "c"
  std::optional<LaunchRecord> free_launch;
  std::vector<std::string> parents;  // binary hashes
  std::string note;                  // why: "mutate mr", "seed rank 3"
  uint64_t seed = 0;                 // draws this proposal came from
};

struct Source {
  std::string text;              // self-contained
  std::string language = "c++";  // "c++" or "c"
  std::string name;              // for people; nothing parses facts back from it
  LaunchRecord launch;
  std::vector<std::string> flags;  // what the compiler needs besides the target's own
};

struct Binary {
  std::string source_hash;  // text, flags, compiler version, ABI header: determines the bytes
  std::string hash;         // of the object and the launch record: the kernel's identity
  std::string object;       // ELF object (cpu) or cubin (cuda)
  LaunchRecord launch;
  std::string compiler;  // name and version
  double compile_us = 0;
  bool from_cache = false;
  Json facts = Json::object();  // code bytes, stack bytes, vector FMAs, spills
};

enum class VerdictClass {
  kPass,
  kCompileError,
  kIllegal,
  kLaunchError,
  kWrongResult,
  kPrecisionDowngrade,
  kOutOfBounds,
  kInputModified,
  kNondeterministic,
  kRace,
  kHang,
  kCrash,
  kCheat,
  kSkipped
};

struct Verdict {
  VerdictClass klass = VerdictClass::kSkipped;
  std::string reason;  // "k_tail"; with the class: "wrong_result/k_tail"; empty for pass
  Json evidence =
      Json::object();       // family, element, got, want, bound, seed; largest error per family on pass
  std::string binary_hash;  // of the code that ran; empty when none ran
  bool promoted = false;    // passed in a fresh process over its domain
  bool passed() const { return klass == VerdictClass::kPass; }
  std::string code() const;  // "wrong_result/k_tail", "pass"
};

[[nodiscard]] std::string_view print_verdict_class(VerdictClass klass);
[[nodiscard]] Result<VerdictClass> parse_verdict_class(std::string_view text);

// Level of the bootstrap interval of one comparison. At 95 % equal kernels win above 1 % too often
// (doc/measurement.md).
inline constexpr double kIntervalConfidence = 0.995;

// Paired comparison of one kernel with one baseline.
struct Timing {
  std::string binary_hash;
  std::string baseline;           // "onednn", "openblas", "libxsmm"
  std::string mode = "offline";   // protocol.md B
  std::string cache = "rotated";  // operands rotated over at least 4 x L2
  int threads = 1;
  std::vector<double> latency_us;           // per call, one entry a sample, outside clock
  std::vector<double> baseline_latency_us;  // paired with the above
  double median_us = 0, baseline_median_us = 0;
  double ratio = 0;  // median of baseline / candidate over pairs; above 1 = candidate faster
  double ratio_low = 0, ratio_high = 0;  // bootstrap interval at kIntervalConfidence
  bool confirmed = false;                // fresh process, samples not used to choose
  bool disturbed = false;                // machine was busy while measured
  std::string note;  // what a reader of the number must know: bimodal, stopped early, load
};

struct Evaluation {
  std::string problem;  // print_problem
  Proposal proposal;
  std::string kernel_name;  // for people
  std::string source_text;  // empty on replay
  std::string source_hash, binary_hash;
  std::string compiler;
  double compile_us = 0;
  bool from_cache = false;
  Verdict verdict;
  std::optional<Timing> timing;  // only when the verdict is pass
  double finished_s = 0;         // since the run began
  std::optional<LaunchRecord>
      launch;  // of the binary, so that it can ship and run again; absent when none was built
};

// What ships for a problem: a kernel, or the vendor where the interval does not exclude 1.
struct Decision {
  std::string problem;
  std::string binary_hash;                          // empty = vendor
  std::string baseline;                             // best vendor routine
  double ratio = 1, ratio_low = 1, ratio_high = 1;  // confirmed; 1 for vendor
  double median_us = 0, baseline_median_us = 0;
  std::string reason;  // "interval [1.08, 1.11] excludes 1", "no kernel beat onednn"
};

}  // namespace kw
