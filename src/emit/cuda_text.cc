// See cuda_text.h. In: names, constants, expressions as text. Out: text and launch records.
#include "emit/cuda_text.h"

#include <fmt/format.h>

#include "base/check.h"
#include "emit/device_text.h"

namespace kw {

std::string print_cuda_head(std::string_view family, Dtype dtype, Layout layout, std::string_view key,
                            const std::vector<CudaConstant>& constants) {
  std::string text = fmt::format(
      "// {} {} {}: {}\n"
      "// C = alpha * A * B + beta * C for any m, n, k, strides and scalars in the launch record's domain.\n",
      family, print_dtype(dtype), print_layout(layout), key);
  for (const CudaConstant& constant : constants) {
    const std::string value = constant.type == "bool" ? (constant.value != 0 ? "true" : "false")
                                                      : fmt::format("{}", constant.value);
    text += fmt::format("__constant__ constexpr {} {} = {};  // {}\n", constant.type, constant.name, value,
                        constant.note);
  }
  return text + "\n";
}

std::string paste_device_files(std::initializer_list<std::string_view> files) {
  std::string text;
  for (const std::string_view file : files) text += fmt::format("{}\n", get_device_text(file));
  return text;
}

Expression make_expression(const std::string& text) {
  auto expression = Expression::parse(text);
  KW_CHECK(expression, "launch expression {}: {}", text, expression.error().message);
  return *expression;
}

Argument make_operand(std::string name) { return {Argument::Kind::kOperand, std::move(name), {}, {}}; }
Argument make_int32(const std::string& text) {
  return {Argument::Kind::kInt32, "", make_expression(text), {}};
}
Argument make_int64(const std::string& text) {
  return {Argument::Kind::kInt64, "", make_expression(text), {}};
}
Argument make_scalar(std::string name) { return {Argument::Kind::kFloat32, std::move(name), {}, {}}; }

std::vector<Argument> make_gemm_arguments() {
  return {make_operand("a"), make_operand("b"),    make_operand("c"),  make_int32("m"),
          make_int32("n"),   make_int32("k"),      make_int64("lda"),  make_int64("ldb"),
          make_int64("ldc"), make_scalar("alpha"), make_scalar("beta")};
}

LaunchRecord make_cuda_record(CudaLaunch launch, Dtype dtype, Layout layout) {
  const Expression one = make_expression("1");
  GridLaunch grid;
  grid.grid = {make_expression(launch.grid_x), make_expression(launch.grid_y), one};
  grid.block = {make_expression(fmt::format("{}", launch.threads)), one, one};
  grid.cluster = {make_expression(fmt::format("{}", launch.cluster)), one, one};
  grid.shared_bytes = make_expression(fmt::format("{}", launch.shared_bytes));
  grid.arguments = std::move(launch.arguments);
  grid.programmatic = launch.pdl;
  LaunchRecord record;
  record.target = "cuda";
  record.layout = layout;
  record.contract = {dtype, Dtype::kF32, dtype};
  record.isa = std::move(launch.isa);
  record.kernels.push_back({std::move(launch.name), {}, std::move(grid)});
  record.domain = std::move(launch.domain);
  return record;
}

}  // namespace kw
