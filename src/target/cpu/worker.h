// The worker program: what runs inside the cage. Called by the command line's hidden subcommand "worker" (and
// by test programs); everything it needs comes on descriptors 3, 4 and 5 (channel.h).
#pragma once

namespace kw {

inline constexpr const char* kWorkerArgument = "worker";

// Serves run commands until the channel closes; the process's exit code. Never returns into a caller that
// does more.
[[nodiscard]] int run_worker();

}  // namespace kw
