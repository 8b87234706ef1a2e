#include "target/cuda/peak.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/random.h"
#include "record/element.h"
#include "target/cuda/vendor.h"

namespace kw::cuda {
namespace {

constexpr int kRuns = 12;
constexpr auto kRest = std::chrono::milliseconds(20);
constexpr int kCallsPerRun = 3;
constexpr int64_t kSize = 8192;                    // of the product
constexpr size_t kPatternBytes = size_t{2} << 20;  // of random values, repeated
constexpr size_t kCopyBytes = size_t{1} << 30;

class DeviceMemory {
 public:
  explicit DeviceMemory(const Gpu& gpu) : gpu_(gpu) {}
  ~DeviceMemory() {
    if (pointer_ != 0) gpu_.driver().mem_free(pointer_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  [[nodiscard]] Done take(size_t bytes) {
    return gpu_.check(gpu_.driver().mem_alloc(&pointer_, bytes), "take device memory for the peaks");
  }
  DevicePointer get() const { return pointer_; }

 private:
  const Gpu& gpu_;
  DevicePointer pointer_ = 0;
};

// Time of `calls` enqueued works in us, the least of kRuns.
template <class Enqueue>
tl::expected<double, Fault> find_least_us(Gpu& gpu, int calls, const Enqueue& enqueue) {
  double least_us = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::this_thread::sleep_for(kRest);
    KW_GPU(gpu.mark(0));
    for (int call = 0; call < calls; ++call) KW_GPU(enqueue());
    KW_GPU(gpu.mark(1));
    KW_GPU(gpu.synchronize());
    const auto elapsed_us = gpu.elapsed_us(0, 1);
    if (!elapsed_us) return elapsed_us;
    least_us = run == 0 ? *elapsed_us : std::min(least_us, *elapsed_us);
  }
  return least_us / calls;
}

Done fill_normal(const Gpu& gpu, DevicePointer to, size_t bytes) {
  std::vector<std::byte> pattern(kPatternBytes);
  Random random(1);
  for (size_t at = 0; at < kPatternBytes / 2; ++at)
    store_element(Dtype::kF16, pattern, static_cast<int64_t>(at), random.normal());
  for (size_t at = 0; at < bytes; at += kPatternBytes)
    KW_GPU(gpu.check(gpu.driver().memcpy_to_device(to + at, pattern.data(),
                                                   std::min(kPatternBytes, bytes - at), gpu.stream()),
                     "fill operands"));
  return gpu.synchronize();
}

tl::expected<double, Fault> measure_product_gflops(Gpu& gpu) {
  const auto bytes = static_cast<size_t>(kSize * kSize * 2);
  DeviceMemory a(gpu), b(gpu), c(gpu), workspace(gpu);
  for (DeviceMemory* memory : {&a, &b, &c}) KW_GPU(memory->take(bytes));
  KW_GPU(workspace.take(kVendorWorkspaceBytes));
  KW_GPU(fill_normal(gpu, a.get(), bytes));
  KW_GPU(fill_normal(gpu, b.get(), bytes));
  Workload workload;
  Problem& problem = workload.problem;
  problem.dtype = Dtype::kF16;
  problem.layout = Layout::kNT;
  problem.m = problem.n = problem.k = kSize;
  problem = with_tight_strides(problem);
  for (const char* name : {"a", "b", "c"})
    workload.operands.push_back(
        {name, Dtype::kF16, kSize, kSize, kSize, *name == 'c' ? Access::kOut : Access::kIn});
  workload.scalars = {1, 0};
  auto routine = open_vendor_routine("cublas", workload, workspace.get(), kVendorWorkspaceBytes);
  if (!routine) return tl::unexpected(Fault{0, routine.error().message, false});
  const std::array<DevicePointer, 3> operands = {a.get(), b.get(), c.get()};
  const auto call_us = find_least_us(gpu, kCallsPerRun, [&]() -> Done {
    if (const Status done = (*routine)->enqueue(operands, gpu.stream()); !done)
      return tl::unexpected(Fault{0, done.error().message, false});
    return {};
  });
  if (!call_us) return call_us;
  return 2.0 * kSize * kSize * kSize / *call_us * 1e-3;
}

tl::expected<double, Fault> measure_copy_gbs(Gpu& gpu) {
  DeviceMemory from(gpu), to(gpu);
  KW_GPU(from.take(kCopyBytes));
  KW_GPU(to.take(kCopyBytes));
  const auto copy_us = find_least_us(gpu, kCallsPerRun, [&] {
    return gpu.check(gpu.driver().memcpy_on_device(to.get(), from.get(), kCopyBytes, gpu.stream()), "copy");
  });
  if (!copy_us) return copy_us;
  return 2.0 * static_cast<double>(kCopyBytes) / *copy_us * 1e-3;
}

}  // namespace

tl::expected<Json, Fault> measure_peaks(Gpu& gpu) {
  const auto gflops = measure_product_gflops(gpu);
  if (!gflops) return tl::unexpected(gflops.error());
  const auto gbs = measure_copy_gbs(gpu);
  if (!gbs) return tl::unexpected(gbs.error());
  const auto floor_us = gpu.measure_launch_floor_us();
  if (!floor_us) return tl::unexpected(floor_us.error());
  return Json{{"peak_gflops", *gflops}, {"bandwidth_gbs", *gbs}, {"launch_floor_us", *floor_us}};
}

}  // namespace kw::cuda
