// Does the cage work on this machine, and how tight is it? For doctor.
#pragma once

#include <string>

#include "base/result.h"

namespace kw {
// "seccomp, limits, namespaces: user pid net ipc", or without what the machine refuses and why.
[[nodiscard]] Result<std::string> probe_cage();
}  // namespace kw
