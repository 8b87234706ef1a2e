#include "selftest/fault_child.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "selftest/fault_footprint.h"

namespace kw {
namespace {

TEST(FaultChild, gives_the_answer_or_how_the_child_ended) {
  EXPECT_EQ(run_in_child([] { return std::string("an answer"); }), "an answer");
  EXPECT_EQ(run_in_child([]() -> std::string { ::_exit(3); }), "left with 3");
  EXPECT_EQ(run_in_child([]() -> std::string {
              ::raise(SIGTERM);
              return "alive";
            }),
            "killed by signal 15");
  EXPECT_EQ(run_in_child(
                []() -> std::string {
                  ::pause();
                  return "awake";
                },
                Milliseconds(50)),
            "no end within 0 s");
  EXPECT_TRUE(find_children().empty());
}

TEST(FaultChild, sees_a_tiny_disk_that_nobody_else_sees) {
  const auto folder = TempFolder::make();
  const std::string answer = run_in_child([&]() -> std::string {
    if (!mount_tiny_disk(folder->path(), 16 << 10)) return "skipped";
    std::ofstream file(folder->path() / "file", std::ios::binary);
    file << std::string(1 << 20, 'x') << std::flush;
    return file ? "room" : "full";
  });
  if (answer == "skipped") GTEST_SKIP() << "no mounts allowed";
  EXPECT_EQ(answer, "full");
  EXPECT_TRUE(fs::is_empty(folder->path()));
}

TEST(Footprint, counts_what_is_held) {
  const auto folder = TempFolder::make();
  const Footprint before = read_footprint(folder->path());
  std::ofstream file(folder->path() / "file");
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  const Footprint during = read_footprint(folder->path());
  EXPECT_EQ(during.descriptors, before.descriptors + 1);
  EXPECT_EQ(during.files, before.files + 1);
  EXPECT_TRUE(std::count(during.children.begin(), during.children.end(), child));
  siginfo_t ended;
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  reap_orphans();
  EXPECT_TRUE(read_footprint(folder->path()).children.empty());
}

TEST(TempRedirect, holds_while_it_lives) {
  ::setenv("TMPDIR", "/tmp", 1);
  const auto parent = TempFolder::make();
  {
    const auto redirect = TempRedirect::make(parent->path());
    const auto inside = TempFolder::make();
    EXPECT_EQ(inside->path().parent_path(), redirect->path());
  }
  EXPECT_STREQ(std::getenv("TMPDIR"), "/tmp");
}

}  // namespace
}  // namespace kw
