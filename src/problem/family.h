// The input families of protocol.md A.3. In: a problem, a contract, a family and a seed. Out: operand
// contents as stored, and whether every sum is exact so that equality is demanded. Used by make_checks;
// computes no reference.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "problem/reference.h"
#include "record/launch.h"
#include "record/workload.h"

namespace kw {

enum class Family {
  kNormal,         // N(0,1)
  kUniform,        // [-1,1]
  kPositive,       // (0,1]
  kExactIntegers,  // whole numbers, every partial sum exact in the accumulator
  kSticky,         // one product of 2048 at depth 0, then products below 1 (a half accumulator sticks)
  kCancel,         // big positive sums, cancelled to 1 % in the second half of k
  kTinyScale,      // 1e-4 N(0,1)
  kLargeScale,     // 1e3 N(0,1)
  kOutlierRows,    // N(0,1), some rows of A and columns of B 1,000 times larger
  kPermutation,    // A or B (drawn) selects: one 1 in each row of A or column of B
  kNanInf,         // N(0,1), single elements NaN or Inf
};

struct FamilyName {
  Family family;
  const char* name;
};
[[nodiscard]] const std::vector<FamilyName>& get_family_names();

struct FamilyInputs {
  std::vector<std::vector<std::byte>> contents;  // a, b, c; gaps of pitched rows are 0
  bool exact = false;  // reference holds exactly, up to rounding to a narrower output
};

// NaN and Inf are put where `compared` sees them, in A and B also with alpha 0, which must hide them; C holds
// NaN before the call in some families when beta is 0, because it must not be read.
[[nodiscard]] FamilyInputs make_family_inputs(const Workload& workload, const Contract& contract,
                                              Family family, const std::vector<Rectangle>& compared,
                                              uint64_t seed);

}  // namespace kw
