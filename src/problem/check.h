// Problem -> Checks: inputs of each family of protocol.md A.3, float64 reference and bound of A.2, all made
// here, outside any worker, from a seed that candidates never see.
#pragma once

#include <vector>

#include "record/check.h"
#include "record/launch.h"

namespace kw {

// What vendor routines promise for a problem: its type in and out, f32 accumulate (f64 for f64).
[[nodiscard]] Contract get_usual_contract(const Problem& problem);

struct CheckPlan {
  Contract contract;                  // bound is derived from it
  std::vector<std::string> families;  // empty = all families
  double max_reference_flops = 2e9;   // per family; beyond it rows and columns are sampled (A.1)
  double max_bytes = 0x1p30;          // of all checks together, see make_checks
};

[[nodiscard]] const std::vector<std::string>& check_families();

// One check per family, the same ones for the same seed. Operand types are the problem's, so contract.input
// and contract.output must be too (user error otherwise), as must the family names be known. With
// plan.families empty and a problem so large that all families exceed plan.max_bytes, the strongest that fit
// are made, at least two; a binary meets all of them on the small shapes of sample_domain. A world error when
// one check exceeds half of the machine's memory. m or n = 0 gives checks without patches. Where the output
// overflows its type for sure the value is infinite; where rounding decides, either is accepted (bound
// infinite). NaN and Inf values have bound 0.
[[nodiscard]] Result<std::vector<Check>> make_checks(const Problem& problem, const CheckPlan& plan,
                                                     uint64_t seed);

// Shapes inside a launch record's domain on which a binary is verified besides its own (A.7): 1, 2, 3,
// tile-1, tile, tile+1, primes, tall, wide, pairwise distinct, zero m, n or k, alpha 0, every remainder of
// m, n and k modulo 16 (with kDomainShapes), pitched strides, beta 0 and not 0. `tile_m`, `tile_n`, `tile_k`
// steer the edges (0 = unknown). Same layout and dtype; sizes small enough to be cheap.
inline constexpr int kDomainShapes = 36;
struct TileHint {
  int64_t m = 0, n = 0, k = 0;
};
[[nodiscard]] std::vector<Problem> sample_domain(const Problem& problem, const LaunchRecord& launch,
                                                 TileHint tile, int count, uint64_t seed);

// Checks with rows so far apart that offsets pass 2^31 - 1, 2^31, 2^31 + 1 and 2^32 elements and 2^32 bytes,
// and strides that 32 bits do not hold: small problems of the same layout and dtype, two families each, with
// Check::spread set. As far as the domain allows such strides; empty where it allows none. Cost no memory.
[[nodiscard]] Result<std::vector<Check>> make_spread_checks(const Problem& problem,
                                                            const LaunchRecord& launch, uint64_t seed);

}  // namespace kw
