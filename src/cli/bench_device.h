// The device that a benchmark runs on, by the name of its target. Called by the command `bench` only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/bench_row.h"
#include "target/device.h"

namespace kw {

struct BenchDevice {
  std::unique_ptr<Device> device;
  std::vector<int> cores;                  // that measure; empty where no core does
  std::optional<int64_t> workspace_mib;    // that vendor routines are given
  std::function<BenchState()> read_state;  // empty where the target tells nothing
};

// "cpu" or "cuda" (the first GPU). User error for any other name.
[[nodiscard]] Result<BenchDevice> open_bench_device(const std::string& target, int threads);

}  // namespace kw
