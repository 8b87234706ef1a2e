// A Device in this process for tests of verify: buffers are vectors with patterned slack, a program is a C++
// function. No worker, no faults of its own: a function returns the outcome that it wants to be seen.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "target/device.h"

namespace kw {

struct FakeCall {
  std::vector<float*> operand;
  const Workload& workload;
  std::vector<std::byte>& workspace;
  bool spread = false;  // a real device would show rows far apart
  int64_t n(size_t size) const { return workload.sizes[size]; }
};

using FakeKernel = std::function<RunOutcome(FakeCall&)>;

class FakeBuffers final : public Buffers {
 public:
  static constexpr int64_t kSlackBytes = 64;

  explicit FakeBuffers(Workload workload, bool is_spread = false)
      : spread(is_spread), workload_(std::move(workload)) {
    for (const Operand& operand : workload_.operands) {
      memory_.emplace_back(static_cast<size_t>(operand.span_bytes() + 2 * kSlackBytes));
    }
  }
  const Workload& workload() const override { return workload_; }
  int sets() const override { return 1; }
  const bool spread;
  std::span<std::byte> contents(int, int operand) override {
    auto& bytes = memory_[static_cast<size_t>(operand)];
    return {bytes.data() + kSlackBytes, bytes.size() - 2 * kSlackBytes};
  }
  void fill_guards(uint64_t seed) override {
    seed_ = seed;
    visit([](std::byte& byte, std::byte want, const Operand&, int64_t) { byte = want; });
  }
  std::optional<GuardHit> find_guard_hit() override {
    std::optional<GuardHit> hit;
    visit([&](std::byte& byte, std::byte want, const Operand& operand, int64_t at) {
      const int64_t size = dtype_bytes(operand.dtype);
      if (byte != want && !hit)
        hit = GuardHit{operand.name, at >= 0 ? at / size : -((-at + size - 1) / size)};
    });
    return hit;
  }

 private:
  template <class Visit>
  void visit(const Visit& visit_byte) {
    for (size_t index = 0; index < memory_.size(); ++index) {
      const Operand& operand = workload_.operands[index];
      const int64_t size = dtype_bytes(operand.dtype);
      for (int64_t at = 0; at < static_cast<int64_t>(memory_[index].size()); ++at) {
        const int64_t offset = at - kSlackBytes;
        const bool inside = offset >= 0 && offset < operand.span_bytes();
        if (inside && offset / size % operand.ld < operand.cols) continue;
        const auto want = static_cast<std::byte>(seed_ * 31 + static_cast<uint64_t>(at) * 7 + index);
        visit_byte(memory_[index][static_cast<size_t>(at)], want, operand, offset);
      }
    }
  }

  Workload workload_;
  std::vector<std::vector<std::byte>> memory_;
  uint64_t seed_ = 0;
};

class FakeProgram final : public Program {
 public:
  FakeProgram(FakeKernel kernel, FakeBuffers& buffers) : kernel_(std::move(kernel)), buffers_(buffers) {
    poison_workspace(1);
  }
  RunOutcome run(int, int64_t calls, Milliseconds) override {
    FakeCall call{{}, buffers_.workload(), workspace_, buffers_.spread};
    for (size_t i = 0; i < buffers_.workload().operands.size(); ++i) {
      call.operand.push_back(reinterpret_cast<float*>(buffers_.contents(0, static_cast<int>(i)).data()));
    }
    for (int64_t at = 0; at < calls; ++at) {
      const RunOutcome outcome = kernel_(call);
      if (!outcome.ok()) return outcome;
    }
    return {};
  }
  void poison_workspace(uint64_t seed) override {
    Random random(seed);
    for (std::byte& byte : workspace_) byte = static_cast<std::byte>(random.next());
  }
  const std::string& identity() const override { return identity_; }

 private:
  FakeKernel kernel_;
  FakeBuffers& buffers_;
  std::vector<std::byte> workspace_ = std::vector<std::byte>(1 << 16);
  std::string identity_ = "fake";
};

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(FakeKernel kernel, int threads = 1) : kernel_(std::move(kernel)) {
    facts_.threads = threads;
  }
  const DeviceFacts& facts() const override { return facts_; }
  Result<std::unique_ptr<Buffers>> make_buffers(const Workload& workload, const BufferPlan& plan) override {
    placements.push_back(plan.placement);
    return std::make_unique<FakeBuffers>(workload, plan.spread.has_value());
  }
  Result<tl::expected<std::unique_ptr<Program>, Verdict>> start_candidate(const Binary&,
                                                                          Buffers& buffers) override {
    return tl::expected<std::unique_ptr<Program>, Verdict>(
        std::make_unique<FakeProgram>(kernel_, static_cast<FakeBuffers&>(buffers)));
  }
  Result<std::vector<std::string>> find_baselines(const Workload&) override {
    return std::vector<std::string>{"fake"};
  }
  Result<std::unique_ptr<Program>> start_baseline(const std::string& name, Buffers& buffers) override {
    if (name != "fake") return fail("no baseline {}", name);
    return std::unique_ptr<Program>(
        std::make_unique<FakeProgram>(kernel_, static_cast<FakeBuffers&>(buffers)));
  }
  std::vector<Placement> placements;  // of every make_buffers

 private:
  FakeKernel kernel_;
  DeviceFacts facts_;
};

}  // namespace kw
