// A launch bound to operands, as it travels to the worker: names became indices, expressions became numbers.
// Printed by program, read by the worker; both are the same build.
#pragma once

#include <string>
#include <vector>

#include "record/launch.h"
#include "record/workload.h"

namespace kw::cuda {

struct BoundArgument {
  Argument::Kind kind = Argument::Kind::kInt32;
  int operand = -1;      // kOperand, kTensorMap: index in the workload
  int64_t value = 0;     // kWorkspace (bytes), kInt32, kInt64
  double scalar = 0;     // kFloat32
  TensorMapNumbers map;  // kTensorMap
};

struct BoundLaunch {
  std::string kernel;
  GridNumbers grid;  // its arguments stay empty: they are `arguments`
  std::vector<BoundArgument> arguments;
};

// A user error when an argument names an operand or scalar that the workload does not have, or when a tensor
// map's inner row is longer than its swizzle or no multiple of 16 bytes.
[[nodiscard]] Result<BoundLaunch> bind_launch(const std::string& kernel, const GridNumbers& grid,
                                              const Workload& workload);
[[nodiscard]] Json print_bound_launch(const BoundLaunch& launch);
[[nodiscard]] BoundLaunch read_bound_launch(const Json& json);

}  // namespace kw::cuda
