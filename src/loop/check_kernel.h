// A user's own kernel through the same stages as any candidate: emit, compile, verify, measure, promote,
// store; or verification alone, also of what a certificate holds.
#pragma once

#include <span>

#include "loop/tune.h"
#include "ship/certificate.h"

namespace kw {

struct CheckRequest {
  Problem problem;
  std::string text, language = "c++", name;
  LaunchRecord launch;
  int threads = 1;
  std::vector<int64_t> tile;  // where the code changes path (m, n, k); empty = unknown
  fs::path store_path, cache_folder;
  std::string command;
};

struct CheckOutcome {
  Evaluation evaluation;                   // verdict of the promotion, or of the stage that refused it
  std::optional<Timing> timing;            // only with a pass
  std::optional<Certificate> certificate;  // only with a pass
  std::vector<BaselineRow> baselines;
  DeviceFacts device;
  double flops = 0;
};

[[nodiscard]] Result<CheckOutcome> run_check(const CheckRequest& request, Progress& progress,
                                             const std::function<bool()>& should_stop);

struct VerifyOutcome {
  Evaluation evaluation;          // its verdict is the first failure, or the last pass
  std::vector<Verdict> verdicts;  // one a seed up to the first failure; none when nothing could run
};

// Verification alone, once per seed: all families, the domain's shapes, rows far apart. Equal seeds give
// equal inputs. Nothing is timed or stored, no vendor routine is needed.
[[nodiscard]] Result<VerifyOutcome> run_verify(const CheckRequest& request, std::span<const uint64_t> seeds);

struct RecheckOutcome {
  VerifyOutcome verified;  // with the recorded seed, then with a fresh one
  bool same_compiler = false, same_flags = false, same_binary = false;
};

// Recomputes the source's hash, compiles the source again here and verifies it. A user error when the hash
// does not fit, or when the source was made for another kernel ABI than this program's.
[[nodiscard]] Result<RecheckOutcome> run_recheck(const Certificate& certificate, const std::string& origin,
                                                 const fs::path& cache_folder);

}  // namespace kw
