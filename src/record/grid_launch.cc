#include "record/grid_launch.h"

#include <fmt/format.h>

#include <algorithm>

namespace kw {
namespace {

using Kind = Argument::Kind;

constexpr std::pair<Kind, const char*> kKinds[] = {
    {Kind::kOperand, "operand"}, {Kind::kWorkspace, "workspace"}, {Kind::kInt32, "int32"},
    {Kind::kInt64, "int64"},     {Kind::kFloat32, "float32"},     {Kind::kTensorMap, "tensor_map"}};

constexpr int64_t kMaxGridX = INT32_MAX, kMaxGridYz = 65535;
constexpr int64_t kMaxMapSize = int64_t{1} << 32, kMaxMapStride = int64_t{1} << 40, kMaxBox = 256;
constexpr size_t kMaxMapDimensions = 5;
constexpr int64_t kMapStrideUnit = 16, kWorkspaceUnit = 16;

const char* name_kind(Kind kind) {
  return std::find_if(std::begin(kKinds), std::end(kKinds),
                      [&](const auto& known) { return known.first == kind; })
      ->second;
}

Json print_list(const std::vector<Expression>& list) {
  Json json = Json::array();
  for (const Expression& one : list) json.push_back(one.text());
  return json;
}

Json print_map(const TensorMap& map) {
  return {{"operand", map.operand},
          {"sizes", print_list(map.sizes)},
          {"stride_bytes", print_list(map.stride_bytes)},
          {"box", map.box},
          {"swizzle_bytes", map.swizzle_bytes}};
}

Json print_argument(const Argument& argument) {
  const char* kind = name_kind(argument.kind);
  switch (argument.kind) {
    case Kind::kOperand:
    case Kind::kFloat32:
      return {{kind, argument.name}};
    case Kind::kTensorMap:
      return {{kind, print_map(argument.map)}};
    default:
      return {{kind, argument.value.text()}};
  }
}

Json print_three(const std::array<Expression, 3>& three) {
  return {three[0].text(), three[1].text(), three[2].text()};
}

Result<Expression> parse_expression(const Json& json, const std::string& where) {
  if (json.is_number_integer()) return Expression::parse(json.dump());
  if (!json.is_string())
    return fail_user("{}: a number or an expression is needed, not {}", where, print_json(json));
  auto parsed = Expression::parse(json.get<std::string>());
  if (!parsed) return with_context(parsed.error(), where);
  return parsed;
}

Result<std::vector<Expression>> take_list(JsonFields& fields, const char* name) {
  KW_TRY(const Json* json, fields.get(name));
  const std::string where = fmt::format("{}: field \"{}\"", fields.where(), name);
  if (!json->is_array() || json->size() > kMaxMapDimensions)
    return fail_user("{} must be a list of at most {} expressions", where, kMaxMapDimensions);
  std::vector<Expression> list;
  for (const Json& one : *json) {
    KW_TRY(Expression parsed, parse_expression(one, where));
    list.push_back(std::move(parsed));
  }
  return list;
}

// One to three expressions for x, y, z; those left out are 1.
Result<std::array<Expression, 3>> take_three(JsonFields& fields, const char* name, bool must_be_there) {
  KW_TRY(const Expression one, Expression::parse("1"));
  std::array<Expression, 3> three = {one, one, one};
  if (!must_be_there && fields.find(name) == nullptr) return three;
  KW_TRY(const std::vector<Expression> list, take_list(fields, name));
  if (list.empty() || list.size() > three.size())
    return fail_user("{}: field \"{}\" needs 1 to 3 expressions, not {}", fields.where(), name, list.size());
  std::copy(list.begin(), list.end(), three.begin());
  return three;
}

Result<TensorMap> parse_map(const Json& json, const std::string& where) {
  JsonFields fields(json, where + ".tensor_map");
  KW_TRY_VOID(fields.check_object());
  TensorMap map;
  KW_TRY(map.operand, fields.text("operand"));
  KW_TRY(map.sizes, take_list(fields, "sizes"));
  KW_TRY(map.stride_bytes, take_list(fields, "stride_bytes"));
  KW_TRY(map.box, fields.integers("box"));
  KW_TRY(map.swizzle_bytes, fields.integer("swizzle_bytes", 0));
  KW_TRY_VOID(fields.check_nothing_left());
  if (map.sizes.empty() || map.stride_bytes.size() + 1 != map.sizes.size() ||
      map.box.size() != map.sizes.size())
    return fail_user("{}: {} sizes, {} strides, {} box edges; n sizes need n - 1 strides and n edges",
                     fields.where(), map.sizes.size(), map.stride_bytes.size(), map.box.size());
  for (const int64_t edge : map.box)
    if (edge < 1 || edge > kMaxBox)
      return fail_user("{}: box edge {}; allowed are 1 to {}", fields.where(), edge, kMaxBox);
  const int64_t swizzle = map.swizzle_bytes;
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return fail_user("{}: swizzle_bytes {}; allowed are 0, 32, 64, 128", fields.where(), swizzle);
  return map;
}

Result<Argument> parse_argument(const Json& json, const std::string& where) {
  if (!json.is_object() || json.size() != 1)
    return fail_user("{}: an object with one field is needed, such as {{\"operand\":\"a\"}}", where);
  const std::string& key = json.begin().key();
  const auto known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const auto& kind) { return key == kind.second; });
  if (known == std::end(kKinds))
    return fail_user(
        "{}: \"{}\" is no kind of argument; use operand, workspace, int32, int64, float32 or "
        "tensor_map",
        where, key);
  JsonFields fields(json, where);
  Argument argument;
  argument.kind = known->first;
  if (argument.kind == Kind::kOperand || argument.kind == Kind::kFloat32) {
    KW_TRY(argument.name, fields.text(known->second));
  } else if (argument.kind == Kind::kTensorMap) {
    KW_TRY(argument.map, parse_map(*json.begin(), where));
  } else {
    KW_TRY(argument.value, take_expression(fields, known->second, nullptr));
  }
  return argument;
}

