#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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
  if (command.max_file_bytes > 0) {
    const rlimit limit{command.max_file_bytes, command.max_file_bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (command.folder.empty() || ::chdir(command.folder.c_str()) == 0) ::execvp(argv[0], argv);
  const int code = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &code, sizeof code);
  ::_exit(127);
}

constexpr int kLastBlocks = 16;  // read after the end: more than a pipe holds

// Reads one block into `text`, up to `most` bytes in all; false when there was nothing to read.
bool drain(Pipe& pipe, std::string& text, size_t most) {
  char block[1 << 16];
  const ssize_t got = ::read(pipe.read, block, sizeof block);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (got <= 0) {
    pipe.close_read();
    return false;
  }
  const size_t room = most - std::min(most, text.size());
  text.append(block, std::min(room, static_cast<size_t>(got)));
  return true;
}

// Moves bytes between the child and our strings until the child ends, or until it closes its ends; false when
// the limit passed first. What the child itself started may go on holding the ends: nobody waits for that.
bool pump(const Command& command, int child_handle, Pipe& in, Pipe& out, Pipe& err, CommandOutcome& outcome,
          Clock::time_point deadline) {
  for (const int end : {in.write, out.read, err.read}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  size_t fed = 0;
  if (command.input.empty()) in.close_write();
  while (out.read >= 0 || err.read >= 0) {
    std::array<pollfd, 4> fds = {pollfd{out.read, POLLIN, 0}, pollfd{err.read, POLLIN, 0},
                                 pollfd{in.write, POLLOUT, 0}, pollfd{child_handle, POLLIN, 0}};
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    if (::poll(fds.data(), fds.size(), static_cast<int>(std::min<long long>(left + 1, 1000))) < 0 &&
        errno != EINTR)
      return false;
    if (out.read >= 0 && fds[0].revents != 0) drain(out, outcome.output, command.max_output_bytes);
    if (err.read >= 0 && fds[1].revents != 0) drain(err, outcome.errors, command.max_output_bytes);
    if (in.write >= 0 && (fds[2].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) {
      const ssize_t put = ::write(in.write, command.input.data() + fed, command.input.size() - fed);
      if (put > 0) fed += static_cast<size_t>(put);
      if (fed == command.input.size() || (put < 0 && errno != EINTR && errno != EAGAIN)) in.close_write();
    }
    if (fds[3].revents != 0) return true;
  }
  return true;
}

// What the child wrote before its end and nobody has read yet.
void drain_rest(const Command& command, Pipe& out, Pipe& err, CommandOutcome& outcome) {
  for (int block = 0; block < kLastBlocks && out.read >= 0; ++block)
    if (!drain(out, outcome.output, command.max_output_bytes)) break;
  for (int block = 0; block < kLastBlocks && err.read >= 0; ++block)
    if (!drain(err, outcome.errors, command.max_output_bytes)) break;
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
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));  // negative: poll skips it
  const bool ended = pump(command, handle, in, out, err, outcome, deadline) && reap(child, deadline, status);
  if (handle >= 0) ::close(handle);
  outcome.timed_out = !ended;
  ::kill(-child, SIGKILL);
  if (!ended) ::waitpid(child, &status, 0);
  drain_rest(command, out, err, outcome);
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
