#include "record/device.h"

#include <algorithm>

#include "record/json_fields.h"

namespace kw {
namespace {

constexpr int kMaxCores = 1 << 20;
constexpr int64_t kMaxCacheBytes = int64_t{1} << 50;

template <class Integer>
Result<Integer> take_count(JsonFields& fields, const char* name, Integer most) {
  KW_TRY(const int64_t value, fields.integer(name));
  if (value < 0 || value > most)
    return fail_user("{}: field \"{}\" is {}; it must lie in [0, {}]", fields.where(), name, value, most);
  return static_cast<Integer>(value);
}

Result<double> take_figure(JsonFields& fields, const char* name) {
  KW_TRY(const double value, fields.number(name));
  if (value < 0)
    return fail_user("{}: field \"{}\" is {}; it cannot be negative", fields.where(), name, value);
  return value;
}

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
  KW_TRY(device.cores, take_count(fields, "cores", kMaxCores));
  KW_TRY(device.threads, take_count(fields, "threads", kMaxCores));
  KW_TRY(device.l1d_bytes, take_count(fields, "l1d_bytes", kMaxCacheBytes));
  KW_TRY(device.l2_bytes, take_count(fields, "l2_bytes", kMaxCacheBytes));
  KW_TRY(device.l3_bytes, take_count(fields, "l3_bytes", kMaxCacheBytes));
  KW_TRY(device.peak_gflops, take_figure(fields, "peak_gflops"));
  KW_TRY(device.bandwidth_gbs, take_figure(fields, "bandwidth_gbs"));
  KW_TRY(device.launch_floor_us, take_figure(fields, "launch_floor_us"));
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
