// Statistics as pure functions with hand-checkable tests. NaN in gives NaN out, never a silent pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kw {

struct Interval {
  double low = 0, high = 0;
};

[[nodiscard]] double median(std::span<const double> values);                 // empty: NaN
[[nodiscard]] double quantile(std::span<const double> values, double q);     // linear between order statistics
[[nodiscard]] double geometric_mean(std::span<const double> values);         // all > 0, else NaN

// Percentile bootstrap of the median of per-pair ratios; `resamples` draws from Random(seed).
[[nodiscard]] Interval bootstrap_median_interval(std::span<const double> ratios, double confidence, int resamples,
                                                 uint64_t seed);
// Percentile bootstrap of the geometric mean over cases.
[[nodiscard]] Interval bootstrap_geomean_interval(std::span<const double> ratios, double confidence, int resamples,
                                                  uint64_t seed);

// Two-sided p-value that the median ratio equals `null_ratio`, by sign-flip of log ratios; for Holm.
[[nodiscard]] double sign_flip_p_value(std::span<const double> ratios, double null_ratio, int resamples, uint64_t seed);

// Holm's step-down: true where the hypothesis is rejected at family-wise error `alpha`.
[[nodiscard]] std::vector<bool> holm_rejections(std::span<const double> p_values, double alpha);

// Share of samples in the slower of two modes when the sample is clearly bimodal, else 0: a kernel that is fast only
// most of the time must not look fast.
[[nodiscard]] double find_slow_mode_share(std::span<const double> values);

}  // namespace kw
