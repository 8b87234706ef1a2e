#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace kw {

void stop_on_broken_invariant(const char* file, int line, const char* condition, const std::string& values) {
  std::fprintf(stderr, "kernelwright: internal error at %s:%d: %s does not hold (%s)\n", file, line,
               condition, values.c_str());
  std::abort();
}

}  // namespace kw
