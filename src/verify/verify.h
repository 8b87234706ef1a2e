// Is a binary right and honest? protocol.md A. Runs it on every check in a worker and compares outside.
#pragma once

#include <span>

#include "record/check.h"
#include "target/device.h"

namespace kw {

struct VerifyPlan {
  int repeats = 2;              // runs per family; bitwise equal unless the record says otherwise
  Milliseconds limit{10'000};   // per run
  uint64_t seed = 0;            // poison and guards
};

// All checks must be of binary.launch's layout; sizes outside its domain are skipped and counted in the evidence.
[[nodiscard]] Result<Verdict> check_binary(Device& device, const Binary& binary, std::span<const Check> checks,
                                           const VerifyPlan& plan);

// The same for a vendor routine: its name instead of a binary.
[[nodiscard]] Result<Verdict> check_baseline(Device& device, const std::string& name, std::span<const Check> checks,
                                             const VerifyPlan& plan);

// Compares one output with its check. nullopt = right; else class, reason and evidence.
[[nodiscard]] std::optional<Verdict> compare_output(const Check& check, std::span<const std::byte> output);

// Null kernels of protocol.md A.5 must fail every family; names the family and the kernel that slipped through.
[[nodiscard]] Status check_families_refuse_null_kernels(std::span<const Check> checks);

}  // namespace kw
