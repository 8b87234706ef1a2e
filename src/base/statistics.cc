// In: plain numbers. Out: summaries, intervals, p-values. Callers: see the header. Does no input or output.
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/random.h"

namespace kw {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool has_nan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double quantile_of_sorted(std::span<const double> values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto index = static_cast<size_t>(position);
  if (index + 1 >= values.size()) return values.back();
  return values[index] + (position - static_cast<double>(index)) * (values[index + 1] - values[index]);
}

std::vector<double> logs_of(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) logs.push_back(value > 0 ? std::log(value) : kNan);
  return logs;
}

// The middle part of `statistics` that holds `confidence` of them.
Interval percentile_interval(std::vector<double> statistics, double confidence) {
  std::sort(statistics.begin(), statistics.end());
  const double tail = (1 - confidence) / 2;
  return {quantile_of_sorted(statistics, tail), quantile_of_sorted(statistics, 1 - tail)};
}

// Indices below `bound`, two for each 64-bit draw: the bootstrap's inner loop.
class IndexDraws {
 public:
  IndexDraws(uint64_t seed, size_t bound) : random_(seed), bound_(static_cast<uint32_t>(bound)) {}
  uint32_t next() {
    if (full_) {
      full_ = false;
      return scale(static_cast<uint32_t>(bits_));
    }
    bits_ = random_.next();
    full_ = true;
    return scale(static_cast<uint32_t>(bits_ >> 32));
  }

 private:
  uint32_t scale(uint32_t draw) const {
    return static_cast<uint32_t>((static_cast<uint64_t>(draw) * bound_) >> 32);
  }
  Random random_;
  uint32_t bound_;
  uint64_t bits_ = 0;
  bool full_ = false;
};

void check_bootstrap(double confidence, int resamples) {
  KW_CHECK(confidence > 0 && confidence < 1 && resamples > 0, "confidence {}, resamples {}", confidence,
           resamples);
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return kNan;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double quantile(std::span<const double> values, double q) {
  KW_CHECK(q >= 0 && q <= 1, "quantile {}", q);
  if (values.empty() || has_nan(values)) return kNan;
  return quantile_of_sorted(sorted(values), q);
}

double geometric_mean(std::span<const double> values) { return std::exp(mean(logs_of(values))); }

Interval bootstrap_median_interval(std::span<const double> ratios, double confidence, int resamples,
                                   uint64_t seed) {
  check_bootstrap(confidence, resamples);
  if (ratios.empty() || has_nan(ratios)) return {kNan, kNan};
  const std::vector<double> order = sorted(ratios);
  const size_t count = order.size(), low_rank = (count - 1) / 2, high_rank = count / 2;
  IndexDraws draws(seed, count);
  std::vector<uint32_t> drawn(count);
  std::vector<double> medians(static_cast<size_t>(resamples));
  for (double& value : medians) {
    std::fill(drawn.begin(), drawn.end(), 0);
    for (size_t i = 0; i < count; ++i) ++drawn[draws.next()];
    size_t rank = 0, below = drawn[0];  // `below`: draws of order[0..rank]
    while (below <= low_rank) below += drawn[++rank];
    value = order[rank];
    while (below <= high_rank) below += drawn[++rank];
    value = (value + order[rank]) / 2;
  }
  return percentile_interval(std::move(medians), confidence);
}

Interval median_order_interval(std::span<const double> values, double confidence) {
  KW_CHECK(confidence > 0 && confidence < 1, "confidence {}", confidence);
  if (values.empty() || has_nan(values)) return {kNan, kNan};
  const std::vector<double> order = sorted(values);
  const size_t count = order.size();
  // `below`: P(Bin(count, 1/2) <= rank + 1), the chance that order[rank + 1] lies above the median. By
  // logarithms, whose terms do not underflow.
  double log_term = -static_cast<double>(count) * std::log(2.0), below = std::exp(log_term);
  size_t rank = 0;
  while (2 * (rank + 1) < count) {
    log_term += std::log(static_cast<double>(count - rank) / static_cast<double>(rank + 1));
    below += std::exp(log_term);
    if (below > (1 - confidence) / 2) break;
    ++rank;
  }
  return {order[rank], order[count - 1 - rank]};
}

Interval bootstrap_geomean_interval(std::span<const double> ratios, double confidence, int resamples,
                                    uint64_t seed) {
  check_bootstrap(confidence, resamples);
  const std::vector<double> logs = logs_of(ratios);
  if (logs.empty() || has_nan(logs)) return {kNan, kNan};
  IndexDraws draws(seed, logs.size());
  std::vector<double> means(static_cast<size_t>(resamples));
  for (double& value : means) {
    for (size_t i = 0; i < logs.size(); ++i) value += logs[draws.next()];
    value /= static_cast<double>(logs.size());
  }
  const Interval interval = percentile_interval(std::move(means), confidence);
  return {std::exp(interval.low), std::exp(interval.high)};
}

Interval bootstrap_mean_ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators, double confidence, int resamples,
                                       uint64_t seed) {
  check_bootstrap(confidence, resamples);
  KW_CHECK(numerators.size() == denominators.size(), "{} and {} values", numerators.size(),
           denominators.size());
  if (numerators.empty() || has_nan(numerators) || has_nan(denominators)) return {kNan, kNan};
  IndexDraws draws(seed, numerators.size());
  std::vector<double> quotients(static_cast<size_t>(resamples));
  for (double& value : quotients) {
    double above = 0, below = 0;
    for (size_t i = 0; i < numerators.size(); ++i) {
      const uint32_t index = draws.next();
      above += numerators[index];
      below += denominators[index];
    }
    value = above / below;
  }
  if (has_nan(quotients)) return {kNan, kNan};
  return percentile_interval(std::move(quotients), confidence);
}

