#include "target/cuda/launch_text.h"

#include <algorithm>

namespace kw::cuda {
namespace {

constexpr const char* kScalarNames[] = {"alpha", "beta"};  // order of Workload::scalars

Result<int> find_operand(const std::string& name, const Workload& workload) {
  for (size_t at = 0; at < workload.operands.size(); ++at)
    if (workload.operands[at].name == name) return static_cast<int>(at);
  return fail_user("argument: no operand is called \"{}\"", name);
}

Result<double> find_scalar(const std::string& name, const Workload& workload) {
  for (size_t at = 0; at < std::min(std::size(kScalarNames), workload.scalars.size()); ++at)
    if (name == kScalarNames[at]) return workload.scalars[at];
  return fail_user("argument: no scalar is called \"{}\"; known are alpha, beta", name);
}

Status check_map(const TensorMapNumbers& map, Dtype dtype) {
  const int64_t row_bytes = map.box.front() * dtype_bytes(dtype);
  if (row_bytes % 16 != 0)
    return fail_user("tensor map of {}: the box's inner row has {} bytes, no multiple of 16", map.operand,
                     row_bytes);
  if (map.swizzle_bytes > 0 && row_bytes > map.swizzle_bytes)
    return fail_user("tensor map of {}: the box's inner row has {} bytes, more than the swizzle's {}",
                     map.operand, row_bytes, map.swizzle_bytes);
  return {};
}

std::array<int64_t, 3> read_three(const Json& json) { return {json[0], json[1], json[2]}; }

}  // namespace

Result<BoundLaunch> bind_launch(const std::string& kernel, const GridNumbers& grid,
                                const Workload& workload) {
  BoundLaunch launch{kernel, grid, {}};
  launch.grid.arguments.clear();
  for (const ArgumentNumbers& argument : grid.arguments) {
    BoundArgument bound;
    bound.kind = argument.kind;
    bound.value = argument.value;
    bound.map = argument.map;
    if (argument.kind == Argument::Kind::kOperand) {
      KW_TRY(bound.operand, find_operand(argument.name, workload));
    } else if (argument.kind == Argument::Kind::kTensorMap) {
      KW_TRY(bound.operand, find_operand(argument.map.operand, workload));
      KW_TRY_VOID(check_map(bound.map, workload.operands[static_cast<size_t>(bound.operand)].dtype));
    } else if (argument.kind == Argument::Kind::kFloat32) {
      KW_TRY(bound.scalar, find_scalar(argument.name, workload));
    }
    launch.arguments.push_back(std::move(bound));
  }
  return launch;
}

Json print_bound_launch(const BoundLaunch& launch) {
  Json arguments = Json::array();
  for (const BoundArgument& argument : launch.arguments)
    arguments.push_back({{"kind", static_cast<int>(argument.kind)},
                         {"operand", argument.operand},
                         {"value", argument.value},
                         {"scalar", argument.scalar},
                         {"sizes", argument.map.sizes},
                         {"stride_bytes", argument.map.stride_bytes},
                         {"box", argument.map.box},
                         {"swizzle_bytes", argument.map.swizzle_bytes}});
  return {{"kernel", launch.kernel},
          {"grid", launch.grid.grid},
          {"block", launch.grid.block},
          {"cluster", launch.grid.cluster},
          {"shared_bytes", launch.grid.shared_bytes},
          {"programmatic", launch.grid.programmatic},
          {"carveout_percent", launch.grid.carveout_percent},
          {"arguments", std::move(arguments)}};
}

BoundLaunch read_bound_launch(const Json& json) {
  BoundLaunch launch;
  launch.kernel = json["kernel"];
  launch.grid.grid = read_three(json["grid"]);
  launch.grid.block = read_three(json["block"]);
  launch.grid.cluster = read_three(json["cluster"]);
  launch.grid.shared_bytes = json["shared_bytes"];
  launch.grid.programmatic = json["programmatic"];
  launch.grid.carveout_percent = json["carveout_percent"];
  for (const Json& one : json["arguments"]) {
    BoundArgument argument;
    argument.kind = static_cast<Argument::Kind>(one["kind"].get<int>());
    argument.operand = one["operand"];
    argument.value = one["value"];
    argument.scalar = one["scalar"];
    argument.map.sizes = one["sizes"].get<std::vector<int64_t>>();
    argument.map.stride_bytes = one["stride_bytes"].get<std::vector<int64_t>>();
    argument.map.box = one["box"].get<std::vector<int64_t>>();
    argument.map.swizzle_bytes = one["swizzle_bytes"];
    launch.arguments.push_back(std::move(argument));
  }
  return launch;
}

}  // namespace kw::cuda
