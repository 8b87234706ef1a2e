// Times of an H200 that the CUDA families' models share. Measured 2026-12-01 on one H200 (132 SM, driver
// 580.159, CUDA 13.0): 344 small shapes in graphs of back-to-back launches with cold operands, and probes of
// single instructions. Other GPUs: only the number of SMs is scaled.
#pragma once

#include <algorithm>
#include <cstdint>

#include "record/device.h"
#include "record/problem.h"

namespace kw {

inline constexpr double kSmClocksPerUs = 1980;
inline constexpr double kHbmBytesPerUs = 4.3e6;  // all SMs, cold
inline constexpr double kL2BytesPerUs = 20e6;    // delivered when the SMs read the same tiles
inline constexpr double kMeasuredSms = 132;
inline constexpr double kFreeBlocks = 264;  // the launch of more blocks takes kUsPerBlock each
inline constexpr double kUsPerBlock = 0.0006;

inline double get_sm_scale(const DeviceFacts& device) { return std::max(1, device.cores) / kMeasuredSms; }

// A, B and C once, through HBM.
inline double get_operand_us(const Problem& p, const DeviceFacts& device) {
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  return 2 * (m * k + k * n + m * n) / (kHbmBytesPerUs * get_sm_scale(device));
}

inline double get_launch_us(double blocks) { return std::max(0.0, blocks - kFreeBlocks) * kUsPerBlock; }

}  // namespace kw