double student_t_quantile(double confidence, int freedom) {
  KW_CHECK(confidence > 0 && confidence < 1 && freedom >= 1, "confidence {}, freedom {}", confidence,
           freedom);
  const auto inside = [freedom](double t) {
    const double angle = std::atan(t / std::sqrt(freedom)), cosine = std::cos(angle);
    const bool odd = freedom % 2 == 1;
    double term = odd ? cosine : 1, sum = 0;
    for (int power = odd ? 1 : 0; power <= freedom - 2; power += 2) {
      sum += term;
      term *= cosine * cosine * (power + 1) / (power + 2);
    }
    return odd ? 2 / M_PI * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
  };
  double low = 0, high = 1;
  while (inside(high) < confidence) high *= 2;
  for (int step = 0; step < 80; ++step) {
    const double middle = (low + high) / 2;
    (inside(middle) < confidence ? low : high) = middle;
  }
  return high;
}

Interval log_t_interval(std::span<const double> ratios, double confidence) {
  const std::vector<double> logs = logs_of(ratios);
  if (logs.size() < 2 || has_nan(logs)) return {kNan, kNan};
  const double count = static_cast<double>(logs.size()), center = mean(logs);
  double squares = 0;
  for (const double value : logs) squares += (value - center) * (value - center);
  const double half = student_t_quantile(confidence, static_cast<int>(logs.size()) - 1) *
                      std::sqrt(squares / (count - 1) / count);
  return {std::exp(center - half), std::exp(center + half)};
}

double sign_flip_p_value(std::span<const double> ratios, double null_ratio, int resamples, uint64_t seed) {
  KW_CHECK(null_ratio > 0 && resamples > 0, "null ratio {}, resamples {}", null_ratio, resamples);
  if (ratios.empty()) return 1;
  std::vector<double> distances = logs_of(ratios);
  if (has_nan(distances)) return kNan;
  for (double& distance : distances) distance -= std::log(null_ratio);
  const double seen = std::abs(std::accumulate(distances.begin(), distances.end(), 0.0));
  const double tolerance = 1e-12 * (1 + seen);  // sums in another order must count as equal
  const bool exact = distances.size() < 31 && (1LL << distances.size()) <= resamples;
  const auto patterns = exact ? uint64_t{1} << distances.size() : static_cast<uint64_t>(resamples);
  Random random(seed);
  uint64_t extreme = 0;
  for (uint64_t pattern = 0; pattern < patterns; ++pattern) {
    uint64_t signs = pattern;
    double sum = 0;
    for (size_t i = 0; i < distances.size(); ++i) {
      if (!exact && i % 64 == 0) signs = random.next();
      sum += (signs >> (i % 64)) & 1 ? distances[i] : -distances[i];
    }
    if (std::abs(sum) >= seen - tolerance) ++extreme;
  }
  if (exact) return static_cast<double>(extreme) / static_cast<double>(patterns);
  return static_cast<double>(extreme + 1) / static_cast<double>(patterns + 1);
}

std::vector<bool> holm_rejections(std::span<const double> p_values, double alpha) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](size_t i) { return std::isnan(p_values[i]) ? 2.0 : p_values[i]; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<bool> rejected(p_values.size(), false);
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const bool small = p_values[order[rank]] <= alpha / static_cast<double>(order.size() - rank);
    if (!small) break;
    rejected[order[rank]] = true;
  }
  return rejected;
}

double find_slow_mode_share(std::span<const double> values) {
  constexpr size_t kMinSamples = 8, kMinInMode = 2;
  constexpr double kMinDistance = 0.05, kMinDistanceInSpreads = 5;
  std::vector<double> logs = logs_of(values);
  if (has_nan(logs)) return kNan;
  if (logs.size() < kMinSamples) return 0;
  std::sort(logs.begin(), logs.end());
  // Prefix sums give each split's mean and spread at once.
  std::vector<double> sums{0}, squares{0};
  for (const double value : logs) {
    const double centered = value - logs.front();
    sums.push_back(sums.back() + centered);
    squares.push_back(squares.back() + centered * centered);
  }
  const auto spread = [&](size_t from, size_t to, double center) {  // sum of squares around the mode's mean
    return std::max(0.0, squares[to] - squares[from] - static_cast<double>(to - from) * center * center);
  };
  double least = std::numeric_limits<double>::infinity(), distance = 0;
  size_t split = 0;
  for (size_t i = kMinInMode; i + kMinInMode <= logs.size(); ++i) {
    const double fast = sums[i] / static_cast<double>(i);
    const double slow = (sums.back() - sums[i]) / static_cast<double>(logs.size() - i);
    const double within = spread(0, i, fast) + spread(i, logs.size(), slow);
    if (within < least) {
      least = within;
      distance = slow - fast;
      split = i;
    }
  }
  const double own_spread = std::sqrt(least / static_cast<double>(logs.size()));
  const bool bimodal = distance >= std::log1p(kMinDistance) && distance >= kMinDistanceInSpreads * own_spread;
  return bimodal ? static_cast<double>(logs.size() - split) / static_cast<double>(logs.size()) : 0;
}

}  // namespace kw
