#include "store/device_lock.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kw {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DeviceLockTest : public ::testing::Test {
 protected:
  fs::path folder() const { return folder_.path() / "locks"; }
  Result<tl::expected<DeviceLock, LockHolder>> try_take(const std::string& key = "cpu") const {
    return DeviceLock::try_take(key, folder());
  }
  // A process that holds the lock until it is killed.
  pid_t start_holder() const {
    int ends[2];
    if (::pipe(ends) != 0) return -1;
    const pid_t child = ::fork();
    if (child == 0) {
      const auto lock = try_take();
      if (lock && *lock && ::write(ends[1], "y", 1) == 1) ::pause();
      ::_exit(1);
    }
    ::close(ends[1]);
    char held = 0;
    EXPECT_EQ(::read(ends[0], &held, 1), 1);
    ::close(ends[0]);
    return child;
  }
  static void kill_and_wait(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

 private:
  TempFolder folder_ = *TempFolder::make();
};

TEST_F(DeviceLockTest, is_free_again_when_its_owner_lets_go) {
  for (int i = 0; i < 2; ++i) {
    const auto lock = try_take();
    ASSERT_TRUE(lock) << lock.error().message;
    EXPECT_TRUE(*lock);
  }
}

TEST_F(DeviceLockTest, says_who_holds_it) {
  const pid_t child = start_holder();
  const auto lock = try_take();
  ASSERT_TRUE(lock) << lock.error().message;
  ASSERT_FALSE(*lock);
  EXPECT_EQ(lock->error().pid, child);
  EXPECT_THAT(lock->error().command, HasSubstr("store_test"));
  EXPECT_EQ(lock->error().since.size(), std::string("2025-01-31T12:00:00.000000Z").size());
  EXPECT_THAT(print_holder(lock->error()), HasSubstr(fmt::format("process {} (", child)));
  const auto other = try_take("another device");
  EXPECT_TRUE(other && *other);
  kill_and_wait(child);
}

TEST_F(DeviceLockTest, is_released_when_its_owner_is_killed) {
  kill_and_wait(start_holder());
  const auto lock = try_take();
  EXPECT_TRUE(lock && *lock);
}

TEST_F(DeviceLockTest, waits_until_it_is_free) {
  const pid_t child = start_holder();
  int calls = 0;
  const auto lock = DeviceLock::take(
      "cpu",
      [&](const LockHolder& holder, double waited_s) {
        EXPECT_EQ(holder.pid, child);
        EXPECT_GE(waited_s, 0);
        if (++calls == 3) kill_and_wait(child);
        return true;
      },
      folder(), Milliseconds{1});
  EXPECT_TRUE(lock) << lock.error().message;
  EXPECT_EQ(calls, 3);
}

TEST_F(DeviceLockTest, gives_up_when_told_and_names_the_holder) {
  const pid_t child = start_holder();
  const auto lock = DeviceLock::take(
      "cpu", [](const LockHolder&, double) { return false; }, folder());
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().message,
              AllOf(HasSubstr("device cpu is in use"), HasSubstr(fmt::format("process {}", child))));
  kill_and_wait(child);
}

TEST_F(DeviceLockTest, says_that_its_folder_cannot_be_made) {
  ASSERT_TRUE(write_file_atomically(folder(), "a file in the way"));
  const auto lock = try_take();
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().message, HasSubstr(folder().string()));
}

}  // namespace
}  // namespace kw
