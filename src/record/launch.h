// LaunchRecord: how our worker runs a candidate's device code. Data only; arithmetic over a workload's sizes.
// Made by src/emit or read from a user's JSON; used by target. parse_launch and print_launch are inverse.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/problem.h"

namespace kw {

using Variables = std::map<std::string, int64_t, std::less<>>;

// int64 arithmetic: numbers, names, + - * / %, parentheses, min(a,b) max(a,b) ceil_div(a,b).
// Overflow, division by zero and unknown names are errors, never wrapped values.
class Expression {
 public:
  Expression() : text_("0") {}
  [[nodiscard]] static Result<Expression> parse(std::string_view text);
  [[nodiscard]] Result<int64_t> evaluate(const Variables& variables) const;
  const std::string& text() const { return text_; }
  bool operator==(const Expression& other) const { return text_ == other.text_; }

 private:
  std::string text_;
};

// Types a kernel claims; verify derives its error bound from them.
struct Contract {
  Dtype input = Dtype::kF32, accumulate = Dtype::kF32, output = Dtype::kF32;
  bool operator==(const Contract&) const = default;
};

// One kernel of the object; kernels of a record run in order with a barrier between.
struct KernelLaunch {
  std::string name;  // symbol
  Expression items;  // work items; the pool runs kernel(item, call) for item in [0, items)
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
  std::string isa = "avx2";  // "avx2", "avx512": what the code needs
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
  std::vector<int64_t> items;  // per kernel
  int64_t workspace_bytes = 0, scratch_bytes = 0;
};
[[nodiscard]] Result<LaunchNumbers> evaluate_launch(const LaunchRecord& launch, const Variables& variables);

// Empty when the sizes lie in the record's domain, else the rule that they break.
[[nodiscard]] std::optional<std::string> find_domain_violation(const LaunchRecord& launch,
                                                               const Variables& variables);

}  // namespace kw
