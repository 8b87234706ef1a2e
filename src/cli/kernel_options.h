// What check and verify share: which kernel, on which problem, and how its measured families are shown.
#pragma once

#include "cli/options.h"
#include "loop/check_kernel.h"

namespace kw {

struct KernelOptions {
  ShapeOptions shapes;
  std::string source, launch, threads = "1";

  void add_to(CLI::App& command, bool source_is_required);
  // The request without store; a user error when a file cannot be read or options contradict each other.
  [[nodiscard]] Result<CheckRequest> make_request(const CLI::App& command) const;
};

// Per family: largest error, its bound, the smallest factor of the bound that would still have passed; the
// last again for the shapes of the domain. Empty for evidence without families.
[[nodiscard]] std::string print_families(const Json& evidence);

}  // namespace kw
