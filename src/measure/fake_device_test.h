// A device whose time is simulated: programs say how long a call takes, buffers are plain memory. For tests
// of measure.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "target/device.h"

namespace kw {

inline Workload make_fake_workload(int64_t rows, int64_t cols, int64_t ld, Access output = Access::kOut) {
  Workload workload;
  workload.operands = {{"a", Dtype::kF32, rows, cols, ld, Access::kIn},
                       {"c", Dtype::kF32, rows, cols, ld, output}};
  workload.flops = 2.0 * static_cast<double>(rows * cols);
  return workload;
}

class FakeBuffers : public Buffers {
 public:
  FakeBuffers(Workload workload, int sets) : workload_(std::move(workload)), sets_(sets) {
    for (int i = 0; i < sets; ++i)
      for (const Operand& operand : workload_.operands)
        memory_.emplace_back(static_cast<size_t>(operand.span_bytes()), std::byte{0x11});
  }
  const Workload& workload() const override { return workload_; }
  int sets() const override { return sets_; }
  std::span<std::byte> contents(int set, int operand) override {
    return memory_[static_cast<size_t>(set) * workload_.operands.size() + static_cast<size_t>(operand)];
  }
  void fill_guards(uint64_t) override {}
  std::optional<GuardHit> find_guard_hit() override { return std::nullopt; }

 private:
  Workload workload_;
  int sets_;
  std::vector<std::vector<std::byte>> memory_;
};

// Sample number -> mean latency of its calls.
using LatencyOf = std::function<double(int sample)>;

class FakeProgram : public Program {
 public:
  FakeProgram(std::string identity, LatencyOf latency)
      : identity_(std::move(identity)), latency_(std::move(latency)) {}
  RunOutcome run(int first_set, int64_t calls, Milliseconds limit) override {
    first_sets.push_back(first_set);
    call_counts.push_back(calls);
    RunOutcome outcome;
    if (fail_at == static_cast<int>(call_counts.size())) return failure;
    outcome.elapsed_us = static_cast<double>(calls) * latency_(static_cast<int>(call_counts.size()) - 1);
    if (outcome.elapsed_us > 1000.0 * static_cast<double>(limit.count()))
      outcome.status = RunOutcome::Status::kTimeout;
    elapsed_us += outcome.elapsed_us;
    return outcome;
  }
  void poison_workspace(uint64_t) override {}
  const std::string& identity() const override { return identity_; }

  std::vector<int> first_sets;
  std::vector<int64_t> call_counts;
  double elapsed_us = 0;
  int fail_at = 0;  // run number, from 1
  RunOutcome failure;

 private:
  std::string identity_;
  LatencyOf latency_;
};

class FakeDevice : public Device {
 public:
  std::map<std::string, LatencyOf> routines;
  std::map<std::string, RunOutcome> broken;  // fails in this run:
  int fail_at = 20;
  DeviceFacts device_facts;

  const DeviceFacts& facts() const override { return device_facts; }
  Result<std::unique_ptr<Buffers>> make_buffers(const Workload& workload, const BufferPlan& plan) override {
    return std::make_unique<FakeBuffers>(workload, plan.sets);
  }
  Result<tl::expected<std::unique_ptr<Program>, Verdict>> start_candidate(const Binary&, Buffers&) override {
    return fail("the fake device runs no candidates");
  }
  Result<std::vector<std::string>> find_baselines(const Workload&) override {
    return std::vector<std::string>();
  }
  Result<std::unique_ptr<Program>> start_baseline(const std::string& name, Buffers&) override {
    const auto found = routines.find(name);
    if (found == routines.end()) return fail("{} is not installed", name);
    auto program = std::make_unique<FakeProgram>(name + " 1.0", found->second);
    if (const auto broken_at = broken.find(name); broken_at != broken.end()) {
      program->fail_at = fail_at;
      program->failure = broken_at->second;
    }
    return program;
  }
};

inline LatencyOf steady(double latency_us) {
  return [latency_us](int) { return latency_us; };
}

}  // namespace kw
