// What a GPU generation allows, and which GEMM problems the CUDA families take at all. In: an instruction set
// as device facts name it ("sm_90a"), a problem. Used by the CUDA families' legality and by emit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "record/device.h"
#include "record/problem.h"

namespace kw {

// "sm_90a" -> 90; 0 for what is no CUDA instruction set.
[[nodiscard]] int get_sm_version(std::string_view isa);

// Shared memory that one block may use.
[[nodiscard]] int64_t get_block_shared_bytes(int sm);
// Shared memory of one multiprocessor, of which each block also takes kReservedSharedBytes.
[[nodiscard]] int64_t get_sm_shared_bytes(int sm);
inline constexpr int64_t kReservedSharedBytes = 1 << 10;

inline constexpr int kSmRegisters = 64 << 10;
inline constexpr int kMaxThreadRegisters = 255;
// Registers a thread may use so that a block of that many threads can start.
[[nodiscard]] int get_register_limit(int threads);

// Sizes and strides that fit the kernels' 32-bit coordinates and tensor maps.
inline constexpr int64_t kMaxCudaSize = int64_t{1} << 29;
inline constexpr int64_t kMaxCudaStride = int64_t{1} << 38;
inline constexpr int64_t kMaxGridY = 65535;

struct CudaFamilyNeeds {
  std::string_view name;
  int least_sm = 80;
  int tallest_tile = 128;  // rows of C; the grid's second edge counts tiles
};
// Empty when the family can compute the problem on the device, else why not.
[[nodiscard]] std::optional<std::string> find_cuda_gemm_refusal(const CudaFamilyNeeds& family,
                                                                const Problem& problem,
                                                                const DeviceFacts& device);

}  // namespace kw