Result<std::array<int64_t, 3>> evaluate_three(const std::array<Expression, 3>& three,
                                              const Variables& variables, const char* what, int64_t least,
                                              std::array<int64_t, 3> most) {
  std::array<int64_t, 3> values = {};
  for (size_t at = 0; at < three.size(); ++at) {
    KW_TRY(values[at], evaluate_within(three[at], variables, what, least, most[at]));
  }
  return values;
}

Result<TensorMapNumbers> evaluate_map(const TensorMap& map, const Variables& variables) {
  TensorMapNumbers numbers{map.operand, {}, {}, map.box, map.swizzle_bytes};
  for (const Expression& size : map.sizes) {
    KW_TRY(const int64_t value, evaluate_within(size, variables, "tensor map size", 1, kMaxMapSize));
    numbers.sizes.push_back(value);
  }
  for (const Expression& stride : map.stride_bytes) {
    KW_TRY(const int64_t value,
           evaluate_within(stride, variables, "tensor map stride", kMapStrideUnit, kMaxMapStride - 1));
    if (value % kMapStrideUnit != 0)
      return fail_user("tensor map stride = {} gives {}, which is no multiple of {} bytes", stride.text(),
                       value, kMapStrideUnit);
    numbers.stride_bytes.push_back(value);
  }
  return numbers;
}

Result<ArgumentNumbers> evaluate_argument(const Argument& argument, const Variables& variables,
                                          int64_t workspace_bytes) {
  ArgumentNumbers numbers{argument.kind, argument.name, 0, {}};
  switch (argument.kind) {
    case Kind::kInt32: {
      KW_TRY(numbers.value, evaluate_within(argument.value, variables, "int32", INT32_MIN, INT32_MAX));
      break;
    }
    case Kind::kInt64: {
      KW_TRY(numbers.value, argument.value.evaluate(variables));
      break;
    }
    case Kind::kWorkspace: {
      KW_TRY(numbers.value, evaluate_within(argument.value, variables, "workspace offset", 0,
                                            std::max<int64_t>(workspace_bytes - 1, 0)));
      if (numbers.value % kWorkspaceUnit != 0)
        return fail_user("workspace offset = {} gives {}, which is no multiple of {}", argument.value.text(),
                         numbers.value, kWorkspaceUnit);
      break;
    }
    case Kind::kTensorMap: {
      KW_TRY(numbers.map, evaluate_map(argument.map, variables));
      break;
    }
    default:
      break;
  }
  return numbers;
}

}  // namespace

