#include "loop/peaks.h"

#include "target/cpu/device.h"
#include "target/cpu/peak.h"
#include "target/cuda/device.h"

namespace kw {

Status measure_peaks(Device& device, const std::vector<int>& cores, DeviceFacts& facts) {
  if (facts.target == "cuda") {
    KW_TRY(const CudaPeaks peaks, measure_cuda_peaks(device));
    facts.peak_gflops = peaks.peak_gflops;
    facts.bandwidth_gbs = peaks.bandwidth_gbs;
    facts.launch_floor_us = peaks.launch_floor_us;
    return {};
  }
  KW_TRY(const Peaks peaks, measure_cpu_peaks(facts.threads));
  facts.peak_gflops = peaks.peak_gflops;
  facts.bandwidth_gbs = peaks.bandwidth_gbs;
  KW_TRY(facts.launch_floor_us, measure_launch_floor_us({.threads = facts.threads, .cores = cores}));
  return {};
}

}  // namespace kw
