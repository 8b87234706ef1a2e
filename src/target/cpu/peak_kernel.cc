// Loops with enough independent accumulators to hide the latency of a multiply-add. See peak_kernel.h.
#include "target/cpu/peak_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kw {
namespace {

// Latency 4 or 5 cycles times 2 units needs 8 to 10 chains; 12 also fit the 16 registers of AVX2.
constexpr int kChains = 12;

// x <- x / 2 + 1 tends to 2: the values stay normal numbers.
constexpr float kFactor = 0.5f, kAddend = 1.0f;

volatile float sink;       // keeps the arithmetic alive
volatile float start = 1;  // unknown to the compiler, which would merge chains that it can prove equal

int64_t count_rounds(double flops, int lanes) {
  return static_cast<int64_t>(flops / (2.0 * lanes * kChains)) + 1;
}

double count_flops(int64_t rounds, int lanes) { return 2.0 * lanes * kChains * static_cast<double>(rounds); }

typedef float Vector4 __attribute__((vector_size(16)));

double run_portable(double flops) {
  const int64_t rounds = count_rounds(flops, 4);
  Vector4 chain[kChains];
  for (Vector4& value : chain) value = Vector4{} + start;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = chain[i] * kFactor + kAddend;
  }
  Vector4 total = {};
  for (const Vector4& value : chain) total += value;
  sink = total[0];
  return count_flops(rounds, 4);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) double run_avx2(double flops) {
  const int64_t rounds = count_rounds(flops, 8);
  const __m256 factor = _mm256_set1_ps(kFactor), addend = _mm256_set1_ps(kAddend);
  __m256 chain[kChains];
  for (__m256& value : chain) value = _mm256_set1_ps(start);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm256_fmadd_ps(chain[i], factor, addend);
  }
  __m256 total = chain[0];
  for (int i = 1; i < kChains; ++i) total = _mm256_add_ps(total, chain[i]);
  sink = _mm256_cvtss_f32(total);
  return count_flops(rounds, 8);
}

__attribute__((target("avx512f"))) double run_avx512(double flops) {
  const int64_t rounds = count_rounds(flops, 16);
  const __m512 factor = _mm512_set1_ps(kFactor), addend = _mm512_set1_ps(kAddend);
  __m512 chain[kChains];
  for (__m512& value : chain) value = _mm512_set1_ps(start);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = _mm512_fmadd_ps(chain[i], factor, addend);
  }
  __m512 total = chain[0];
  for (int i = 1; i < kChains; ++i) total = _mm512_add_ps(total, chain[i]);
  sink = _mm512_cvtss_f32(total);
  return count_flops(rounds, 16);
}
#endif

}  // namespace

double run_multiply_adds(std::string_view isa, double flops) {
#if defined(__x86_64__)
  if (isa == "avx512") return run_avx512(flops);
  if (isa == "avx2") return run_avx2(flops);
#endif
  static_cast<void>(isa);
  return run_portable(flops);
}

float read_block(const float* block, size_t bytes) {
  constexpr size_t kStreams = 8, kStepBytes = kStreams * sizeof(Vector4);
  static_assert(kStepBytes == 128);
  const auto* at = reinterpret_cast<const Vector4*>(block);
  Vector4 sum[kStreams] = {};
  for (size_t step = 0; step < bytes / kStepBytes; ++step, at += kStreams) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kStreams; ++i) sum[i] += at[i];
  }
  Vector4 total = {};
  for (const Vector4& value : sum) total += value;
  return total[0] + total[1] + total[2] + total[3];
}

}  // namespace kw
