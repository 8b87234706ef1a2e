// flock belongs to the open file: it goes with the last descriptor, so the descriptor is closed on exec. A
// child that is forked without exec shares the lock and keeps it until it ends. Lock files stay: removing one
// would let two processes lock two files of one name.
#include "store/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <thread>

#include "base/hash.h"
#include "store/identity.h"
#include "store/lock_holder.h"

namespace kw {
namespace {

// "pid\nsince\ndevice\ncommand\n"; empty or cut when the holder is writing it this moment.
LockHolder load_holder(const fs::path& path) {
  LockHolder holder;
  const auto content = read_file(path, 1 << 20);
  if (!content) return holder;
  std::vector<std::string> lines(1);
  for (const char c : *content) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  if (lines.size() != 5) return holder;
  std::from_chars(lines[0].data(), lines[0].data() + lines[0].size(), holder.pid);
  holder.since = lines[1];
  holder.command = lines[3];
  return holder;
}

// For messages only: a disk too full to hold it does not keep the lock from its owner.
void save_holder(int fd, const std::string& device_key) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n", ::getpid(), print_now(), device_key, find_command_line(::getpid()));
  if (::ftruncate(fd, 0) != 0) return;
  (void)!::pwrite(fd, text.data(), text.size(), 0);
}

}  // namespace

std::string print_holder(const LockHolder& holder) {
  if (holder.pid == 0) return "another process";
  return fmt::format("process {} ({}), since {}", holder.pid, holder.command, holder.since);
}

fs::path DeviceLock::get_folder() { return find_cache_folder() / "locks"; }

Result<tl::expected<DeviceLock, LockHolder>> DeviceLock::try_take(const std::string& device_key,
                                                                  const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return fail("cannot make the folder of device locks {}: {}", folder.string(), code.message());
  const fs::path path = folder / fmt::format("device-{}.lock", hash_parts({device_key}).substr(0, 32));
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return fail("cannot open the device lock {}: {}", path.string(), std::strerror(errno));
  DeviceLock lock(fd);
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return tl::expected<DeviceLock, LockHolder>(tl::unexpected(load_holder(path)));
    return fail("cannot lock {}: {}", path.string(), std::strerror(errno));
  }
  save_holder(fd, device_key);
  return tl::expected<DeviceLock, LockHolder>(std::move(lock));
}

Result<DeviceLock> DeviceLock::take(const std::string& device_key, const OnWait& on_wait,
                                    const fs::path& folder, Milliseconds interval) {
  const auto start = Clock::now();
  while (true) {
    KW_TRY(auto attempt, try_take(device_key, folder));
    if (attempt) return std::move(*attempt);
    if (!on_wait(attempt.error(), seconds_since(start)))
      return fail("device {} is in use by {}; wait until it ends or stop it", device_key,
                  print_holder(attempt.error()));
    std::this_thread::sleep_for(interval);
  }
}

DeviceLock::DeviceLock(DeviceLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

DeviceLock::~DeviceLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace kw
