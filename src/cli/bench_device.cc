#include "cli/bench_device.h"

#include <sched.h>

#include "target/cpu/device.h"
#include "target/cuda/device.h"
#include "target/cuda/nvml.h"
#include "target/cuda/vendor.h"

namespace kw {
namespace {

// The last `threads` cores that this process may use.
std::vector<int> choose_cores(int threads) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  if (static_cast<size_t>(threads) < cores.size()) cores.erase(cores.begin(), cores.end() - threads);
  return cores;
}

BenchState read_state() {
  BenchState state;
  if (const auto gpu = cuda::read_gpu_state(0)) {
    state.sm_mhz = gpu->sm_clock_mhz;
    state.power_w = gpu->power_w;
    state.throttle = gpu->throttled;
  }
  return state;
}

Result<BenchDevice> open_gpu() {
  BenchDevice opened;
  KW_TRY(opened.device, make_cuda_device({}));
  opened.workspace_mib = static_cast<int64_t>(cuda::kVendorWorkspaceBytes >> 20);
  opened.read_state = read_state;
  return opened;
}

}  // namespace

Result<BenchDevice> open_bench_device(const std::string& target, int threads) {
  if (target == "cuda") return open_gpu();
  if (target != "cpu") return fail_user("--target \"{}\" is not known; use cpu or cuda", target);
  BenchDevice opened;
  opened.cores = choose_cores(threads);
  KW_TRY(opened.device, make_cpu_device({.threads = threads, .cores = opened.cores}));
  return opened;
}

}  // namespace kw
