// Starts, waits for and kills caged children. Between clone and exec the child shares our memory (CLONE_VM),
// so it only makes system calls on data prepared beforehand.
#include "cage/cage.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "base/check.h"

namespace kw {
namespace {

constexpr size_t kStartStackBytes = 64 << 10;
constexpr int kFirstDescriptor = 3;
constexpr int kAllNamespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;

// All that the child needs before exec, and where it says why it failed.
struct StartRecord {
  const char* program;
  char* const* argv;
  char* const* environment;
  const char* folder;
  const int* descriptors;
  int descriptor_count;
  int null_device;
  int parked_from;  // descriptors are parked at this number and up while 3, 4, ... are being filled
  bool pinned;
  cpu_set_t cores;
  CageLimits limits;
  sigset_t signals;  // the caller's mask, to be restored
  pid_t parent;
  bool parent_visible;  // getppid() names the parent (no pid namespace)
  const char* failed_step = nullptr;
  int failed_errno = 0;
};

bool set_limit(__rlimit_resource_t resource, uint64_t value) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0) return false;
  const rlim_t wanted = std::min<rlim_t>(value, limit.rlim_max);
  limit = {wanted, wanted};
  return setrlimit(resource, &limit) == 0;
}

bool set_limits(const CageLimits& limits) {
  return set_limit(RLIMIT_AS, limits.address_bytes) && set_limit(RLIMIT_FSIZE, limits.file_bytes) &&
         set_limit(RLIMIT_CPU, limits.cpu_s) && set_limit(RLIMIT_STACK, limits.stack_bytes) &&
         set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_NOFILE, limits.open_files);
}

bool hand_over_descriptors(const StartRecord& start) {
  for (int i = 0; i < start.descriptor_count; ++i)
    if (dup2(start.descriptors[i], start.parked_from + i) < 0) return false;
  for (int stream = 0; stream < kFirstDescriptor; ++stream)
    if (dup2(start.null_device, stream) < 0) return false;
  for (int i = 0; i < start.descriptor_count; ++i)
    if (dup2(start.parked_from + i, kFirstDescriptor + i) < 0) return false;
  return syscall(SYS_close_range, kFirstDescriptor + start.descriptor_count, ~0U, 0) == 0;
}

void restore_signals(const sigset_t& mask) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

int start_child(void* argument) {
  auto& start = *static_cast<StartRecord*>(argument);
  auto give_up = [&](const char* step) {
    start.failed_errno = errno;
    start.failed_step = step;
    _exit(127);
  };
  if (setpgid(0, 0) != 0) give_up("make a process group");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up("follow the parent's end");
  if (start.parent_visible && getppid() != start.parent) give_up("find the parent");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("give up new privileges");
  if (start.pinned && sched_setaffinity(0, sizeof start.cores, &start.cores) != 0)
    give_up("pin to the cores");
  if (chdir(start.folder) != 0) give_up("enter the private folder");
  if (!hand_over_descriptors(start)) give_up("hand over descriptors");
  if (!set_limits(start.limits)) give_up("set limits");
  restore_signals(start.signals);
  execve(start.program, start.argv, start.environment);
  give_up("execute");
  return 127;
}

std::vector<char*> list_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Runs start_child in a new process with the given namespaces; -1 and errno when clone refuses.
pid_t clone_child(StartRecord& start, char* stack, int namespaces) {
  start.parent_visible = (namespaces & CLONE_NEWPID) == 0;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &start.signals);
  const pid_t pid =
      clone(start_child, stack + kStartStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD | namespaces, &start);
  const int code = errno;
  pthread_sigmask(SIG_SETMASK, &start.signals, nullptr);
  errno = code;
  return pid;
}

// Tries all namespaces, then fewer where the machine refuses them (not where it is only short of memory);
// remembers what worked so that later starts do not ask again in vain.
pid_t clone_with_namespaces(StartRecord& start, char* stack, CageFacts& facts) {
  static constexpr int kChoices[] = {kAllNamespaces, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC,
                                     kAllNamespaces & ~CLONE_NEWUSER, CLONE_NEWUSER, 0};
  static std::atomic<size_t> first_choice{0};
  static std::atomic<int> first_refusal{0};
  for (size_t choice = first_choice; choice < std::size(kChoices); ++choice) {
    const int flags = kChoices[choice];
    const pid_t pid = clone_child(start, stack, flags);
    const bool refused = pid < 0 && errno != EAGAIN && errno != ENOMEM;
    if (refused && flags != 0) {
      int none = 0;
      first_refusal.compare_exchange_strong(none, errno);
      continue;
    }
    if (pid >= 0) first_choice = choice;
    facts = {(flags & CLONE_NEWUSER) != 0,
             (flags & CLONE_NEWPID) != 0,
             (flags & CLONE_NEWNET) != 0,
             (flags & CLONE_NEWIPC) != 0,
             {}};
    if (flags != kAllNamespaces) facts.refused = std::strerror(first_refusal);
    return pid;
  }
  return -1;
}

