#include "target/cuda/resident.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <thread>

#include "base/clock.h"
#include "base/random.h"

namespace kw::cuda {
namespace {

constexpr int64_t kMostRegisteredBytes = int64_t{64} << 20;  // pinning more takes longer than it saves
constexpr int64_t kReplaysAtOnce = 64;  // between two synchronisations, where each is timed

}  // namespace

tl::expected<std::unique_ptr<Block>, Fault> Block::make(const Gpu& gpu, const Layout& layout, int descriptor,
                                                        bool flush) {
  std::unique_ptr<Block> block(new Block(gpu, layout, flush));
  void* mapped = ::mmap(nullptr, static_cast<size_t>(layout.mirror_bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                        descriptor, 0);
  ::close(descriptor);
  if (mapped == MAP_FAILED)
    return tl::unexpected(
        Fault{0, fmt::format("cannot map {} bytes: {}", layout.mirror_bytes, std::strerror(errno)), false});
  block->mirror_ = static_cast<std::byte*>(mapped);
  KW_GPU(block->take_device_memory());
  if (layout.mirror_bytes <= kMostRegisteredBytes)  // an optimisation: without it copies are slower
    block->registered_ = gpu.driver().mem_host_register(mapped, static_cast<size_t>(layout.mirror_bytes),
                                                        kRegisterPortable) == 0;
  return block;
}

Done Block::take_device_memory() {
  const Driver& driver = gpu_.driver();
  const auto bytes = static_cast<size_t>(layout_.device_bytes);
  if (!layout_.fenced)
    return gpu_.check(driver.mem_alloc(&device_, bytes), "take device memory for the operands");
  AllocationProperties properties;
  AccessDescriptor access;
  properties.location.id = access.location.id = gpu_.ordinal();
  KW_GPU(gpu_.check(driver.mem_address_reserve(&device_, bytes, static_cast<size_t>(kGranuleBytes), 0, 0),
                    "reserve addresses for the operands"));
  for (const MappedRange& range : layout_.mapped) {
    const DevicePointer begin = device_ + static_cast<DevicePointer>(range.offset);
    const auto size = static_cast<size_t>(range.size);
    AllocationHandle handle = 0;
    KW_GPU(
        gpu_.check(driver.mem_create(&handle, size, &properties, 0), "take device memory for the operands"));
    const Done mapped = gpu_.check(driver.mem_map(begin, size, 0, handle, 0), "map the operands");
    driver.mem_release(handle);  // lives on as long as it is mapped
    KW_GPU(mapped);
    mapped_.push_back(range);
    KW_GPU(gpu_.check(driver.mem_set_access(begin, size, &access, 1), "open the operands"));
  }
  return {};
}

Block::~Block() {
  const Driver& driver = gpu_.driver();
  if (registered_) driver.mem_host_unregister(mirror_);
  for (const MappedRange& range : mapped_)
    driver.mem_unmap(device_ + static_cast<DevicePointer>(range.offset), static_cast<size_t>(range.size));
  if (device_ != 0 && layout_.fenced)
    driver.mem_address_free(device_, static_cast<size_t>(layout_.device_bytes));
  if (device_ != 0 && !layout_.fenced) driver.mem_free(device_);
  if (mirror_ != nullptr) ::munmap(mirror_, static_cast<size_t>(layout_.mirror_bytes));
}

Done Block::copy_run(int64_t mirror, int64_t device, int64_t size, bool to_device) const {
  if (size <= 0) return {};
  const Driver& driver = gpu_.driver();
  const DevicePointer there = device_ + static_cast<DevicePointer>(device);
  std::byte* here = mirror_ + mirror;
  const auto bytes = static_cast<size_t>(size);
  return gpu_.check(to_device ? driver.memcpy_to_device(there, here, bytes, gpu_.stream())
                              : driver.memcpy_to_host(here, there, bytes, gpu_.stream()),
                    to_device ? "copy to the GPU" : "copy from the GPU");
}

Done Block::copy(int place_index, int64_t offset, int64_t size, bool to_device) const {
  const OperandPlace& place = layout_.places[static_cast<size_t>(place_index)];
  if (place.rows == 0)
    return copy_run(place.mirror_offset + offset, place.device_offset + offset, size, to_device);
  // Spread rows: those parts of the rows that lie in the range. Guards and gaps stay on our side.
  for (int64_t row = 0; row < place.rows; ++row) {
    const int64_t start = row * place.mirror_pitch_bytes;
    const int64_t begin = std::max(start, offset), end = std::min(start + place.row_bytes, offset + size);
    KW_GPU(copy_run(place.mirror_offset + begin,
                    place.device_offset + row * place.device_pitch_bytes + (begin - start), end - begin,
                    to_device));
  }
  return {};
}

Resident::~Resident() {
  if (graph_ != nullptr) gpu_.driver().graph_exec_destroy(graph_);
  callable_.reset();
  if (workspace_ != 0) gpu_.driver().mem_free(workspace_);
}

tl::expected<DevicePointer, Fault> Resident::make_workspace(size_t bytes) {
  workspace_bytes_ = bytes;
  if (bytes == 0) return DevicePointer{0};
  KW_GPU(gpu_.check(gpu_.driver().mem_alloc(&workspace_, bytes), "take device memory for the workspace"));
  return workspace_;
}

Done Resident::poison(uint32_t word) const {
  if (workspace_bytes_ < 4) return {};
  return gpu_.check(gpu_.driver().memset_d32(workspace_, word, workspace_bytes_ / 4, gpu_.stream()),
                    "poison the workspace");
}

Done Resident::make_graph() {
  const Driver& driver = gpu_.driver();
  KW_GPU(gpu_.check(driver.stream_begin_capture(gpu_.stream(), kCaptureThreadLocal), "begin a graph"));
  Done captured;
  for (int set = 0; set < block_.layout().sets && captured; ++set)
    captured = callable_->enqueue(set, gpu_.stream());
  Graph graph = nullptr;
  const Done ended = gpu_.check(driver.stream_end_capture(gpu_.stream(), &graph), "end a graph");
  if (!captured) return captured;
  if (!ended) return ended;
  const Done made = gpu_.check(driver.graph_instantiate(&graph_, graph, 0), "make a graph");
  driver.graph_destroy(graph);
  if (!made) return made;
  return gpu_.check(driver.graph_upload(graph_, gpu_.stream()), "put the graph on the GPU");
}

tl::expected<double, Fault> Resident::run_replays(int64_t replays) {
  if (graph_ == nullptr) KW_GPU(make_graph());
  const Driver& driver = gpu_.driver();
  double total_us = 0;
  while (replays > 0) {
    const int64_t now = block_.flush() ? std::min(replays, kReplaysAtOnce) : replays;
    size_t marks = 0;
    for (int64_t at = 0; at < now; ++at) {
      if (block_.flush()) KW_GPU(gpu_.flush_l2());
      if (block_.flush() || at == 0) KW_GPU(gpu_.mark(marks++));
      KW_GPU(gpu_.check(driver.graph_launch(graph_, gpu_.stream()), "start a graph"));
      if (block_.flush() || at + 1 == now) KW_GPU(gpu_.mark(marks++));
    }
    KW_GPU(gpu_.synchronize());
    for (size_t mark = 0; mark < marks; mark += 2) {
      const auto elapsed_us = gpu_.elapsed_us(mark, mark + 1);
      if (!elapsed_us) return elapsed_us;
      total_us += *elapsed_us;
    }
    replays -= now;
  }
  return total_us;
}

tl::expected<double, Fault> Resident::run(int first, int64_t calls) {
  const int sets = block_.layout().sets;
  if (first == 0 && sets > 1 && calls >= sets && calls % sets == 0) return run_replays(calls / sets);
  KW_GPU(gpu_.mark(0));
  for (int64_t at = 0; at < calls; ++at)
    KW_GPU(callable_->enqueue(static_cast<int>((first + at) % sets), gpu_.stream()));
  KW_GPU(gpu_.mark(1));
  KW_GPU(gpu_.synchronize());
  return gpu_.elapsed_us(0, 1);
}

tl::expected<Resident::ServerTimes, Fault> Resident::serve(int64_t calls, double rate_hz, uint64_t seed) {
  using std::chrono::duration;
  ServerTimes times;
  Random random(seed);
  auto next = Clock::now();
  for (int64_t at = 0; at < calls; ++at) {
    KW_GPU(gpu_.flush_l2());
    KW_GPU(gpu_.synchronize());
    next += std::chrono::duration_cast<Clock::duration>(
        duration<double>(-std::log(1 - random.uniform()) / rate_hz));
    if (next < Clock::now()) next = Clock::now();
    std::this_thread::sleep_until(next - std::chrono::microseconds(200));
    while (Clock::now() < next) {
    }
    const auto start = Clock::now();
    KW_GPU(gpu_.mark(0));
    KW_GPU(callable_->enqueue(static_cast<int>(at % block_.layout().sets), gpu_.stream()));
    KW_GPU(gpu_.mark(1));
    KW_GPU(gpu_.synchronize());
    times.host_us.push_back(microseconds_since(start));
    const auto device_us = gpu_.elapsed_us(0, 1);
    if (!device_us) return tl::unexpected(device_us.error());
    times.device_us.push_back(*device_us);
  }
  return times;
}

}  // namespace kw::cuda
