// Keeps the calling thread off cores that measure. Used by loop and selftest while a candidate runs there.
#pragma once

#include <sched.h>

#include <vector>

namespace kw {

// From construction to destruction on other cores only, where any are left; changes nothing else.
class AwayFrom {
 public:
  explicit AwayFrom(const std::vector<int>& cpus) {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t others = before_;
    for (const int cpu : cpus) CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) > 0) ::sched_setaffinity(0, sizeof others, &others);
  }
  ~AwayFrom() { ::sched_setaffinity(0, sizeof before_, &before_); }
  AwayFrom(const AwayFrom&) = delete;
  AwayFrom& operator=(const AwayFrom&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace kw
