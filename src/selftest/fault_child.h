// Runs a piece of this program in a child process that may change its own limits, user and mounts. In: what
// to do. Out: the line it answers. Used by the rows of the faults section that misuse a process.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/file.h"

namespace kw {

// The line that `work` returns; "killed by signal N", "left with N" or "no end within N s" when it does not.
// No other thread may run.
[[nodiscard]] std::string run_in_child(const std::function<std::string()>& work,
                                       Milliseconds limit = Milliseconds(30'000));

// In a child only: mounts an empty file system of `bytes` over `folder`, where this machine allows it; false
// where not. Nobody outside the child sees it, and it goes with the child.
[[nodiscard]] bool mount_tiny_disk(const fs::path& folder, size_t bytes, bool read_only = false);

// What `disk` says when the machine allows no mounts; such rows are skipped.
inline constexpr const char* kNoMounts = "no mounts allowed";

}  // namespace kw
