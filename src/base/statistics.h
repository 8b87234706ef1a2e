// Statistics as pure functions with hand-checkable tests. NaN in gives NaN out, never a silent pass.
// Used by measure (pair ratios), ship (summaries over cases) and learn. Knows nothing of kernels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kw {

struct Interval {
  double low = 0, high = 0;
};

[[nodiscard]] double mean(std::span<const double> values);                // empty: NaN
[[nodiscard]] double median(std::span<const double> values);              // empty: NaN
[[nodiscard]] double quantile(std::span<const double> values, double q);  // linear between order statistics
[[nodiscard]] double geometric_mean(std::span<const double> values);      // all > 0, else NaN

// Percentile bootstrap of the median of per-pair ratios; `resamples` draws from Random(seed).
[[nodiscard]] Interval bootstrap_median_interval(std::span<const double> ratios, double confidence,
                                                 int resamples, uint64_t seed);
// Percentile bootstrap of the geometric mean over cases.
[[nodiscard]] Interval bootstrap_geomean_interval(std::span<const double> ratios, double confidence,
                                                  int resamples, uint64_t seed);
// Percentile bootstrap of mean(numerators) / mean(denominators), pairs drawn together; for bimodal samples.
[[nodiscard]] Interval bootstrap_mean_ratio_interval(std::span<const double> numerators,
                                                     std::span<const double> denominators, double confidence,
                                                     int resamples, uint64_t seed);

// Order statistics that enclose the median with at least `confidence`, whatever the distribution (binomial;
// David and Nagaraja, Order Statistics, 7.1); smallest and largest value where there are too few. NaN as
// above.
[[nodiscard]] Interval median_order_interval(std::span<const double> values, double confidence);

// Student's t interval of the geometric mean: the honest width for 2 to 7 ratios, where no percentile
// bootstrap reaches its confidence. Fewer than 2 ratios: NaN.
[[nodiscard]] Interval log_t_interval(std::span<const double> ratios, double confidence);
// t with P(|T| < t) = confidence for T of `freedom` degrees of freedom (Abramowitz and
// Stegun 26.7.3, 26.7.4).
[[nodiscard]] double student_t_quantile(double confidence, int freedom);

// Two-sided p-value that the median ratio equals `null_ratio`, by sign-flip of log ratios: all 2^n sign
// patterns when they are at most `resamples`, else that many random ones. Needs ratios that lie symmetrically
// around their median on the log scale. Empty: 1.
[[nodiscard]] double sign_flip_p_value(std::span<const double> ratios, double null_ratio, int resamples,
                                       uint64_t seed);

// Holm's step-down: true where the hypothesis is rejected at family-wise error `alpha`. NaN is never
// rejected.
[[nodiscard]] std::vector<bool> holm_rejections(std::span<const double> p_values, double alpha);

// Share of samples in the slower of two modes when the sample is clearly bimodal, else 0: a kernel that is
// fast only most of the time must not look fast. Clearly: at least 8 samples, the best two-way split of their
// logs has modes at least 5 % apart and at least 5 times their own spread, and 2 samples or more in each.
[[nodiscard]] double find_slow_mode_share(std::span<const double> values);

}  // namespace kw
