// Cage: one disposable child process for code that we do not trust. In: a program, its arguments, descriptors
// to hand over, limits and cores. Out: a handle that can be waited for and killed with everything it started.
// Called by target. Speaks no protocol with the child; closing the system-call filter is the child's part
// (filter.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"

namespace kw {

struct CageLimits {
  uint64_t address_bytes = uint64_t{4} << 30;  // RLIMIT_AS
  uint64_t file_bytes = 0;                     // RLIMIT_FSIZE
  uint64_t open_files = 16;                    // RLIMIT_NOFILE
  uint64_t cpu_s = 3600;                       // RLIMIT_CPU, behind the wall limits of the caller
  uint64_t stack_bytes = uint64_t{8} << 20;    // RLIMIT_STACK
};

struct CagePlan {
  fs::path program;
  std::vector<std::string> arguments;    // after argv[0]
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  std::vector<int> descriptors;          // become 3, 4, ... in the child; all others are closed
  std::vector<int> cores;                // the child runs on these only; empty = not pinned
  CageLimits limits;
  // Off: the child sees the machine's processes and network. For our own code only: the GPU's driver does not
  // start in a user namespace.
  bool own_namespaces = true;
};

// What of the confinement the machine allowed. Core dumps, the listed limits and no_new_privs always hold.
struct CageFacts {
  bool user_namespace = false, pid_namespace = false, net_namespace = false, ipc_namespace = false;
  std::string refused;  // why a namespace is missing; empty when all are there
};

// How a child ended.
struct CageExit {
  int exit_code = -1;  // valid when signal == 0
  int signal = 0;
};

class Cage {
 public:
  // Starts the child in a process group and, where allowed, namespaces of its own, in an empty private
  // folder, with standard streams on /dev/null. The child dies with the thread that called this
  // (PR_SET_PDEATHSIG). An error when the program cannot be executed or a limit cannot be set.
  [[nodiscard]] static Result<Cage> start(const CagePlan& plan);
  Cage(Cage&& other) noexcept;
  Cage& operator=(Cage&& other) noexcept;
  ~Cage();  // kills and reaps

  pid_t pid() const { return pid_; }
  const CageFacts& facts() const { return facts_; }
  const fs::path& folder() const { return folder_.path(); }

  // Removes the private folder now, so that nothing can be put there any more and nothing is left behind
  // should this process be killed; else it goes with the object. For children that have started and need no
  // folder.
  void remove_folder();

  // Waits until the child has ended, at most for `limit`; empty when it still runs.
  [[nodiscard]] std::optional<CageExit> wait(Milliseconds limit);
  // True while the child is stopped (SIGSTOP). Code behind a closed filter cannot stop itself.
  [[nodiscard]] bool is_stopped() const;
  // Kills the child and all it started; returns after they are gone and reaped.
  CageExit kill();

 private:
  Cage(pid_t pid, CageFacts facts, TempFolder folder)
      : pid_(pid), facts_(std::move(facts)), folder_(std::move(folder)) {}
  pid_t pid_ = -1;
  std::optional<CageExit> exit_;
  CageFacts facts_;
  TempFolder folder_;
};

}  // namespace kw
