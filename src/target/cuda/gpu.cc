#include "target/cuda/gpu.h"

#include <algorithm>

namespace kw::cuda {
namespace {

constexpr size_t kFlushBytes = size_t{256} << 20;
constexpr unsigned kFlushBlocks = 1024, kFlushThreads = 256;

// kw_flush reads `count` 16-byte words of zeros and stores only if one is not.
constexpr const char* kText = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry kw_empty() {
  ret;
}
.visible .entry kw_flush(.param .u64 base, .param .u64 count) {
  .reg .u64 %p<7>;
  .reg .u32 %r<12>;
  .reg .pred %q;
  ld.param.u64 %p1, [base];
  ld.param.u64 %p2, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %p3, %r4;
  mov.u32 %r5, %nctaid.x;
  mul.lo.u32 %r6, %r5, %r2;
  cvt.u64.u32 %p4, %r6;
  mov.u32 %r7, 0;
next:
  setp.ge.u64 %q, %p3, %p2;
  @%q bra done;
  shl.b64 %p5, %p3, 4;
  add.u64 %p5, %p1, %p5;
  ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%p5];
  or.b32 %r7, %r7, %r8;
  or.b32 %r7, %r7, %r9;
  or.b32 %r7, %r7, %r10;
  or.b32 %r7, %r7, %r11;
  add.u64 %p3, %p3, %p4;
  bra next;
done:
  setp.ne.u32 %q, %r7, 0;
  @%q st.global.u32 [%p1], %r7;
  ret;
}
)";

bool ends_context(DriverResult result) {
  switch (result) {
    case kErrorIllegalAddress:
    case kErrorLaunchTimeout:
    case kErrorHardwareStack:
    case kErrorIllegalInstruction:
    case kErrorMisalignedAddress:
    case kErrorInvalidAddressSpace:
    case kErrorInvalidPc:
    case kErrorLaunchFailed:
    case kErrorAssert:
    case kErrorUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<Gpu> Gpu::open(int ordinal) {
  KW_TRY(const Driver* driver, Driver::load());
  Gpu gpu(driver);
  const auto say = [&](DriverResult result, const char* what) { return check_driver(*driver, result, what); };
  int count = 0;
  KW_TRY_VOID(say(driver->device_get_count(&count), "count GPUs"));
  if (ordinal < 0 || ordinal >= count)
    return fail_user("GPU {}: this machine has {}, numbered from 0", ordinal, count);
  KW_TRY_VOID(say(driver->device_get(&gpu.device_, ordinal), "find the GPU"));
  Context context = nullptr;
  KW_TRY_VOID(say(driver->primary_context_retain(&context, gpu.device_), "open the GPU"));
  KW_TRY_VOID(say(driver->context_set_current(context), "use the GPU"));
  KW_TRY_VOID(say(driver->stream_create(&gpu.stream_, kStreamNonBlocking), "make a stream"));
  KW_TRY_VOID(gpu.open_flush());
  return gpu;
}

Status Gpu::open_flush() {
  const auto say = [&](DriverResult result, const char* what) {
    return check_driver(*driver_, result, what);
  };
  Module module = nullptr;
  KW_TRY_VOID(say(driver_->module_load_data(&module, kText), "load the cache flush"));
  KW_TRY_VOID(say(driver_->module_get_function(&flush_, module, "kw_flush"), "find the cache flush"));
  KW_TRY_VOID(say(driver_->module_get_function(&empty_, module, "kw_empty"), "find the empty kernel"));
  KW_TRY_VOID(say(driver_->mem_alloc(&flush_bytes_, kFlushBytes), "take 256 MB for the cache flush"));
  KW_TRY_VOID(say(driver_->memset_d32(flush_bytes_, 0, kFlushBytes / 4, stream_), "clear them"));
  auto flushed = flush_l2();
  if (flushed) flushed = synchronize();
  if (!flushed) return fail("the GPU is not healthy: {}", flushed.error().text);
  return {};
}

Json Gpu::print_facts() const {
  const auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    return driver_->device_get_attribute(&value, which, device_) == 0 ? value : 0;
  };
  char name[256] = {};
  driver_->device_get_name(name, sizeof name - 1, device_);
  int version = 0;
  driver_->driver_get_version(&version);
  size_t free_bytes = 0, total_bytes = 0;
  driver_->mem_get_info(&free_bytes, &total_bytes);
  return {{"name", name},
          {"major", attribute(kComputeMajor)},
          {"minor", attribute(kComputeMinor)},
          {"processors", attribute(kMultiprocessors)},
          {"l2_bytes", attribute(kL2Bytes)},
          {"shared_bytes", attribute(kMaxSharedBytesPerBlock)},
          {"clock_khz", attribute(kClockKhz)},
          {"cuda", fmt::format("{}.{}", version / 1000, version % 1000 / 10)},
          {"memory_bytes", total_bytes}};
}

Done Gpu::check(DriverResult result, const char* what) const {
  if (result == 0) return {};
  return tl::unexpected(
      Fault{result, fmt::format("{}: {}", what, driver_->explain(result)), ends_context(result)});
}

Done Gpu::flush_l2() const {
  DevicePointer base = flush_bytes_;
  uint64_t count = kFlushBytes / 16;
  void* parameters[] = {&base, &count};
  LaunchConfig config;
  config.grid_x = kFlushBlocks;
  config.block_x = kFlushThreads;
  config.stream = stream_;
  return check(driver_->launch_kernel(&config, flush_, parameters, nullptr), "flush the cache");
}

tl::expected<double, Fault> Gpu::measure_launch_floor_us() {
  constexpr int kNodes = 200, kReplays = 10;
  KW_GPU(check(driver_->stream_begin_capture(stream_, kCaptureThreadLocal), "begin a graph"));
  LaunchConfig config;
  config.block_x = 32;
  config.stream = stream_;
  Done launched;
  for (int node = 0; node < kNodes && launched; ++node)
    launched = check(driver_->launch_kernel(&config, empty_, nullptr, nullptr), "launch the empty kernel");
  Graph graph = nullptr;
  KW_GPU(check(driver_->stream_end_capture(stream_, &graph), "end a graph"));
  KW_GPU(launched);
  GraphExec exec = nullptr;
  KW_GPU(check(driver_->graph_instantiate(&exec, graph, 0), "make a graph"));
  double least_us = 0;
  for (int replay = 0; replay < kReplays; ++replay) {
    KW_GPU(mark(0));
    KW_GPU(check(driver_->graph_launch(exec, stream_), "start a graph"));
    KW_GPU(mark(1));
    KW_GPU(synchronize());
    const auto took_us = elapsed_us(0, 1);
    if (!took_us) return took_us;
    least_us = replay == 0 ? *took_us : std::min(least_us, *took_us);
  }
  driver_->graph_exec_destroy(exec);
  driver_->graph_destroy(graph);
  return least_us / kNodes;
}

Done Gpu::mark(size_t index) {
  while (events_.size() <= index) {
    Event event = nullptr;
    KW_GPU(check(driver_->event_create(&event, 0), "make a clock event"));
    events_.push_back(event);
  }
  return check(driver_->event_record(events_[index], stream_), "read the clock");
}

tl::expected<double, Fault> Gpu::elapsed_us(size_t from, size_t to) const {
  float ms = 0;
  KW_GPU(check(driver_->event_elapsed_ms(&ms, events_[from], events_[to]), "read the clock"));
  return static_cast<double>(ms) * 1000;
}

}  // namespace kw::cuda
