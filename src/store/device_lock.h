// One measuring program per device at a time: a lock file in the cache folder with the holder's name inside.
// In: a key that all users of the device agree on. Out: the lock, or who holds it. The kernel releases it
// when the holder dies, however it dies. Called by cli and loop before they measure; does not touch the
// store.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"

namespace kw {

struct LockHolder {
  int64_t pid = 0;      // 0 = not readable: it is writing its name this moment
  std::string command;  // as started
  std::string since;    // ISO 8601 UTC
};

// "process 4711 (kernelwright tune ...), since 2025-01-31T12:00:00.000000Z"
[[nodiscard]] std::string print_holder(const LockHolder& holder);

class DeviceLock {
 public:
  // The key names the hardware, not the mode: runs with different thread counts on one machine disturb each
  // other, so pass facts.target ("cpu") or a GPU's identity, not DeviceFacts::key(). Error: the lock file
  // cannot be made.
  [[nodiscard]] static Result<tl::expected<DeviceLock, LockHolder>> try_take(
      const std::string& device_key, const fs::path& folder = get_folder());

  // Waits for the lock. on_wait is called at once when it is busy, then about every `interval`, with the
  // holder and the seconds waited; false ends the waiting with an error that names the holder.
  using OnWait = std::function<bool(const LockHolder& holder, double waited_s)>;
  [[nodiscard]] static Result<DeviceLock> take(const std::string& device_key, const OnWait& on_wait,
                                               const fs::path& folder = get_folder(),
                                               Milliseconds interval = Milliseconds{500});

  // find_cache_folder()/locks
  [[nodiscard]] static fs::path get_folder();

  DeviceLock(DeviceLock&& other) noexcept;
  DeviceLock& operator=(DeviceLock&& other) noexcept;
  ~DeviceLock();

 private:
  explicit DeviceLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace kw
