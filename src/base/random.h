// Counter-based random numbers: the same (seed, stream) gives the same draws on every machine and library.
// Used for inputs, poison, search and bootstrap. Not for secrets; secret seeds come from make_secret_seed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kw {

class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0);
  uint64_t next();                             // 64 uniform bits
  uint64_t below(uint64_t bound);              // uniform in [0, bound), bound > 0
  int64_t between(int64_t low, int64_t high);  // uniform in [low, high], both included
  double uniform();                            // [0, 1)
  double normal();                             // N(0, 1), Box-Muller
  bool chance(double probability) { return uniform() < probability; }

 private:
  uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

// 64 bits from the kernel's generator; logged by the caller so that a run can be repeated.
[[nodiscard]] uint64_t make_secret_seed();

}  // namespace kw
