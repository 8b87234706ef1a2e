#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace kw {
namespace {

struct Pipe {
  int read = -1, write = -1;
  ~Pipe() {
    close_read();
    close_write();
  }
  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read = fds[0];
    write = fds[1];
    return true;
  }
  void close_read() {
    if (read >= 0) ::close(read);
    read = -1;
  }
  void close_write() {
    if (write >= 0) ::close(write);
    write = -1;
  }
};

// In the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(const Command& command, char* const* argv, int in, int out, int err, int report) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  if (command.cpu >= 0) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(command.cpu, &cpus);
    ::sched_setaffinity(0, sizeof cpus, &cpus);
  }
  if (command.background) {
    const sched_param param{};
    ::sched_setscheduler(0, SCHED_IDLE, &param);
  }
  if (command.max_cpu_s > 0) {
    const rlimit limit{static_cast<rlim_t>(command.max_cpu_s), static_cast<rlim_t>(command.max_cpu_s) + 1};
    ::setrlimit(RLIMIT_CPU, &limit);
  }
  if (command.max_memory_bytes > 0) {
    const rlimit limit{command.max_memory_bytes, command.max_memory_bytes};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  if (command.folder.empty() || ::chdir(command.folder.c_str()) == 0) ::execvp(argv[0], argv);
  const int code = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &code, sizeof code);
  ::_exit(127);
}

// Moves bytes between the child and our strings until it closes its ends or the limit passes.
bool pump(const Command& command, Pipe& in, Pipe& out, Pipe& err, CommandOutcome& outcome,
          Clock::time_point deadline) {
  ::fcntl(in.write, F_SETFL, O_NONBLOCK);
  size_t fed = 0;
  if (command.input.empty()) in.close_write();
  while (out.read >= 0 || err.read >= 0) {
    std::array<pollfd, 3> fds = {pollfd{out.read, POLLIN, 0}, pollfd{err.read, POLLIN, 0},
                                 pollfd{in.write, POLLOUT, 0}};
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    if (::poll(fds.data(), fds.size(), static_cast<int>(std::min<long long>(left + 1, 1000))) < 0 &&
        errno != EINTR)
      return false;
    const auto drain = [&](Pipe& pipe, const pollfd& fd, std::string& text) {
      if (pipe.read < 0 || (fd.revents & (POLLIN | POLLHUP | POLLERR)) == 0) return;
      char block[1 << 16];
      const ssize_t got = ::read(pipe.read, block, sizeof block);
      if (got > 0) {
        const size_t room = command.max_output_bytes - std::min(command.max_output_bytes, text.size());
        text.append(block, std::min(room, static_cast<size_t>(got)));
      } else if (got == 0 || errno != EINTR) {
        pipe.close_read();
      }
    };
    drain(out, fds[0], outcome.output);
    drain(err, fds[1], outcome.errors);
    if (in.write >= 0 && (fds[2].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) {
      const ssize_t put = ::write(in.write, command.input.data() + fed, command.input.size() - fed);
      if (put > 0) fed += static_cast<size_t>(put);
      if (fed == command.input.size() || (put < 0 && errno != EINTR && errno != EAGAIN)) in.close_write();
    }
  }
  return true;
}

// Waits for the child until the deadline; false when it is still running then.
bool reap(pid_t child, Clock::time_point deadline, int& status) {
  while (true) {
    const pid_t got = ::waitpid(child, &status, WNOHANG);
    if (got == child) return true;
    if (got < 0 && errno != EINTR) return true;
    if (Clock::now() >= deadline) return false;
    ::usleep(200);
  }
}

}  // namespace

Result<CommandOutcome> run_command(const Command& command) {
  if (command.argv.empty()) return fail("no program to run");
  Pipe in, out, err, report;
  if (!in.open() || !out.open() || !err.open() || !report.open())
    return fail("cannot make a pipe: {}", std::strerror(errno));
  std::vector<char*> argv;
  for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  struct sigaction ignore_pipe = {};
  ignore_pipe.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore_pipe, nullptr);
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child < 0) return fail("cannot start {}: {}", command.argv[0], std::strerror(errno));
  if (child == 0) become(command, argv.data(), in.read, out.write, err.write, report.write);
  ::setpgid(child, child);
  in.close_read();
  out.close_write();
  err.close_write();
  report.close_write();

  CommandOutcome outcome;
  const auto deadline = start + command.limit;
  int status = 0;
  const bool ended = pump(command, in, out, err, outcome, deadline) && reap(child, deadline, status);
  outcome.timed_out = !ended;
  ::kill(-child, SIGKILL);
  if (!ended) ::waitpid(child, &status, 0);
  outcome.elapsed_us = microseconds_since(start);
  int exec_errno = 0;
  if (::read(report.read, &exec_errno, sizeof exec_errno) == sizeof exec_errno)
    return fail("cannot run {}: {}", command.argv[0], std::strerror(exec_errno));
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.timed_out = outcome.timed_out || (command.max_cpu_s > 0 && outcome.signal == SIGXCPU);
  return outcome;
}

}  // namespace kw
