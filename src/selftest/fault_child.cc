#include "selftest/fault_child.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace kw {
namespace {

// Everything until the other end is closed; false when the limit passes first.
bool read_all(int end, Clock::time_point deadline, std::string& text) {
  while (true) {
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{end, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    char block[4096];
    const ssize_t got = ::read(end, block, sizeof block);
    if (got <= 0) return true;
    text.append(block, static_cast<size_t>(got));
  }
}

}  // namespace

std::string run_in_child(const std::function<std::string()>& work, Milliseconds limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child < 0) return "no process";
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(ends[0]);
    const std::string text = work();
    const bool told = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  const bool ended = read_all(ends[0], Clock::now() + limit, text);
  ::close(ends[0]);
  if (!ended) ::kill(child, SIGKILL);
  ::kill(-child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!ended) return fmt::format("no end within {} s", limit.count() / 1000);
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
    return fmt::format("killed by signal {}", WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) return fmt::format("left with {}", WEXITSTATUS(status));
  return text;
}

bool mount_tiny_disk(const fs::path& folder, size_t bytes, bool read_only) {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  const std::string options = fmt::format("size={}", bytes);
  return ::mount("tmpfs", folder.c_str(), "tmpfs", read_only ? MS_RDONLY : 0, options.c_str()) == 0;
}

}  // namespace kw
