// The right CUDA kernels that cuda_mutants.cc changes. C = alpha A B + beta C, row-major f16, f32 accumulate;
// alpha 0 hides A and B, beta 0 hides C, any m, n, k and strides.
#include "selftest/cuda_mutants.h"

namespace kw {
namespace {

// f16 as its bits, so that no header is needed.
constexpr const char* kHalf = R"(
typedef unsigned short half_bits;
typedef long long wide;
static __device__ __forceinline__ float to_float(half_bits x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x));
  return value;
}
static __device__ __forceinline__ half_bits to_half(float x) {
  half_bits value;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value) : "f"(x));
  return value;
}
static __device__ __forceinline__ void store(half_bits* c, float sum, float alpha, float beta) {
  float value = alpha != 0 ? alpha * sum : 0;
  if (beta != 0) value += beta * to_float(*c);
  *c = to_half(value);
}
)";

// 256 threads, tile 64 x 64, 16 of k at a time; a thread has 4 x 4 outputs.
constexpr const char* kTiled = R"(
DECLARATIONS
extern "C" __global__ void __launch_bounds__(256)
gemm(const half_bits* a, const half_bits* b, half_bits* c, wide m, wide n, wide k, wide lda, wide ldb,
     wide ldc, float alpha, float beta, char* workspace) {
  __shared__ float a_tile[64][16];  // (rows, k)
  __shared__ float b_tile[16][64];  // (k, columns)
  const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
  const wide row0 = blockIdx.y * wide(64), col0 = blockIdx.x * wide(64);
  BEGIN
  float sum[4][4] = {};
  for (wide k0 = 0; k0 < k; k0 += 16) {
    for (int x = thread; x < 64 * 16; x += 256) {
      const wide i = row0 + x / 16, p = k0 + x % 16;
      a_tile[x / 16][x % 16] = i < m && p < k ? to_float(a[i * lda + p]) : 0;
    }
    for (int x = thread; x < 16 * 64; x += 256) {
      const wide p = k0 + x / 64, j = col0 + x % 64;
      b_tile[x / 64][x % 64] = p < k && j < n ? to_float(b[p * ldb + j]) : 0;
    }
    __syncthreads();  // tiles are written
    for (int p = 0; p < 16; ++p)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) sum[y][x] += a_tile[ty * 4 + y][p] * b_tile[p][tx * 4 + x];
    __syncthreads();  // tiles are read
  }
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) {
      const wide i = row0 + ty * 4 + y, j = col0 + tx * 4 + x;
      if (i < m && j < n) store(c + i * ldc + j, sum[y][x], alpha, beta);
    }
  END
}
)";

// 4 warps, tile 64 x 32, 16 of k at a time; a warp has 16 rows in four m16n8k16 products. Fragments as the
// PTX manual places them: group = lane / 4, pair = lane % 4.
constexpr const char* kMma = R"(
DECLARATIONS
static __device__ __forceinline__ unsigned pack(half_bits low, half_bits high) {
  return low | unsigned(high) << 16;
}
static __device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
extern "C" __global__ void __launch_bounds__(128)
gemm(const half_bits* a, const half_bits* b, half_bits* c, wide m, wide n, wide k, wide lda, wide ldb,
     wide ldc, float alpha, float beta, char* workspace) {
  __shared__ half_bits a_tile[64][16];  // (rows, k)
  __shared__ half_bits b_tile[16][32];  // (k, columns)
  const int thread = threadIdx.x, warp = thread / 32, group = thread % 32 / 4, pair = thread % 4 * 2;
  const wide row0 = blockIdx.y * wide(64), col0 = blockIdx.x * wide(32);
  BEGIN
  float sum[4][4] = {};  // (n tile of 8, fragment)
  for (wide k0 = 0; k0 < k; k0 += 16) {
    for (int x = thread; x < 64 * 16; x += 128) {
      const wide i = row0 + x / 16, p = k0 + x % 16;
      a_tile[x / 16][x % 16] = i < m && p < k ? a[i * lda + p] : 0;
    }
    for (int x = thread; x < 16 * 32; x += 128) {
      const wide p = k0 + x / 32, j = col0 + x % 32;
      b_tile[x / 32][x % 32] = p < k && j < n ? b[p * ldb + j] : 0;
    }
    __syncthreads();  // tiles are written
    const half_bits(*rows)[16] = a_tile + warp * 16 + group;
    const unsigned left[4] = {pack(rows[0][pair], rows[0][pair + 1]), pack(rows[8][pair], rows[8][pair + 1]),
                              pack(rows[0][pair + 8], rows[0][pair + 9]),
                              pack(rows[8][pair + 8], rows[8][pair + 9])};
    for (int tile = 0; tile < 4; ++tile) {
      const int j = tile * 8 + group;
      const unsigned right[2] = {pack(b_tile[pair][j], b_tile[pair + 1][j]),
                                 pack(b_tile[pair + 8][j], b_tile[pair + 9][j])};
      multiply(sum[tile], left, right);
    }
    __syncthreads();  // tiles are read
  }
  for (int tile = 0; tile < 4; ++tile)
    for (int x = 0; x < 4; ++x) {
      const wide i = row0 + warp * 16 + group + x / 2 * 8, j = col0 + tile * 8 + pair + x % 2;
      if (i < m && j < n) store(c + i * ldc + j, sum[tile][x], alpha, beta);
    }
  END
}
)";

// A block has 16 x 16 outputs of one of four parts of k; the second kernel adds the parts in order.
constexpr const char* kSplit = R"(
DECLARATIONS
extern "C" __global__ void part(const half_bits* a, const half_bits* b, half_bits* c, wide m, wide n, wide k,
                                wide lda, wide ldb, wide ldc, float alpha, float beta, char* workspace) {
  float* partial = reinterpret_cast<float*>(workspace) + blockIdx.z * m * n;  // (4, m, n)
  const wide i = blockIdx.y * wide(16) + threadIdx.x / 16, j = blockIdx.x * wide(16) + threadIdx.x % 16;
  const wide first = k * blockIdx.z / 4, last = k * (blockIdx.z + 1) / 4;
  if (i >= m || j >= n) return;
  float sum = 0;
  for (wide p = first; p < last; ++p) sum += to_float(a[i * lda + p]) * to_float(b[p * ldb + j]);
  partial[i * n + j] = sum;
}
extern "C" __global__ void join(const half_bits* a, const half_bits* b, half_bits* c, wide m, wide n, wide k,
                                wide lda, wide ldb, wide ldc, float alpha, float beta, char* workspace) {
  const float* partial = reinterpret_cast<const float*>(workspace);
  const wide at = blockIdx.x * wide(256) + threadIdx.x;
  if (at >= m * n) return;
  float sum = 0;
  for (int part = 0; part < 4; ++part) sum += partial[part * m * n + at];
  store(c + at / n * ldc + at % n, sum, alpha, beta);
}
)";

}  // namespace

CudaMutant make_cuda_tiled() {
  return {"tiled", std::string(kHalf) + kTiled, {{"gemm", "ceil_div(n, 64)", "ceil_div(m, 64)", "1", "256"}}};
}

CudaMutant make_cuda_mma() {
  return {"mma", std::string(kHalf) + kMma, {{"gemm", "ceil_div(n, 32)", "ceil_div(m, 64)", "1", "128"}}};
}

CudaMutant make_cuda_split() {
  return {"split",
          std::string(kHalf) + kSplit,
          {{"part", "ceil_div(n, 16)", "ceil_div(m, 16)", "4", "256"},
           {"join", "ceil_div(m * n, 256)", "1", "1", "256"}},
          "16 * m * n"};
}

}  // namespace kw
