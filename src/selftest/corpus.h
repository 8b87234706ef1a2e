// A kernel text whose verdict is known beforehand. Lists of them are in mutants*.cc and honest*.cc;
// battery.cc compiles and verifies each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/launch.h"

namespace kw {

struct CorpusKernel {
  std::string name;
  std::string text;               // follows the text of device/cpu_abi.h
  std::string expected = "pass";  // Verdict::code()
  std::string items = "ceil_div(m, 8)";
  std::string workspace_bytes = "0", scratch_bytes = "0";
  std::vector<std::string> kernels = {"gemm"};  // run in order, a barrier between; all with `items`
  Layout layout = Layout::kNN;
  bool deterministic = true;
  std::vector<DomainRule> domain;
  int threads = 1;                     // a race needs 2
  std::optional<LaunchRecord> launch;  // of a printed kernel; holds in place of the fields above
};

[[nodiscard]] std::vector<CorpusKernel> make_mutants();
[[nodiscard]] std::vector<CorpusKernel> make_honest_kernels();

}  // namespace kw
