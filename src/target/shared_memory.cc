// Memory files: made, sealed against resizing, mapped, closed.
#include "target/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>

namespace kw {
namespace {

constexpr size_t kReserveBytes = size_t{64} << 20;  // left to everything else on the machine

size_t find_free_machine_bytes() {
  std::ifstream info("/proc/meminfo");
  std::string name, unit;
  for (size_t kilobytes = 0; info >> name >> kilobytes; std::getline(info, unit))
    if (name == "MemAvailable:") return kilobytes << 10;
  return SIZE_MAX;
}

size_t find_free_group_bytes() {
  size_t most = 0, used = 0;
  std::ifstream limit("/sys/fs/cgroup/memory.max"), current("/sys/fs/cgroup/memory.current");
  if (limit >> most && current >> used) return most > used ? most - used : 0;
  return SIZE_MAX;
}

}  // namespace

size_t find_spare_bytes() { return std::min(find_free_machine_bytes(), find_free_group_bytes()); }

Result<SharedMemory> SharedMemory::make(const std::string& what, size_t size_bytes) {
  size_bytes = std::max(round_up(size_bytes, kPageBytes), kPageBytes);
  if (size_bytes > (size_t{1} << 20)) {
    const size_t spare = find_spare_bytes();
    if (spare < kReserveBytes || size_bytes > spare - kReserveBytes)
      return fail("{} need {} MiB of memory, but only {} MiB are free; use a smaller problem", what,
                  size_bytes >> 20, spare >> 20);
  }
  const int fd = memfd_create("kernelwright", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return fail("cannot make memory for {}: {}", what, std::strerror(errno));
  void* base = MAP_FAILED;
  if (ftruncate(fd, static_cast<off_t>(size_bytes)) == 0 &&
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    base = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    const int code = errno;
    ::close(fd);
    return fail("cannot map {} MiB for {}: {}", size_bytes >> 20, what, std::strerror(code));
  }
  return SharedMemory(fd, static_cast<std::byte*>(base), size_bytes);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      base_(std::exchange(other.base_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(base_, other.base_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (base_ != nullptr) munmap(base_, size_bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace kw
