// Kernels for tests: C++ text compiled with the host compiler as candidates are, and a plain gemm workload
// for them. Included by *_test.cc files of target only.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "target/device.h"

namespace kw {

// Object bytes of a freestanding C++ text with the ABI header in front; fails the test when it does not
// compile.
inline std::string compile_kernels(const std::string& text, std::vector<std::string> more_flags = {}) {
  const fs::path root = fs::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  const auto abi = read_file(root / "device/cpu_abi.h");
  const auto folder = TempFolder::make();
  if (!abi || !folder) {
    ADD_FAILURE() << "cannot prepare the compilation";
    return {};
  }
  const fs::path source = folder->path() / "kernel.cc", object = folder->path() / "kernel.o";
  Command command;
  command.argv = {"g++",
                  "-x",
                  "c++",
                  "-std=c++20",
                  "-O2",
                  "-fPIC",
                  "-ffreestanding",
                  "-fno-exceptions",
                  "-fno-rtti",
                  "-fno-asynchronous-unwind-tables",
                  "-fno-stack-protector",
                  "-fvisibility=hidden",
                  "-nostdinc++",
                  "-c",
                  source.string(),
                  "-o",
                  object.string()};
  command.argv.insert(command.argv.end(), more_flags.begin(), more_flags.end());
  EXPECT_TRUE(write_file_atomically(source, *abi + text).has_value());
  const auto outcome = run_command(command);
  EXPECT_TRUE(outcome && outcome->ok()) << (outcome ? outcome->errors : outcome.error().message);
  const auto bytes = read_file(object);
  return bytes ? *bytes : std::string();
}

inline Binary make_binary(std::string object, const std::string& kernel, const std::string& items = "m",
                          const std::string& workspace_bytes = "0", const std::string& scratch_bytes = "0") {
  Binary binary;
  binary.hash = "hash of " + kernel;
  binary.object = std::move(object);
  binary.launch.isa = "none";
  binary.launch.kernels = {{kernel, *Expression::parse(items)}};
  binary.launch.workspace_bytes = *Expression::parse(workspace_bytes);
  binary.launch.scratch_bytes = *Expression::parse(scratch_bytes);
  return binary;
}

// C = A * B in f32, NN, with leading dimensions `pad` beyond the tight ones.
inline Workload make_gemm(int64_t m, int64_t n, int64_t k, int64_t pad = 0) {
  Workload workload;
  Problem& problem = workload.problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem = with_tight_strides(problem);
  problem.lda += pad;
  problem.ldb += pad;
  problem.ldc += pad;
  workload.operands = {{"a", Dtype::kF32, m, k, problem.lda, Access::kIn},
                       {"b", Dtype::kF32, k, n, problem.ldb, Access::kIn},
                       {"c", Dtype::kF32, m, n, problem.ldc, Access::kOut}};
  workload.size_names = {"m", "n", "k", "lda", "ldb", "ldc"};
  workload.sizes = {m, n, k, problem.lda, problem.ldb, problem.ldc};
  workload.scalars = {1, 0};
  workload.flops = 2.0 * static_cast<double>(m * n * k);
  workload.bytes = 4.0 * static_cast<double>(m * k + k * n + m * n);
  return workload;
}

// Small whole numbers in A and B of every set, so that sums are exact.
inline void fill_inputs(Buffers& buffers) {
  for (int set = 0; set < buffers.sets(); ++set)
    for (int operand = 0; operand < 2; ++operand) {
      const auto bytes = buffers.contents(set, operand);
      for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
        const auto value =
            static_cast<float>(static_cast<int>((i * 7 + static_cast<size_t>(set + operand)) % 9) - 4);
        std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof value);
      }
    }
  buffers.fill_guards(1);
}

// Elements of C that differ from A * B computed here; each set has its own inputs.
inline int64_t count_wrong(Buffers& buffers, int set) {
  const Problem& p = buffers.workload().problem;
  const auto at = [&](int operand, int64_t index) {
    float value;
    std::memcpy(&value, buffers.contents(set, operand).data() + static_cast<size_t>(index) * sizeof value,
                sizeof value);
    return value;
  };
  int64_t wrong = 0;
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < p.k; ++l) sum += at(0, i * p.lda + l) * at(1, l * p.ldb + j);
      const bool right = at(2, i * p.ldc + j) == sum;
      wrong += !right;
    }
  return wrong;
}

}  // namespace kw
