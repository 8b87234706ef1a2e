// Check: one input family with its inputs, expected result and bound per element. Made by src/problem outside
// any worker; used by src/verify. The bound is protocol.md A.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/workload.h"

namespace kw {

// A rectangle of the output whose values are known.
struct Patch {
  int64_t row = 0, col = 0, rows = 0, cols = 0;
  std::vector<double> value;  // (rows, cols) float64 reference; NaN and Inf as IEEE gives them
  std::vector<double> bound;  // (rows, cols) largest |difference| that passes; 0 = equality demanded
};

struct Check {
  std::string family;  // "normal", "exact_integers", ...
  uint64_t seed = 0;
  Workload workload;
  std::vector<std::vector<std::byte>> contents;  // per operand, span_bytes() long; outputs: C before the call
  int output = 0;                                // index of the operand that is compared
  std::vector<Patch> patches;                    // one patch that covers all, or samples of a huge problem
  // What the kernel is told in place of `workload` when its rows lie too far apart to be stored like that:
  // the same operands at wider strides. contents, patches and comparisons keep to `workload`.
  std::optional<Workload> spread;
};

}  // namespace kw