class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int fd) : fd_(fd) {}
  ~OwnedDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

CageExit read_exit(int status) {
  if (WIFSIGNALED(status)) return {-1, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

Result<Cage> Cage::start(const CagePlan& plan) {
  KW_TRY(TempFolder folder, TempFolder::make());
  const OwnedDescriptor null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null_device.get() < 0) return fail("cannot open /dev/null: {}", std::strerror(errno));

  std::vector<std::string> arguments = {plan.program.string()};
  arguments.insert(arguments.end(), plan.arguments.begin(), plan.arguments.end());
  const std::vector<char*> argv = list_pointers(arguments), environment = list_pointers(plan.environment);
  StartRecord start{};
  start.program = plan.program.c_str();
  start.argv = argv.data();
  start.environment = environment.data();
  start.folder = folder.path().c_str();
  start.descriptors = plan.descriptors.data();
  start.descriptor_count = static_cast<int>(plan.descriptors.size());
  start.null_device = null_device.get();
  start.parked_from = start.null_device + kFirstDescriptor + start.descriptor_count;
  for (const int fd : plan.descriptors)
    start.parked_from = std::max(start.parked_from, fd + 1 + kFirstDescriptor + start.descriptor_count);
  start.pinned = !plan.cores.empty();
  CPU_ZERO(&start.cores);
  for (const int core : plan.cores) {
    if (core < 0 || core >= CPU_SETSIZE)
      return fail_user("core {}: allowed are 0 to {}", core, CPU_SETSIZE - 1);
    CPU_SET(core, &start.cores);
  }
  start.limits = plan.limits;
  start.parent = getpid();

  void* stack = mmap(nullptr, kStartStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return fail("no memory to start a worker: {}", std::strerror(errno));
  CageFacts facts;
  const pid_t pid = plan.own_namespaces ? clone_with_namespaces(start, static_cast<char*>(stack), facts)
                                        : clone_child(start, static_cast<char*>(stack), 0);
  const int clone_errno = errno;
  munmap(stack, kStartStackBytes);
  if (pid < 0) return fail("cannot start a worker process: {}", std::strerror(clone_errno));
  Cage cage(pid, std::move(facts), std::move(folder));
  if (start.failed_step != nullptr)
    return fail("cannot start worker {}: cannot {}: {}", plan.program.string(), start.failed_step,
                std::strerror(start.failed_errno));
  return cage;
}

Cage::Cage(Cage&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      exit_(other.exit_),
      facts_(std::move(other.facts_)),
      folder_(std::move(other.folder_)) {}

Cage& Cage::operator=(Cage&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(exit_, other.exit_);
  std::swap(facts_, other.facts_);
  std::swap(folder_, other.folder_);
  return *this;
}

Cage::~Cage() {
  if (pid_ > 0) kill();
}

void Cage::remove_folder() { const TempFolder dropped = std::move(folder_); }

std::optional<CageExit> Cage::wait(Milliseconds limit) {
  KW_CHECK(pid_ > 0, "pid {}", pid_);
  if (exit_) return exit_;
  const OwnedDescriptor handle(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  const auto deadline = Clock::now() + limit;
  while (true) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_)
      return kill();
    const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd ended{handle.get(), POLLIN, 0};  // a negative descriptor is skipped: then this is a nap
    const int64_t nap_ms = handle.get() >= 0 ? left : 1;
    poll(&ended, 1, static_cast<int>(std::min<int64_t>(nap_ms, INT_MAX)));
  }
}

bool Cage::is_stopped() const {
  siginfo_t info{};
  return pid_ > 0 && !exit_ &&
         waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_ && info.si_code == CLD_STOPPED;
}

CageExit Cage::kill() {
  KW_CHECK(pid_ > 0, "pid {}", pid_);
  if (exit_) return *exit_;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0)
    KW_CHECK(errno == EINTR, "waitpid {}: {}", pid_, std::strerror(errno));
  exit_ = read_exit(status);
  return *exit_;
}

}  // namespace kw
