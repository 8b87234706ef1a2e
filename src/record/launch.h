// LaunchRecord: how our worker runs a candidate's device code. Data only; arithmetic over a workload's sizes.
// Made by src/emit or read from a user's JSON; used by target. parse_launch and print_launch are inverse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/expression.h"
#include "record/grid_launch.h"
#include "record/problem.h"
#include "record/workload.h"

namespace kw {

// Types a kernel claims; verify derives its error bound from them.
struct Contract {
  Dtype input = Dtype::kF32, accumulate = Dtype::kF32, output = Dtype::kF32;
  bool operator==(const Contract&) const = default;
};

// One kernel of the object; kernels of a record run in order with a barrier between.
struct KernelLaunch {
  std::string name;                     // symbol
  Expression items;                     // target cpu: the pool runs kernel(item, call) for item in [0, items)
  std::optional<GridLaunch> grid = {};  // target cuda, and only there
  bool operator==(const KernelLaunch&) const = default;
};

// Where a kernel may be used: value must lie in [low, high] and be a multiple of `multiple`.
struct DomainRule {
  std::string variable;
  int64_t low = 0, high = INT64_MAX, multiple = 1;
  bool operator==(const DomainRule&) const = default;
};

struct LaunchRecord {
  std::string target = "cpu";
  std::string op = "gemm";
  Layout layout = Layout::kNN;
  Contract contract;
  std::string isa = "avx2";  // what the code needs: "avx2", "avx512"; "sm_80", "sm_90a"
  std::vector<KernelLaunch> kernels;
  Expression workspace_bytes;  // one block shared by all items of a call
  Expression scratch_bytes;    // one block per pool thread
  std::vector<DomainRule> domain;
  bool deterministic = true;  // bitwise equal results over repeats
  bool operator==(const LaunchRecord&) const = default;
};

inline constexpr int64_t kMaxItems = int64_t{1} << 24;
inline constexpr int64_t kMaxWorkspaceBytes = int64_t{2} << 30;
inline constexpr size_t kMaxKernels = 16;

[[nodiscard]] Json print_launch(const LaunchRecord& launch);
// Unknown fields, wrong types, missing kernels, odd names are user errors that name the field.
[[nodiscard]] Result<LaunchRecord> parse_launch(const Json& json);

// Numbers of one launch for given sizes ("threads" is added by the caller); refuses negative or too large
// ones.
struct LaunchNumbers {
  std::vector<int64_t> items;      // per kernel
  std::vector<GridNumbers> grids;  // per kernel; target cuda only
  int64_t workspace_bytes = 0, scratch_bytes = 0;
};
[[nodiscard]] Result<LaunchNumbers> evaluate_launch(const LaunchRecord& launch, const Variables& variables);

// The variables of launch expressions: the workload's sizes and "threads". The target adds what only it knows
// ("sm_count").
[[nodiscard]] Variables make_variables(const Workload& workload, int threads);

// Empty when the sizes lie in the record's domain, else the rule that they break.
[[nodiscard]] std::optional<std::string> find_domain_violation(const LaunchRecord& launch,
                                                               const Variables& variables);

}  // namespace kw
