// What the printers of CUDA families share: the head of a text, constants, pasted device files, and the parts
// of a GEMM's launch record. Used by the families' printers; knows no schedule.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "record/candidate.h"

namespace kw {

struct CudaConstant {
  std::string_view type;  // "int", "bool"
  std::string_view name;
  int64_t value = 0;
  std::string_view note;  // "steps of k in a stage"
};

// "// gemm_direct f16 nt: KEY", what is computed, then the constants that the device files read.
[[nodiscard]] std::string print_cuda_head(std::string_view family, Dtype dtype, Layout layout,
                                          std::string_view key, const std::vector<CudaConstant>& constants);

[[nodiscard]] std::string paste_device_files(std::initializer_list<std::string_view> files);

// An expression of ours; a mistake in it is one of the program.
[[nodiscard]] Expression make_expression(const std::string& text);

[[nodiscard]] Argument make_operand(std::string name);
[[nodiscard]] Argument make_int32(const std::string& text);
[[nodiscard]] Argument make_int64(const std::string& text);
[[nodiscard]] Argument make_scalar(std::string name);  // float

// a, b, c, m, n, k, lda, ldb, ldc, alpha, beta.
[[nodiscard]] std::vector<Argument> make_gemm_arguments();

struct CudaLaunch {
  std::string name;  // of the kernel
  std::string isa;   // "sm_80"
  std::string grid_x, grid_y;
  int64_t threads = 0, cluster = 1, shared_bytes = 0;
  bool pdl = false;
  std::vector<Argument> arguments;
  std::vector<DomainRule> domain;
};
// Float sums, one kernel, no workspace, repeatable.
[[nodiscard]] LaunchRecord make_cuda_record(CudaLaunch launch, Dtype dtype, Layout layout);

}  // namespace kw
