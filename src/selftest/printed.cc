#include "selftest/printed.h"

#include <utility>

#include "base/check.h"
#include "emit/device_text.h"
#include "emit/gemm_cpu.h"

namespace kw {

Problem make_printed_problem(Layout layout) {
  Problem problem;
  problem.layout = layout;
  problem.m = 150, problem.n = 200, problem.k = 600;
  return with_tight_strides(problem);
}

DeviceFacts make_printed_device(bool avx512) {
  DeviceFacts device;
  device.target = "cpu";
  device.isa = avx512 ? "avx512" : "avx2";
  device.cores = device.threads = 2;
  device.l1d_bytes = 32 << 10;
  device.l2_bytes = 1 << 20;
  device.l3_bytes = 16 << 20;
  return device;
}

CorpusKernel make_printed_kernel(std::string name, std::string_view key, Layout layout) {
  const auto schedule = parse_gemm_cpu(key);
  KW_CHECK(schedule, "{}: {}", name, schedule.error().message);
  const auto reason = find_gemm_cpu_illegality(*schedule, make_printed_problem(layout),
                                               make_printed_device(schedule->avx512));
  KW_CHECK(!reason, "{}: {}: {}", name, key, *reason);
  Source source = print_gemm_cpu_kernel(*schedule, layout);
  const std::string_view abi = get_device_text("cpu_abi.h");  // stands in front of every free-form text too
  const size_t at = source.text.find(abi);
  KW_CHECK(at != std::string::npos, "{}: no ABI in the printed text", name);
  CorpusKernel kernel;
  kernel.name = std::move(name);
  kernel.layout = layout;
  kernel.text = std::move(source.text.erase(at, abi.size()));
  kernel.launch = std::move(source.launch);
  return kernel;
}

}  // namespace kw
