#include "schedule/cuda_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kw {

int get_sm_version(std::string_view isa) {
  if (!isa.starts_with("sm_")) return 0;
  isa.remove_prefix(3);
  if (isa.ends_with('a')) isa.remove_suffix(1);
  int version = 0;
  const auto [end, error] = std::from_chars(isa.data(), isa.data() + isa.size(), version);
  return error == std::errc() && end == isa.data() + isa.size() && version > 0 ? version : 0;
}

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
int64_t get_block_shared_bytes(int sm) {
  return get_sm_shared_bytes(sm) - (sm >= 80 ? kReservedSharedBytes : 0);
}

int64_t get_sm_shared_bytes(int sm) {
  const bool large = sm >= 90 && sm < 120;
  const bool small = sm == 86 || sm == 89 || sm >= 120;
  return int64_t{large ? 228 : small ? 100 : sm >= 80 ? 164 : 48} << 10;
}

int get_register_limit(int threads) {
  return std::min(kMaxThreadRegisters, kSmRegisters / std::max(threads, 1) / 8 * 8);
}

std::optional<std::string> find_cuda_gemm_refusal(const CudaFamilyNeeds& family, const Problem& problem,
                                                  const DeviceFacts& device) {
  if (problem.op != "gemm") return fmt::format("{} computes gemm, not {}", family.name, problem.op);
  if (get_sm_version(device.isa) < family.least_sm)
    return fmt::format("{} needs a GPU of sm_{} or newer; this device has {}", family.name, family.least_sm,
                       device.isa);
  if (problem.dtype != Dtype::kF16 && problem.dtype != Dtype::kBf16)
    return fmt::format("{} computes f16 and bf16, not {}", family.name, print_dtype(problem.dtype));
  if (problem.layout != Layout::kNN && problem.layout != Layout::kNT)
    return fmt::format("{} reads A as stored (m, k): layouts nn and nt, not {}", family.name,
                       print_layout(problem.layout));
  if (const int64_t size = std::max({problem.m, problem.n, problem.k}); size > kMaxCudaSize)
    return fmt::format("{} takes sizes of at most {}, not {}", family.name, kMaxCudaSize, size);
  if (const int64_t stride = std::max({problem.lda, problem.ldb, problem.ldc}); stride > kMaxCudaStride)
    return fmt::format("{} takes strides of at most {}, not {}", family.name, kMaxCudaStride, stride);
  if (const int64_t most = kMaxGridY * family.tallest_tile; problem.m > most)
    return fmt::format("{} takes at most {} rows of C, not {}", family.name, most, problem.m);
  return std::nullopt;
}

}  // namespace kw
