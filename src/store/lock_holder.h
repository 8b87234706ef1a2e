// Which process holds a file's write lock, for messages. In: a file. Out: "process 123 (kernelwright tune
// ...)". Reads /proc only: opening the file here would drop this process's own POSIX locks on it.
#pragma once

#include <optional>
#include <string>

#include "base/file.h"

namespace kw {

// The command line of a process with spaces between its words; empty when it is gone or not ours to see.
[[nodiscard]] std::string find_command_line(int64_t pid);

// Who holds an exclusive POSIX lock on the file; nothing when no one does or the system does not tell.
[[nodiscard]] std::optional<std::string> find_lock_holder(const fs::path& path);

}  // namespace kw
