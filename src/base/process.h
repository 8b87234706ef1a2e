// Runs another program with limits and collects what it printed. Used by compile, doctor and tests;
// candidate kernels never run through this but through cage.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"

namespace kw {

struct Command {
  std::vector<std::string> argv;      // argv[0] is looked up in PATH
  fs::path folder;                    // working folder; empty = ours
  std::string input;                  // given on standard input
  Milliseconds limit{60'000};         // then the whole process group is killed
  size_t max_output_bytes = 1 << 20;  // of each stream; the rest is read and dropped
  int cpu = -1;                       // pin to this core; -1 = not pinned
  bool background = false;            // SCHED_IDLE: gives way to everything else
  int max_cpu_s = 0;                  // processor time (RLIMIT_CPU); 0 = unlimited. Fair on a busy machine
  size_t max_memory_bytes = 0;        // RLIMIT_AS; 0 = unlimited
  size_t max_file_bytes = 0;          // RLIMIT_FSIZE, of each file it writes; 0 = unlimited
};

struct CommandOutcome {
  int exit_code = -1;  // valid when signal == 0 and not timed_out
  int signal = 0;
  bool timed_out = false;
  std::string output;  // standard output
  std::string errors;  // standard error
  double elapsed_us = 0;
  bool ok() const { return !timed_out && signal == 0 && exit_code == 0; }
};

// Ends when the program does: what it started and left running is killed with its process group, and nobody
// waits for the streams such children hold. An error only when the program cannot be started.
[[nodiscard]] Result<CommandOutcome> run_command(const Command& command);

}  // namespace kw
