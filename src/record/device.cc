#include "record/device.h"

#include <algorithm>

#include "record/json_fields.h"

namespace kw {
namespace {

constexpr int64_t kMaxCores = 1 << 20;
constexpr int64_t kMaxCacheBytes = int64_t{1} << 50;

}  // namespace

std::string DeviceFacts::key() const {
  return fmt::format("{}|{}|{}|{} cores|{} threads", target, name, isa, cores, threads);
}

Json print_device(const DeviceFacts& device) {
  return {{"target", device.target},
          {"name", device.name},
          {"isa", device.isa},
          {"cores", device.cores},
          {"threads", device.threads},
          {"l1d_bytes", device.l1d_bytes},
          {"l2_bytes", device.l2_bytes},
          {"l3_bytes", device.l3_bytes},
          {"peak_gflops", device.peak_gflops},
          {"bandwidth_gbs", device.bandwidth_gbs},
          {"launch_floor_us", device.launch_floor_us},
          {"os", device.os},
          {"compiler", device.compiler}};
}

Result<DeviceFacts> parse_device(const Json& json) {
  JsonFields fields(json, "device record");
  KW_TRY_VOID(fields.check_object());
  DeviceFacts device;
  KW_TRY(device.target, fields.text("target"));
  KW_TRY(device.name, fields.text("name"));
  KW_TRY(device.isa, fields.text("isa"));
  KW_TRY(const int64_t cores, fields.count("cores", kMaxCores));
  KW_TRY(const int64_t threads, fields.count("threads", kMaxCores));
  device.cores = static_cast<int>(cores), device.threads = static_cast<int>(threads);
  KW_TRY(device.l1d_bytes, fields.count("l1d_bytes", kMaxCacheBytes));
  KW_TRY(device.l2_bytes, fields.count("l2_bytes", kMaxCacheBytes));
  KW_TRY(device.l3_bytes, fields.count("l3_bytes", kMaxCacheBytes));
  KW_TRY(device.peak_gflops, fields.size("peak_gflops"));
  KW_TRY(device.bandwidth_gbs, fields.size("bandwidth_gbs"));
  KW_TRY(device.launch_floor_us, fields.size("launch_floor_us"));
  KW_TRY(device.os, fields.text("os"));
  KW_TRY(device.compiler, fields.text("compiler"));
  return device;
}

double roofline_us(const DeviceFacts& device, double flops, double bytes) {
  const double compute_us = device.peak_gflops > 0 ? flops / device.peak_gflops * 1e-3 : 0;
  const double memory_us = device.bandwidth_gbs > 0 ? bytes / device.bandwidth_gbs * 1e-3 : 0;
  return std::max(compute_us, memory_us) + device.launch_floor_us;
}

}  // namespace kw
