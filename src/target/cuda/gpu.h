// The GPU as the worker sees it: context, stream, clock, and the errors of both kinds. In: driver calls. Out:
// Faults that say whether the context survived. Used inside the worker only.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "target/cuda/driver.h"

namespace kw::cuda {

// A driver call that failed. Errors of the GPU itself (illegal address, ...) end the context.
struct Fault {
  int code = 0;
  std::string text;
  bool fatal = false;
};
using Done = tl::expected<void, Fault>;

class Gpu {
 public:
  // Context, stream, the buffer that empties the second-level cache.
  [[nodiscard]] static Result<Gpu> open(int ordinal);

  const Driver& driver() const { return *driver_; }
  Stream stream() const { return stream_; }
  int ordinal() const { return device_; }
  // Name, processors, memory, versions: for DeviceFacts.
  [[nodiscard]] Json print_facts() const;

  [[nodiscard]] Done check(DriverResult result, const char* what) const;
  [[nodiscard]] Done synchronize() const { return check(driver_->stream_synchronize(stream_), "run"); }

  // Enqueues a read of 256 MB, so that operands come from memory.
  [[nodiscard]] Done flush_l2() const;

  // Least time of an empty kernel in a graph of many.
  [[nodiscard]] tl::expected<double, Fault> measure_launch_floor_us();

  // The clock: marks are enqueued; the time between two is there after synchronize().
  [[nodiscard]] Done mark(size_t index);
  [[nodiscard]] tl::expected<double, Fault> elapsed_us(size_t from, size_t to) const;

 private:
  explicit Gpu(const Driver* driver) : driver_(driver) {}
  [[nodiscard]] Status open_flush();
  const Driver* driver_;
  DeviceHandle device_ = 0;
  Stream stream_ = nullptr;
  std::vector<Event> events_;
  DevicePointer flush_bytes_ = 0;
  Function flush_ = nullptr, empty_ = nullptr;
};

}  // namespace kw::cuda

// KW_GPU(gpu.check(...)): returns the fault from the enclosing function.
#define KW_GPU(expression)                                                   \
  do {                                                                       \
    auto kw_gpu_done = (expression);                                         \
    if (!kw_gpu_done) return tl::unexpected(std::move(kw_gpu_done).error()); \
  } while (false)
