// SharedMemory: an anonymous memory file that this process maps and workers inherit. Called by buffers and
// program. Does not decide what lies where.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace kw {

inline constexpr size_t kPageBytes = 4096;

[[nodiscard]] constexpr size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

class SharedMemory {
 public:
  // Zeroed memory of at least one page. An error, before anything is touched, when the machine or its control
  // group has not that much to spare; `what` names the use in the message.
  [[nodiscard]] static Result<SharedMemory> make(const std::string& what, size_t size_bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  int descriptor() const { return descriptor_; }
  std::span<std::byte> bytes() const { return {base_, size_bytes_}; }

 private:
  SharedMemory(int descriptor, std::byte* base, size_t size_bytes)
      : descriptor_(descriptor), base_(base), size_bytes_(size_bytes) {}
  int descriptor_ = -1;
  std::byte* base_ = nullptr;
  size_t size_bytes_ = 0;
};

// Bytes that can still be used without swapping, in the machine and in this process's control group.
[[nodiscard]] size_t find_spare_bytes();

}  // namespace kw
