// Is a binary right and honest? protocol.md A. Runs it on every check in a worker and compares outside.
// The closed list of reason codes is in reason.h.
#pragma once

#include <span>

#include "record/check.h"
#include "target/device.h"

namespace kw {

struct VerifyPlan {
  int repeats = 2;             // runs per family; bitwise equal unless the record says otherwise
  Milliseconds limit{10'000};  // per run
  uint64_t seed = 0;           // poison and guards
};

// All checks must be of binary.launch's layout; sizes outside its domain are skipped and counted in the
// evidence. Every workload is run at both placements, its families in turn on the same buffers, so that
// answers kept from an earlier family show; on the first and on the cheapest workload 12 to 40 more calls
// follow, and one in which single input elements change. Checks with spread strides run like the others; what
// is wrong there only is index_32_bits. Evidence of a pass: "families" (record/measured_family.h), "margin"
// per family alone, runs, skipped.
// A worker that somebody outside kills or stops says nothing about the binary: it is checked once more.
[[nodiscard]] Result<Verdict> check_binary(Device& device, const Binary& binary,
                                           std::span<const Check> checks, const VerifyPlan& plan);

// The same for a vendor routine: its name instead of a binary. Workloads that it cannot compute are skipped
// and counted.
[[nodiscard]] Result<Verdict> check_baseline(Device& device, const std::string& name,
                                             std::span<const Check> checks, const VerifyPlan& plan);

// Compares one output with its check. nullopt = right; else class, reason and evidence.
[[nodiscard]] std::optional<Verdict> compare_output(const Check& check, std::span<const std::byte> output);

// A family is admitted when its checks can tell right from wrong: null kernels are refused, single wrong
// elements are seen, the reference itself passes. The error names family, problem and what slipped through.
[[nodiscard]] Status check_families_are_admitted(std::span<const Check> checks);

// Null kernels of protocol.md A.5 (does nothing, zeros, previous answer, one row everywhere, ...): how many
// (family, null kernel) pairs were refused, and how many do not apply because the null answer is the right
// one there (no output elements, no products, one row only, nothing finite to spoil).
struct NullKernelCounts {
  int64_t refused = 0, not_applicable = 0;
};
[[nodiscard]] Result<NullKernelCounts> count_null_refusals(std::span<const Check> checks);

// Right answers in which a few elements (corners of what is compared, and random ones) are off by four
// bounds: the comparison must find these and no others. And the values must differ by more than their bounds:
// where most lie within four bounds of the middle one, noise would pass. How many wrong elements were seen.
[[nodiscard]] Result<int64_t> count_seen_errors(std::span<const Check> checks);

}  // namespace kw
