// The cage around children that behave and misbehave; this program is its own child.
#include "cage/cage.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "cage/filter.h"

namespace kw {
namespace {

constexpr Milliseconds kLimit{20'000};

// What the child tells about itself on descriptor 3.
struct Report {
  bool descriptor_4_open = false, parent_visible = false, no_new_privs = false;
  char folder[256] = {};
  int variables = 0;
  rlim_t core_bytes = 1, address_bytes = 0;
  char variable[64] = {};
};

int report_self() {
  Report report;
  report.descriptor_4_open = fcntl(4, F_GETFD) >= 0;
  report.parent_visible = getppid() != 0;
  report.no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
  for (char** entry = environ; *entry != nullptr; ++entry) ++report.variables;
  if (const char* value = std::getenv("CAGED"))
    std::strncpy(report.variable, value, sizeof report.variable - 1);
  rlimit limit;
  getrlimit(RLIMIT_CORE, &limit);
  report.core_bytes = limit.rlim_max;
  getrlimit(RLIMIT_AS, &limit);
  report.address_bytes = limit.rlim_max;
  if (getcwd(report.folder, sizeof report.folder) == nullptr) return 1;
  return write(3, &report, sizeof report) == sizeof report ? 0 : 1;
}

int run_child(const std::string& mode) {
  if (mode == "report") return report_self();
  if (mode == "leave") return 7;
  if (mode == "abort") std::abort();
  if (mode == "hang")
    while (true) pause();
  if (mode == "fill_memory") {
    for (size_t i = 0; i < 1000; ++i)
      if (mmap(nullptr, size_t{64} << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
          MAP_FAILED)
        return 9;
    return 0;
  }
  if (mode == "print") {
    const std::string line(1 << 16, 'x');
    for (int i = 0; i < 1000; ++i)
      if (write(1, line.data(), line.size()) < 0) return 1;
    return 0;
  }
  if (mode == "fork") {
    if (fork() == 0)
      while (true) pause();
    return write(3, "x", 1) == 1 ? 0 : 1;
  }
  if (mode == "write_file") {
    const int file = memfd_create("file", 0);
    return file >= 0 && write(file, "text", 4) == 4 ? 0 : 1;
  }
  if (mode == "untrusted") {
    if (!close_for_untrusted(3, 0, 0)) return 1;
    send(3, "x", 1, 0);
    getppid();
    return 2;
  }
  if (mode == "vendor") {
    if (!close_for_vendor()) return 1;
    const bool may_map = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    return may_map && socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM ? 0 : 2;
  }
  return 99;
}

struct Child {
  Cage cage;
  int channel;
};

Child start(const std::string& mode, CagePlan plan = {}) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  plan.program = "/proc/self/exe";
  plan.arguments = {"caged", mode};
  plan.environment = {"CAGED=yes"};
  plan.descriptors = {ends[1]};
  auto cage = Cage::start(plan);
  EXPECT_TRUE(cage.has_value()) << (cage ? "" : cage.error().message);
  close(ends[1]);
  return {*std::move(cage), ends[0]};
}

CageExit run(const std::string& mode, const CagePlan& plan = {}) {
  Child child = start(mode, plan);
  close(child.channel);
  const auto exit = child.cage.wait(kLimit);
  EXPECT_TRUE(exit.has_value()) << mode;
  return exit.value_or(CageExit{});
}

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

TEST(Cage, hands_over_nothing_but_what_the_plan_says) {
  CagePlan plan;
  plan.limits.address_bytes = uint64_t{3} << 30;
  Child child = start("report", plan);
  Report report;
  ASSERT_EQ(recv(child.channel, &report, sizeof report, 0), static_cast<ssize_t>(sizeof report));
  EXPECT_FALSE(report.descriptor_4_open);
  EXPECT_TRUE(report.no_new_privs);
  EXPECT_EQ(report.variables, 1);
  EXPECT_STREQ(report.variable, "yes");
  EXPECT_EQ(report.core_bytes, 0U);
  EXPECT_EQ(report.address_bytes, rlim_t{3} << 30);
  EXPECT_EQ(report.folder, child.cage.folder().string());
  EXPECT_EQ(report.parent_visible, !child.cage.facts().pid_namespace);
  EXPECT_EQ(child.cage.facts().refused.empty(),
            child.cage.facts().net_namespace && child.cage.facts().user_namespace);
  close(child.channel);
}

TEST(Cage, removes_its_folder_when_asked_and_at_the_end) {
  fs::path first, second;
  {
    Child child = start("hang");
    Child other = start("hang");
    first = child.cage.folder();
    second = other.cage.folder();
    EXPECT_TRUE(fs::is_empty(first) && fs::is_empty(second) && first != second);
    child.cage.remove_folder();
    EXPECT_FALSE(fs::exists(first));
    close(child.channel);
    close(other.channel);
  }
  EXPECT_FALSE(fs::exists(second));
}

TEST(Cage, tells_how_a_child_ended) {
  EXPECT_EQ(run("leave").exit_code, 7);
  EXPECT_EQ(run("leave").signal, 0);
  EXPECT_EQ(run("fill_memory").exit_code, 9);
  EXPECT_EQ(run("print").exit_code, 0);
}

TEST(Cage, kills_a_child_that_hangs) {
  Child child = start("hang");
  EXPECT_FALSE(child.cage.wait(Milliseconds(30)).has_value());
  const pid_t pid = child.cage.pid();
  EXPECT_EQ(child.cage.kill().signal, SIGKILL);
  EXPECT_TRUE(is_gone(pid));
  EXPECT_EQ(child.cage.kill().signal, SIGKILL) << "killing twice is harmless";
  close(child.channel);
}

TEST(Cage, tells_that_a_child_is_stopped) {
  Child child = start("hang");
  EXPECT_FALSE(child.cage.is_stopped());
  ::kill(child.cage.pid(), SIGSTOP);
  const auto deadline = Clock::now() + kLimit;
  while (!child.cage.is_stopped() && Clock::now() < deadline) usleep(1000);
  EXPECT_TRUE(child.cage.is_stopped());
  EXPECT_TRUE(child.cage.is_stopped()) << "asking does not use it up";
  ::kill(child.cage.pid(), SIGCONT);
  while (child.cage.is_stopped() && Clock::now() < deadline) usleep(1000);
  EXPECT_FALSE(child.cage.is_stopped());
  EXPECT_EQ(child.cage.kill().signal, SIGKILL);
  EXPECT_FALSE(child.cage.is_stopped());
  close(child.channel);
}

TEST(Cage, kills_grandchildren) {
  Child child = start("fork");
  char byte;
  ASSERT_EQ(recv(child.channel, &byte, 1, 0), 1);
  EXPECT_TRUE(child.cage.wait(kLimit).has_value());
  // The grandchild holds the channel's other end; only its death closes it.
  EXPECT_EQ(recv(child.channel, &byte, 1, 0), 0);
  close(child.channel);
  EXPECT_TRUE(is_gone(-child.cage.pid()));
}

TEST(Cage, dies_with_a_parent_that_is_killed) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const auto folder = TempFolder::make();  // holds what the killed parent cannot remove
  ASSERT_TRUE(folder.has_value());
  const pid_t parent = fork();
  if (parent == 0) {
    setenv("TMPDIR", folder->path().c_str(), 1);
    CagePlan plan;
    plan.program = "/proc/self/exe";
    plan.arguments = {"caged", "hang"};
    plan.descriptors = {ends[1]};
    const auto cage = Cage::start(plan);
    const char started = cage.has_value() ? 'y' : 'n';
    if (write(ends[1], &started, 1) != 1) _exit(1);
    kill(getpid(), SIGKILL);
  }
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(recv(ends[0], &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_EQ(recv(ends[0], &byte, 1, 0), 0) << "only the child's end closes the channel";
  close(ends[0]);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
}

TEST(Cage, lets_nobody_write_files_beyond_the_limit) {
  const CageExit refused = run("write_file");  // SIGXFSZ, or EFBIG for the first process of a pid namespace
  EXPECT_TRUE(refused.signal == SIGXFSZ || refused.exit_code == 1)
      << refused.signal << " " << refused.exit_code;
  CagePlan plan;
  plan.limits.file_bytes = 1 << 20;
  EXPECT_EQ(run("write_file", plan).exit_code, 0);
}

TEST(Cage, errs_when_the_program_is_missing) {
  CagePlan plan;
  plan.program = "/nowhere/to/be/found";
  const auto cage = Cage::start(plan);
  ASSERT_FALSE(cage.has_value());
  EXPECT_NE(cage.error().message.find("/nowhere/to/be/found"), std::string::npos) << cage.error().message;
}

TEST(Filter, leaves_the_channel_and_little_else_to_untrusted_code) {
  Child child = start("untrusted");
  char byte = 0;
  EXPECT_EQ(recv(child.channel, &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
  const auto exit = child.cage.wait(kLimit);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->signal, SIGSYS);
  close(child.channel);
}

TEST(Filter, leaves_memory_but_no_sockets_to_vendors) { EXPECT_EQ(run("vendor").exit_code, 0); }

TEST(Filter, names_system_calls) {
  EXPECT_EQ(print_system_call(41), "socket");
  EXPECT_NE(print_system_call(99999).find("99999"), std::string::npos);
}

}  // namespace
}  // namespace kw

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "caged") == 0) return kw::run_child(argv[2]);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
