// What lives in the worker between requests: operand blocks (device memory beside the host mirror) and
// programs (a candidate's module or a vendor routine, bound to a block). In: numbers that our side computed
// from the launch record. Out: enqueued launches, device times. Used by worker.cc only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/json_fields.h"
#include "target/cuda/gpu.h"
#include "target/cuda/layout.h"
#include "target/cuda/vendor.h"

namespace kw::cuda {

// Operands of one workload: the mirror that both processes map, and their place on the GPU.
class Block {
 public:
  [[nodiscard]] static tl::expected<std::unique_ptr<Block>, Fault> make(const Gpu& gpu, const Layout& layout,
                                                                        int descriptor, bool flush);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const Layout& layout() const { return layout_; }
  // Whether the sets together fit into the second-level cache, so that it is emptied before each replay.
  bool flush() const { return flush_; }
  DevicePointer address(int set, int operand) const {
    return device_ + static_cast<DevicePointer>(layout_.place(set, operand).device_offset);
  }
  // Bytes [offset, offset + size) of an operand, counted from its first element in the mirror; guards are
  // reached by negative offsets and by those past the span. Enqueued.
  [[nodiscard]] Done copy(int place, int64_t offset, int64_t size, bool to_device) const;

 private:
  Block(const Gpu& gpu, Layout layout, bool flush) : gpu_(gpu), layout_(std::move(layout)), flush_(flush) {}
  [[nodiscard]] Done copy_run(int64_t mirror, int64_t device, int64_t size, bool to_device) const;
  const Gpu& gpu_;
  Layout layout_;
  [[nodiscard]] Done take_device_memory();
  bool flush_ = false, registered_ = false;
  std::byte* mirror_ = nullptr;
  DevicePointer device_ = 0;
  std::vector<MappedRange> mapped_;  // so far, of layout_.mapped
};

// One enqueued call per run of enqueue(set).
class Callable {
 public:
  virtual ~Callable() = default;
  [[nodiscard]] virtual Done enqueue(int set, Stream stream) = 0;
};

// Owns the workspace; runs and times a callable over the sets of a block.
class Resident {
 public:
  Resident(Gpu& gpu, const Block& block) : gpu_(gpu), block_(block) {}
  ~Resident();
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  [[nodiscard]] tl::expected<DevicePointer, Fault> make_workspace(size_t bytes);
  void set_callable(std::unique_ptr<Callable> callable) { callable_ = std::move(callable); }
  [[nodiscard]] Done poison(uint32_t word) const;

  // `calls` calls from set `first` on; device time of all of them in us. Whole rotations run as replays of
  // one graph, which is kept; others are launched one by one.
  [[nodiscard]] tl::expected<double, Fault> run(int first, int64_t calls);

  struct ServerTimes {
    std::vector<double> device_us, host_us;
  };
  // Single calls at exponential gaps of 1 / rate on average, the GPU idle between, the cache emptied in the
  // gap.
  [[nodiscard]] tl::expected<ServerTimes, Fault> serve(int64_t calls, double rate_hz, uint64_t seed);

 private:
  [[nodiscard]] Done make_graph();
  [[nodiscard]] tl::expected<double, Fault> run_replays(int64_t replays);
  Gpu& gpu_;
  const Block& block_;
  DevicePointer workspace_ = 0;
  size_t workspace_bytes_ = 0;
  std::unique_ptr<Callable> callable_;
  GraphExec graph_ = nullptr;
};

// A candidate's module, its launches bound to every set of the block.
struct LoadedKernels {
  std::unique_ptr<Callable> callable;
  Json facts;  // per kernel: registers, local and shared bytes
};
[[nodiscard]] tl::expected<LoadedKernels, Fault> load_kernels(const Gpu& gpu, const Block& block,
                                                              const std::string& cubin, const Json& launches,
                                                              const std::vector<Dtype>& dtypes,
                                                              DevicePointer workspace);

}  // namespace kw::cuda
