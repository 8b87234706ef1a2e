#include "selftest/timed_kernels.h"

#include <fmt/format.h>

namespace kw {
namespace {

constexpr const char* kChain = R"(
static float run_chain(const kw_call* call, long long length) {
  const float* a = static_cast<const float*>(call->operand[0]);
  const float scale = 0.5f + a[0] * 1e-30f, step = 1 + a[1] * 1e-30f;  // the compiler knows neither
  float value = 1;
  for (long long i = 0; i < length; ++i) value = value * scale + step;
  return value;
}
)";

CorpusKernel make_timed(std::string name, const std::string& body) {
  CorpusKernel kernel;
  kernel.name = std::move(name);
  kernel.items = "1";
  kernel.text = kChain + ("extern \"C\" void gemm(long long, const kw_call* call) {\n"
                          "  float* c = static_cast<float*>(call->operand[2]);\n" +
                          body + "}\n");
  return kernel;
}

CorpusKernel make_counting(std::string name, const std::string& length_of_call) {
  CorpusKernel kernel = make_timed(std::move(name), fmt::format(R"(
  unsigned* count = reinterpret_cast<unsigned*>(call->workspace);
  const unsigned at = (*count)++;
  c[0] = run_chain(call, {});
)",
                                                                length_of_call));
  kernel.workspace_bytes = "64";
  return kernel;
}

}  // namespace

CorpusKernel make_chain(int64_t length) {
  return make_timed(fmt::format("chain_{}", length), fmt::format("  c[0] = run_chain(call, {});\n", length));
}

Result<CorpusKernel> make_cuda_chain(int64_t length) {
  CorpusKernel kernel;
  kernel.name = fmt::format("cuda_chain_{}", length);
  kernel.text = fmt::format(R"(
extern "C" __global__ void gemm(const unsigned short* a, unsigned short* c) {{
  const float scale = 0.5f + a[0] * 1e-30f, step = 1 + a[1] * 1e-30f;  // the compiler knows neither
  float value = 1;
#pragma unroll 1
  for (int i = 0; i < {}; ++i) value = value * scale + step;
  c[0] = static_cast<unsigned short>(value);
}}
)",
                            length);
  GridLaunch grid;
  KW_TRY(const Expression one, Expression::parse("1"));
  grid.grid = grid.block = grid.cluster = {one, one, one};
  for (const char* name : {"a", "c"}) grid.arguments.push_back({Argument::Kind::kOperand, name, {}, {}});
  LaunchRecord launch;
  launch.target = "cuda";
  launch.isa = "sm_80";
  launch.contract = {Dtype::kF16, Dtype::kF32, Dtype::kF16};
  launch.kernels.push_back({.name = "gemm", .items = {}, .grid = std::move(grid)});
  kernel.launch = std::move(launch);
  return kernel;
}

CorpusKernel make_slow_stretches(int64_t length) {
  return make_counting("slow_stretches", fmt::format("at % 8192 < 2048 ? {} : {}", 2 * length, length));
}

CorpusKernel make_slow_tenth_call(int64_t length) {
  return make_counting("slow_tenth_call", fmt::format("at % 10 == 9 ? {} : {}", 11 * length, length));
}

CorpusKernel make_line_reader() {
  return make_timed("line_reader", R"(
  const long long m = call->size[0], lda = call->size[3];
  const float* a = static_cast<const float*>(call->operand[0]);
  const long long lines = m * lda / 16;  // a power of two
  float sum[4] = {0, 0, 0, 0};
  for (long long i = 0, line = 0; i + 4 <= lines; i += 4)
    for (int j = 0; j < 4; ++j) {
      sum[j] += a[line * 16];
      line = (line + 1031) & (lines - 1);
    }
  c[0] = sum[0] + sum[1] + sum[2] + sum[3];
)");
}

CorpusKernel make_noop() { return make_timed("noop", "  (void)c, (void)call;\n"); }

}  // namespace kw
