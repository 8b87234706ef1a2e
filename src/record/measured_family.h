// MeasuredFamily: how far a kernel that passed was from the reference on one input family, beside what would
// have been allowed. Made by verify, kept in a verdict's evidence and in certificates, shown by cli.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

struct MeasuredFamily {
  std::string name;      // "normal"
  uint64_t seed = 0;     // of the inputs; of the first check where several are joined
  int64_t checks = 0;    // sets of inputs
  int64_t compared = 0;  // elements, over all runs
  double error = 0;      // largest |got - want| of an element that has a finite bound
  double bound = 0;      // of that element
  double margin = 0;     // smallest factor of the bound that would still have passed; below 1 on a pass
  bool operator==(const MeasuredFamily&) const = default;
};

// Joins what was measured on other inputs of the same family.
void join_measured(MeasuredFamily& into, const MeasuredFamily& other);
// The same by name for lists; families that `into` does not have are added behind.
void join_measured(std::vector<MeasuredFamily>& into, const std::vector<MeasuredFamily>& other);

// A list of objects; parse refuses with the field's name what print does not write.
[[nodiscard]] Json print_measured(const std::vector<MeasuredFamily>& families);
[[nodiscard]] Result<std::vector<MeasuredFamily>> parse_measured(const Json& json, const std::string& where);

}  // namespace kw
