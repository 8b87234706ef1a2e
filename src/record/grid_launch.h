// GridLaunch: how one kernel of a CUDA module is launched: grid, block, cluster, shared memory, arguments, tensor
// maps, attributes. Data only; part of KernelLaunch (launch.h), read by target/cuda, written by src/emit or a
// user's JSON. Our code builds the tensor maps and launches.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "record/expression.h"
#include "record/problem.h"

namespace kw {

enum class ArgumentKind {
  kOperand,    // pointer to the operand `name` ("a", "b", "c")
  kWorkspace,  // pointer to workspace + value bytes
  kInt32,      // value
  kInt64,      // value
  kScalar,     // the problem's scalar `name` ("alpha", "beta") as float
  kTensorMap,  // the tensor map `name`, 128 bytes by value
};

struct Argument {
  ArgumentKind kind = ArgumentKind::kInt32;
  std::string name;  // kOperand, kScalar, kTensorMap
  Expression value;  // kWorkspace, kInt32, kInt64
  bool operator==(const Argument&) const = default;
};

// One tiled view of an operand or of the workspace, 1 to 5 dimensions, innermost first. Elements out of bounds
// read as zero and are not written.
struct TensorMap {
  std::string name;
  std::string operand;  // "a", "b", "c" or "workspace"
  Dtype dtype = Dtype::kF16;
  std::vector<Expression> sizes;         // elements
  std::vector<Expression> stride_bytes;  // of dimensions 1, 2, ...: one fewer than sizes
  std::vector<Expression> box;           // elements, each 1 to 256
  int swizzle_bytes = 0;                 // 0, 32, 64 or 128
  bool operator==(const TensorMap&) const = default;
};

struct GridLaunch {
  std::array<Expression, 3> grid, block, cluster;  // "1" where nothing is said
  Expression shared_bytes;                         // dynamic shared memory
  std::vector<Argument> arguments;                 // in the kernel's order
  std::vector<TensorMap> tensor_maps;
  bool programmatic = false;  // may start before the kernel in front of it ends (griddepcontrol orders it)
  bool operator==(const GridLaunch&) const = default;
};

inline constexpr size_t kMaxArguments = 64;
inline constexpr size_t kMaxTensorMaps = 8;

// Numbers of one launch. Limits are those of compute capability 8.0 and up, refused with the limit named: grid x
// below 2^31, y and z below 2^16, block of 1 to 1024 threads, cluster of 1 to 16 blocks that divides the grid,
// shared memory up to 227 KiB, strides multiples of 16 bytes below 2^40, boxes of 1 to 256 elements.
struct TensorMapNumbers {
  std::vector<uint64_t> sizes, stride_bytes;
  std::vector<uint32_t> box;
};
struct GridNumbers {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t shared_bytes = 0;
  std::vector<int64_t> values;  // per argument: of kWorkspace, kInt32, kInt64, else 0
  std::vector<TensorMapNumbers> tensor_maps;
  bool empty = false;  // a grid dimension is 0: nothing to launch
};
[[nodiscard]] Result<GridNumbers> evaluate_grid(const GridLaunch& launch, const Variables& variables);

// Inverse of each other. Unknown fields, wrong types and names that do not exist are user errors that name the
// field; `where` is put in front.
[[nodiscard]] Json print_grid_launch(const GridLaunch& launch);
[[nodiscard]] Result<GridLaunch> parse_grid_launch(const Json& json, const std::string& where);

}  // namespace kw
