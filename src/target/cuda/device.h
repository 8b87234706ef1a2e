// The GPU target: makes a Device whose buffers, programs and clock live in one worker process per GPU. Called
// by loop and cli; everything else sees target/device.h.
#pragma once

#include <memory>

#include "base/file.h"
#include "target/device.h"

namespace kw {

struct CudaDevicePlan {
  fs::path worker = "/proc/self/exe";  // program that answers to the role of cuda/worker.h
  int ordinal = 0;                     // of the GPU
};

// The error says what is missing: driver, GPU, or what the driver refused.
[[nodiscard]] Result<std::unique_ptr<Device>> make_cuda_device(const CudaDevicePlan& plan);

// Measured peaks of such a device: f16 in and f32 accumulate, large copy (read + written), an empty launch in
// a graph.
struct CudaPeaks {
  double peak_gflops = 0, bandwidth_gbs = 0, launch_floor_us = 0;
};
[[nodiscard]] Result<CudaPeaks> measure_cuda_peaks(Device& device);

// What doctor shows. `error`: why there is no device.
struct CudaSetup {
  struct Library {
    std::string name, version, missing;  // version, or why there is none
  };
  std::string driver;  // "CUDA 13.0"
  std::string device;  // "NVIDIA H200, sm_90a, 132 SMs"
  std::string error;
  std::vector<Library> libraries;
};
[[nodiscard]] CudaSetup find_cuda_setup(const CudaDevicePlan& plan);

}  // namespace kw
