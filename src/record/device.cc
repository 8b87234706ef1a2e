#include "record/device.h"

#include <algorithm>

namespace kw {

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
  DeviceFacts device;
  try {
    json.at("target").get_to(device.target);
    json.at("name").get_to(device.name);
    json.at("isa").get_to(device.isa);
    json.at("cores").get_to(device.cores);
    json.at("threads").get_to(device.threads);
    json.at("l1d_bytes").get_to(device.l1d_bytes);
    json.at("l2_bytes").get_to(device.l2_bytes);
    json.at("l3_bytes").get_to(device.l3_bytes);
    json.at("peak_gflops").get_to(device.peak_gflops);
    json.at("bandwidth_gbs").get_to(device.bandwidth_gbs);
    json.at("launch_floor_us").get_to(device.launch_floor_us);
    json.at("os").get_to(device.os);
    json.at("compiler").get_to(device.compiler);
  } catch (const std::exception& error) {
    return fail_user("device record: {}", error.what());
  }
  return device;
}

double roofline_us(const DeviceFacts& device, double flops, double bytes) {
  const double compute_us = device.peak_gflops > 0 ? flops / device.peak_gflops * 1e-3 : 0;
  const double memory_us = device.bandwidth_gbs > 0 ? bytes / device.bandwidth_gbs * 1e-3 : 0;
  return std::max(compute_us, memory_us) + device.launch_floor_us;
}

}  // namespace kw