Result<Expression> take_expression(JsonFields& fields, const char* name, const char* absent) {
  const Json* value = fields.find(name);
  if (value == nullptr && absent != nullptr) return Expression::parse(absent);
  if (value == nullptr) return fail_user("{}: field \"{}\" is missing", fields.where(), name);
  return parse_expression(*value, fmt::format("{}: field \"{}\"", fields.where(), name));
}

void print_grid(const GridLaunch& launch, Json& kernel) {
  kernel["grid"] = print_three(launch.grid);
  kernel["block"] = print_three(launch.block);
  kernel["cluster"] = print_three(launch.cluster);
  kernel["shared_bytes"] = launch.shared_bytes.text();
  kernel["arguments"] = Json::array();
  for (const Argument& argument : launch.arguments) kernel["arguments"].push_back(print_argument(argument));
  kernel["programmatic"] = launch.programmatic;
  kernel["carveout_percent"] = launch.carveout_percent;
}

Result<GridLaunch> parse_grid(JsonFields& kernel) {
  GridLaunch launch;
  KW_TRY(launch.grid, take_three(kernel, "grid", true));
  KW_TRY(launch.block, take_three(kernel, "block", true));
  KW_TRY(launch.cluster, take_three(kernel, "cluster", false));
  KW_TRY(launch.shared_bytes, take_expression(kernel, "shared_bytes", "0"));
  KW_TRY(const Json* arguments, kernel.get("arguments"));
  if (!arguments->is_array() || arguments->size() > kMaxArguments)
    return fail_user("{}: field \"arguments\" must be a list of at most {}", kernel.where(), kMaxArguments);
  for (size_t at = 0; at < arguments->size(); ++at) {
    KW_TRY(Argument argument,
           parse_argument((*arguments)[at], fmt::format("{}.arguments[{}]", kernel.where(), at)));
    launch.arguments.push_back(std::move(argument));
  }
  if (kernel.find("programmatic") != nullptr) {
    KW_TRY(launch.programmatic, kernel.boolean("programmatic"));
  }
  KW_TRY(launch.carveout_percent, kernel.integer("carveout_percent", -1));
  if (launch.carveout_percent < -1 || launch.carveout_percent > 100)
    return fail_user("{}: carveout_percent {}; allowed are -1 (the driver's choice) to 100", kernel.where(),
                     launch.carveout_percent);
  return launch;
}

Result<GridNumbers> evaluate_grid(const GridLaunch& launch, const Variables& variables,
                                  int64_t workspace_bytes) {
  GridNumbers numbers;
  numbers.programmatic = launch.programmatic;
  numbers.carveout_percent = launch.carveout_percent;
  KW_TRY(numbers.grid,
         evaluate_three(launch.grid, variables, "grid", 0, {kMaxGridX, kMaxGridYz, kMaxGridYz}));
  KW_TRY(numbers.block,
         evaluate_three(launch.block, variables, "block", 1, {kMaxBlockThreads, kMaxBlockThreads, 64}));
  KW_TRY(numbers.cluster, evaluate_three(launch.cluster, variables, "cluster", 1,
                                         {kMaxClusterBlocks, kMaxClusterBlocks, kMaxClusterBlocks}));
  const auto product = [](const std::array<int64_t, 3>& three) { return three[0] * three[1] * three[2]; };
  if (product(numbers.block) > kMaxBlockThreads)
    return fail_user("block {} x {} x {} has more than {} threads", numbers.block[0], numbers.block[1],
                     numbers.block[2], kMaxBlockThreads);
  if (product(numbers.cluster) > kMaxClusterBlocks)
    return fail_user("cluster {} x {} x {} has more than {} blocks", numbers.cluster[0], numbers.cluster[1],
                     numbers.cluster[2], kMaxClusterBlocks);
  for (size_t at = 0; at < numbers.grid.size(); ++at)
    if (numbers.grid[at] % numbers.cluster[at] != 0)
      return fail_user("grid edge {} is no multiple of the cluster's {}", numbers.grid[at],
                       numbers.cluster[at]);
  KW_TRY(numbers.shared_bytes,
         evaluate_within(launch.shared_bytes, variables, "shared_bytes", 0, kMaxSharedBytes));
  if (numbers.is_empty()) return numbers;  // nothing is launched: sizes of 0 need no tensor map
  for (const Argument& argument : launch.arguments) {
    KW_TRY(ArgumentNumbers one, evaluate_argument(argument, variables, workspace_bytes));
    numbers.arguments.push_back(std::move(one));
  }
  return numbers;
}

}  // namespace kw
