// Memory of the fake driver: pages of the host. Reserved addresses have no access until memory is mapped and
// opened, so that fences are real: who touches them dies. Misuse that the real driver refuses is refused.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "fake_driver.h"
#include "target/cuda/driver.h"

namespace kw::fake {
namespace {

using cuda::AllocationHandle;
using cuda::DevicePointer;
using cuda::DriverResult;
using cuda::Stream;
using Ranges = std::map<DevicePointer, size_t>;  // bytes by start

constexpr size_t kTotalBytes = size_t{80} << 30, kGranuleBytes = size_t{2} << 20, kPageBytes = 4096;
// A GPU fills a workspace of 256 MB in 0.1 ms and every test of a routine asks for it: fills as large as this
// map one filled piece over and over.
constexpr size_t kPieceBytes = size_t{4} << 20, kLargeFillBytes = 4 * kPieceBytes;

Ranges allocations, reservations, mappings;
std::map<AllocationHandle, size_t> handles;  // bytes
AllocationHandle next_handle = 1;
std::set<void*> registered;
size_t used_bytes = 0;

void* at(DevicePointer pointer) { return reinterpret_cast<void*>(pointer); }

void* map_pages(void* place, size_t bytes, int protection, int more_flags = 0, int file = -1) {
  const int flags = MAP_PRIVATE | MAP_NORESERVE | (file < 0 ? MAP_ANONYMOUS : 0) | more_flags;
  void* pages = ::mmap(place, bytes, protection, flags, file, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

bool lies_in(const Ranges& ranges, DevicePointer pointer, size_t bytes) {
  auto behind = ranges.upper_bound(pointer);
  if (behind == ranges.begin()) return false;
  const auto& [start, size] = *--behind;
  return pointer + bytes <= start + size;
}

bool overlaps(const Ranges& ranges, DevicePointer pointer, size_t bytes) {
  const auto behind = ranges.lower_bound(pointer);
  const bool begins_in = behind != ranges.end() && behind->first < pointer + bytes;
  return begins_in || lies_in(ranges, pointer, 1);
}

bool take(size_t bytes) {
  const bool there = used_bytes + bytes <= kTotalBytes;
  used_bytes += there ? bytes : 0;
  return there;
}

// Takes a range that was given out exactly so off its list.
bool drop(Ranges& ranges, DevicePointer pointer, size_t bytes) {
  const auto found = ranges.find(pointer);
  const bool known = found != ranges.end() && found->second == bytes;
  if (known) ranges.erase(found);
  return known;
}

void fill(DevicePointer to, unsigned word, size_t bytes) {
  auto* words = reinterpret_cast<unsigned*>(to);
  std::fill(words, words + bytes / sizeof word, word);
}

// A private file of one filled piece; -1 where there is none.
int make_filled_piece(unsigned word) {
  const int file = ::memfd_create("fake_cuda_fill", MFD_CLOEXEC);
  if (file < 0) return -1;
  void* pages = MAP_FAILED;
  if (::ftruncate(file, kPieceBytes) == 0)
    pages = ::mmap(nullptr, kPieceBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (pages == MAP_FAILED) return ::close(file), -1;
  fill(reinterpret_cast<DevicePointer>(pages), word, kPieceBytes);
  ::munmap(pages, kPieceBytes);
  return file;
}

void fill_large(DevicePointer to, unsigned word, size_t bytes) {
  const int file = make_filled_piece(word);
  size_t done = 0;
  while (file >= 0 && done + kPieceBytes <= bytes &&
         map_pages(at(to + done), kPieceBytes, PROT_READ | PROT_WRITE, MAP_FIXED, file) != nullptr)
    done += kPieceBytes;
  if (file >= 0) ::close(file);
  fill(to + done, word, bytes - done);
}

}  // namespace

extern "C" {

DriverResult cuDeviceTotalMem_v2(size_t* bytes, cuda::DeviceHandle device) {
  *bytes = kTotalBytes;
  return device == 0 ? 0 : kInvalidDevice;
}

DriverResult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = kTotalBytes - used_bytes;
  *total_bytes = kTotalBytes;
  return get_fault();
}

DriverResult cuMemAlloc_v2(DevicePointer* pointer, size_t bytes) {
  if (const DriverResult result = check_idle(); result != 0) return result;
  if (bytes == 0) return kInvalidValue;
  if (!take(bytes)) return cuda::kErrorOutOfMemory;
  *pointer = reinterpret_cast<DevicePointer>(map_pages(nullptr, bytes, PROT_READ | PROT_WRITE));
  if (*pointer == 0) return cuda::kErrorOutOfMemory;
  allocations[*pointer] = bytes;
  return 0;
}

DriverResult cuMemFree_v2(DevicePointer pointer) {
  if (const DriverResult result = check_idle(); result != 0) return result;
  const auto found = allocations.find(pointer);
  if (found == allocations.end()) return kInvalidValue;
  ::munmap(at(pointer), found->second);
  used_bytes -= found->second;
  allocations.erase(found);
  return 0;
}

// The pages cut off to reach an aligned start stay reserved: addresses are not short.
DriverResult cuMemAddressReserve(DevicePointer* pointer, size_t bytes, size_t alignment, DevicePointer,
                                 unsigned long long flags) {
  if (bytes == 0 || bytes % kGranuleBytes != 0 || flags != 0 || alignment > kGranuleBytes)
    return kInvalidValue;
  const auto pages = reinterpret_cast<DevicePointer>(map_pages(nullptr, bytes + kGranuleBytes, PROT_NONE));
  if (pages == 0) return cuda::kErrorOutOfMemory;
  *pointer = (pages + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
  reservations[*pointer] = bytes;
  return get_fault();
}

DriverResult cuMemAddressFree(DevicePointer pointer, size_t bytes) {
  if (overlaps(mappings, pointer, bytes) || !drop(reservations, pointer, bytes)) return kInvalidValue;
  ::munmap(at(pointer), bytes);
  return 0;
}

DriverResult cuMemCreate(AllocationHandle* handle, size_t bytes, const cuda::AllocationProperties* properties,
                         unsigned long long flags) {
  if (bytes == 0 || bytes % kGranuleBytes != 0 || flags != 0 || properties->location.id != 0)
    return kInvalidValue;
  *handle = next_handle++;
  handles[*handle] = bytes;
  return get_fault();
}

DriverResult cuMemRelease(AllocationHandle handle) { return handles.erase(handle) == 1 ? 0 : kInvalidValue; }

// Whole handles only: all that the program asks for. Memory counts as used while it is mapped.
DriverResult cuMemMap(DevicePointer pointer, size_t bytes, size_t offset, AllocationHandle handle,
                      unsigned long long flags) {
  const auto found = handles.find(handle);
  if (found == handles.end() || found->second != bytes || offset != 0 || flags != 0) return kInvalidValue;
  if (pointer % kGranuleBytes != 0 || !lies_in(reservations, pointer, bytes)) return kInvalidValue;
  if (overlaps(mappings, pointer, bytes)) return kInvalidValue;
  if (!take(bytes)) return cuda::kErrorOutOfMemory;
  mappings[pointer] = bytes;
  return get_fault();
}

DriverResult cuMemUnmap(DevicePointer pointer, size_t bytes) {
  if (!drop(mappings, pointer, bytes)) return kInvalidValue;
  used_bytes -= bytes;
  const bool closed = map_pages(at(pointer), bytes, PROT_NONE, MAP_FIXED) != nullptr;
  return closed ? 0 : cuda::kErrorOutOfMemory;
}

DriverResult cuMemSetAccess(DevicePointer pointer, size_t bytes, const cuda::AccessDescriptor* access,
                            size_t count) {
  if (count != 1 || !lies_in(mappings, pointer, bytes)) return kInvalidValue;
  const int protection = access->flags == 3 ? PROT_READ | PROT_WRITE : access->flags == 1 ? PROT_READ : 0;
  return ::mprotect(at(pointer), bytes, protection) == 0 ? get_fault() : cuda::kErrorOutOfMemory;
}

DriverResult cuMemHostRegister_v2(void* pointer, size_t, unsigned) {
  return registered.insert(pointer).second ? get_fault() : kInvalidValue;
}

DriverResult cuMemHostUnregister(void* pointer) {
  return registered.erase(pointer) == 1 ? 0 : kNotRegistered;
}

DriverResult cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, Stream stream) {
  return enqueue(stream, [=] { std::memcpy(at(to), from, bytes); });
}

DriverResult cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, Stream stream) {
  return enqueue(stream, [=] { std::memcpy(to, at(from), bytes); });
}

DriverResult cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, Stream stream) {
  return enqueue(stream, [=] { std::memcpy(at(to), at(from), bytes); });
}

DriverResult cuMemsetD32Async(DevicePointer to, unsigned word, size_t count, Stream stream) {
  const size_t bytes = count * sizeof word;
  if (to % sizeof word != 0) return kInvalidValue;
  const bool in_pieces = bytes >= kLargeFillBytes && to % kPageBytes == 0 && lies_in(allocations, to, bytes);
  return enqueue(stream, [=] { in_pieces ? fill_large(to, word, bytes) : fill(to, word, bytes); });
}

}  // extern "C"

namespace {

// Compiles only while these functions are of the types through which the program calls them.
[[maybe_unused]] constexpr cuda::Driver kTypes = {.device_total_mem = cuDeviceTotalMem_v2,
                                                  .mem_alloc = cuMemAlloc_v2,
                                                  .mem_free = cuMemFree_v2,
                                                  .mem_address_reserve = cuMemAddressReserve,
                                                  .mem_address_free = cuMemAddressFree,
                                                  .mem_create = cuMemCreate,
                                                  .mem_release = cuMemRelease,
                                                  .mem_map = cuMemMap,
                                                  .mem_unmap = cuMemUnmap,
                                                  .mem_set_access = cuMemSetAccess,
                                                  .mem_get_info = cuMemGetInfo_v2,
                                                  .mem_host_register = cuMemHostRegister_v2,
                                                  .mem_host_unregister = cuMemHostUnregister,
                                                  .memcpy_to_device = cuMemcpyHtoDAsync_v2,
                                                  .memcpy_to_host = cuMemcpyDtoHAsync_v2,
                                                  .memcpy_on_device = cuMemcpyDtoDAsync_v2,
                                                  .memset_d32 = cuMemsetD32Async};

}  // namespace
}  // namespace kw::fake
