// CudaBuffers: operands of one workload on the GPU, with a mirror in a memory file that the worker maps too.
// In: workload and plan. Out: contents for verify and measure; transfers happen when somebody looks or runs.
// Survives the worker: the next one gets the mirror's state. Runs nothing.
#pragma once

#include <memory>
#include <vector>

#include "target/cuda/layout.h"
#include "target/cuda/worker_process.h"
#include "target/shared_memory.h"

namespace kw::cuda {

class CudaBuffers final : public Buffers {
 public:
  // `l2_bytes` of the device: sets that fit into it are flushed before timed runs. Error when memory is
  // short.
  [[nodiscard]] static Result<std::unique_ptr<CudaBuffers>> make(std::shared_ptr<WorkerProcess> worker,
                                                                 const Workload& workload,
                                                                 const BufferPlan& plan, int64_t l2_bytes);
  ~CudaBuffers() override;

  const Workload& workload() const override { return workload_; }
  int sets() const override { return layout_.sets; }
  std::span<std::byte> contents(int set, int operand) override;
  std::span<const std::byte> given(int set, int operand) override;
  void write(int set, int operand, size_t offset, std::span<const std::byte> bytes) override;
  void read(int set, int operand, size_t offset, std::span<std::byte> bytes) override;
  int64_t calls_unit() const override { return layout_.sets; }
  void fill_guards(uint64_t seed) override;
  std::optional<GuardHit> find_guard_hit() override;

  // What the kernel is told: the workload, or BufferPlan::spread.
  const Workload& seen_workload() const { return seen_ ? *seen_ : workload_; }
  int64_t id() const { return id_; }

  // Makes sure that the running worker has the block.
  [[nodiscard]] Status bind();
  // Transfers due before calls on these sets, and those that a look at small operands will need after them.
  [[nodiscard]] Json take_copies(int first_set, int64_t calls);
  [[nodiscard]] Json list_copies_back() const;
  // The calls have run, list_copies_back() with them: what else lies on the GPU is newer.
  void note_run(int first_set, int64_t calls);

 private:
  struct Range {
    int64_t offset = 0, size = 0;
  };
  // Which side holds the truth about an operand.
  struct State {
    bool mirror_newer = true;   // all of it, guards included
    std::vector<Range> writes;  // else these parts
    bool device_newer = false;
  };
  CudaBuffers(std::shared_ptr<WorkerProcess> worker, const Workload& workload, const BufferPlan& plan,
              int64_t l2_bytes, SharedMemory memory);
  int place_of(int set, int operand) const { return set * layout_.operands + operand; }
  const OperandPlace& place(int index) const { return layout_.places[static_cast<size_t>(index)]; }
  Range whole(int index) const;
  bool returns_with_run() const;
  Range span_of(int index) const { return {0, place(index).span_bytes}; }
  std::span<std::byte> mirror(int index, Range range);
  void fetch(int index, Range range);
  void fetch_all_newer();
  template <class Visit>
  bool visit_guards(const Visit& visit);

  std::shared_ptr<WorkerProcess> worker_;
  Workload workload_;
  std::optional<Workload> seen_;
  Layout layout_;
  SharedMemory memory_;
  std::vector<State> states_;
  uint64_t guard_seed_ = 0;
  int64_t id_ = 0;
  int generation_ = 0;
  bool flush_ = false;
};

}  // namespace kw::cuda
