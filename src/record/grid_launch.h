// GridLaunch: how a GPU kernel of a launch record is started, as data: grid, block, cluster, shared memory,
// arguments and tensor maps are arithmetic over a workload's sizes. Our own worker builds the maps and
// launches (target/cuda); parse and print are inverse.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/expression.h"
#include "record/json_fields.h"
#include "record/workload.h"

namespace kw {

// A tiled tensor map over one operand (cuTensorMapEncodeTiled). What lies outside the sizes reads as zero and
// is not written.
struct TensorMap {
  std::string operand;                   // "a"
  std::vector<Expression> sizes;         // elements, innermost first; 1 to 5 dimensions
  std::vector<Expression> stride_bytes;  // of the second dimension and on; multiples of 16
  std::vector<int64_t> box;              // elements per dimension, 1 to 256
  int64_t swizzle_bytes = 0;             // 0, 32, 64 or 128; not less than the box's inner row
  bool operator==(const TensorMap&) const = default;
};

// One parameter of a kernel.
struct Argument {
  enum class Kind {
    kOperand,    // address of operand `name`
    kWorkspace,  // address of the workspace + `value` bytes
    kInt32,      // `value`
    kInt64,      // `value`
    kFloat32,    // scalar `name`: "alpha", "beta"
    kTensorMap,  // `map`, 128 bytes by value (__grid_constant__)
  };
  Kind kind = Kind::kInt32;
  std::string name;
  Expression value;
  TensorMap map;
  bool operator==(const Argument&) const = default;
};

struct GridLaunch {
  std::array<Expression, 3> grid, block, cluster;  // x y z
  Expression shared_bytes;                         // dynamic
  std::vector<Argument> arguments;
  // May start before the launch ahead of it in the stream has ended (programmatic dependent launch).
  bool programmatic = false;
  int64_t carveout_percent = -1;  // preferred shared-memory share of the L1; -1 = the driver's choice
  bool operator==(const GridLaunch&) const = default;
};

inline constexpr int64_t kMaxBlockThreads = 1024, kMaxClusterBlocks = 16, kMaxSharedBytes = 227 << 10;
inline constexpr size_t kMaxArguments = 32, kMaxParameterBytes = 4000;

// One launch in numbers.
struct TensorMapNumbers {
  std::string operand;
  std::vector<int64_t> sizes, stride_bytes, box;
  int64_t swizzle_bytes = 0;
};
struct ArgumentNumbers {
  Argument::Kind kind = Argument::Kind::kInt32;
  std::string name;
  int64_t value = 0;
  TensorMapNumbers map;
};
struct GridNumbers {
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  int64_t shared_bytes = 0;
  std::vector<ArgumentNumbers> arguments;
  bool programmatic = false;
  int64_t carveout_percent = -1;
  bool is_empty() const { return grid[0] * grid[1] * grid[2] == 0; }  // nothing to launch
};

// "ceil_div(n,64)" as a text, or a number; `absent` stands in for a missing field (null = must be there).
[[nodiscard]] Result<Expression> take_expression(JsonFields& fields, const char* name, const char* absent);

// Adds the launch's fields to a kernel's JSON; reads them from there.
void print_grid(const GridLaunch& launch, Json& kernel);
[[nodiscard]] Result<GridLaunch> parse_grid(JsonFields& kernel);

// Refuses what no GPU starts (grid, block, cluster, shared memory) or no tensor map holds (sizes, strides,
// boxes), and workspace addresses outside [0, workspace_bytes).
[[nodiscard]] Result<GridNumbers> evaluate_grid(const GridLaunch& launch, const Variables& variables,
                                                int64_t workspace_bytes);

}  // namespace kw
