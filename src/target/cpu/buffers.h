// CpuBuffers: operand buffers in one memory file, mapped here and shared with workers. In: workload and plan.
// Out: contents for verify and measure, layout and descriptor for program. Runs nothing.
#pragma once

#include <memory>

#include "target/cpu/layout.h"
#include "target/device.h"
#include "target/shared_memory.h"

namespace kw {

class CpuBuffers final : public Buffers {
 public:
  // Guards are filled from a secret seed. Error when memory is short; the message names the workload.
  [[nodiscard]] static Result<std::unique_ptr<CpuBuffers>> make(const Workload& workload,
                                                                const BufferPlan& plan);

  const Workload& workload() const override { return workload_; }
  int sets() const override { return layout_.sets; }
  std::span<std::byte> contents(int set, int operand) override;
  void fill_guards(uint64_t seed) override;
  std::optional<GuardHit> find_guard_hit() override;

  // What the kernel is told: the workload, or BufferPlan::spread.
  const Workload& seen_workload() const { return seen_ ? *seen_ : workload_; }
  const OperandLayout& layout() const { return layout_; }
  int descriptor() const { return memory_.descriptor(); }

 private:
  CpuBuffers(Workload workload, std::optional<Workload> seen, OperandLayout layout, SharedMemory memory);
  Workload workload_;
  std::optional<Workload> seen_;
  OperandLayout layout_;
  SharedMemory memory_;
  uint64_t guard_seed_ = 0;
};

}  // namespace kw
