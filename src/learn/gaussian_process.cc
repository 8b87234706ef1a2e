// Gaussian process: Cholesky, marginal likelihood, coordinate search of the kernel's shape.
#include "learn/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"

namespace kw {
namespace {

constexpr size_t kTuningRows = 80;
constexpr double kJitter = 1e-8;

double matern52(double squared) {
  const double r = std::sqrt(5 * squared);
  return (1 + r + r * r / 3) * std::exp(-r);
}

double measure_squared(std::span<const double> x, std::span<const double> y, const Row& weight) {
  double squared = 0;
  for (size_t d = 0; d < weight.size(); ++d) squared += weight[d] * (x[d] - y[d]) * (x[d] - y[d]);
  return squared;
}

// Weighted squared distances of all pairs, lower triangle of (n,n) row-major.
std::vector<double> measure_pairs(std::span<const Row> rows, const Row& weight) {
  const size_t n = rows.size();
  std::vector<double> squared(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) squared[i * n + j] = measure_squared(rows[i], rows[j], weight);
  }
  return squared;
}

// What follows from a shape: factor and weights, with the signal's variance at its best value in closed form.
struct Conditioned {
  std::vector<double> cholesky;
  Row alpha;
  double signal_variance = 1;
  double log_likelihood = 0;
};

// Lower factor of K + noise I in place; false when it is not positive definite.
bool factor(std::vector<double>& matrix, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = matrix[i * n + j];
      for (size_t l = 0; l < j; ++l) sum -= matrix[i * n + l] * matrix[j * n + l];
      if (i == j) {
        if (!(sum > 0)) return false;
        matrix[i * n + i] = std::sqrt(sum);
      } else {
        matrix[i * n + j] = sum / matrix[j * n + j];
      }
    }
  }
  return true;
}

std::optional<Conditioned> condition(std::span<const double> squared, std::span<const double> targets,
                                     double noise) {
  const size_t n = targets.size();
  Conditioned result;
  result.cholesky.resize(n * n);
  auto& l = result.cholesky;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) l[i * n + j] = matern52(squared[i * n + j]);
    l[i * n + i] = 1 + noise + kJitter;
  }
  if (!factor(l, n)) return std::nullopt;
  result.alpha.assign(targets.begin(), targets.end());
  double log_determinant = 0, quadratic = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) result.alpha[i] -= l[i * n + j] * result.alpha[j];
    result.alpha[i] /= l[i * n + i];
    quadratic += result.alpha[i] * result.alpha[i];
    log_determinant += 2 * std::log(l[i * n + i]);
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; ++j) result.alpha[i] -= l[j * n + i] * result.alpha[j];
    result.alpha[i] /= l[i * n + i];
  }
  const double count = static_cast<double>(n);
  result.signal_variance = (quadratic + 0.1) / (count + 1);  // a weak prior keeps it positive
  result.log_likelihood = -0.5 * (count * std::log(result.signal_variance) + log_determinant);
  return result;
}

// All inputs alike, distance about 1 between typical rows of scaled inputs.
KernelShape make_plain_shape(size_t inputs) {
  return {Row(inputs, 1.0 / static_cast<double>(std::max<size_t>(inputs, 1))), 0.05};
}

// Coordinate search of the shape. Keeps the pairs' distances of the best shape so far, so that a step along
// one input costs one multiplication a pair.
class ShapeSearch {
 public:
  ShapeSearch(std::vector<Row> rows, std::vector<double> targets)
      : rows_(std::move(rows)), targets_(std::move(targets)) {
    best_ = make_plain_shape(rows_[0].size());
    squared_ = measure_pairs(rows_, best_.weight);
    score_ = judge(best_, squared_);
  }

  KernelShape run() {
    const KernelShape start = best_;
    for (double scale : {0.1, 0.3, 1.0, 3.0}) {
      for (double noise : {0.01, 0.05, 0.25}) {
        KernelShape shape = start;
        for (double& weight : shape.weight) weight *= scale;
        shape.noise = noise;
        consider(shape, measure_pairs(rows_, shape.weight));
      }
    }
    for (int sweep = 0; sweep < 2; ++sweep) {
      for (size_t input = 0; input < start.weight.size(); ++input) {
        for (double scale : {0.15, 6.0}) step(input, scale);
      }
      for (double scale : {0.3, 3.0}) {
        KernelShape shape = best_;
        shape.noise = std::clamp(shape.noise * scale, 1e-3, 2.0);
        consider(shape, squared_);
      }
    }
    return best_;
  }

 private:
  void step(size_t input, double scale) {
    KernelShape shape = best_;
    shape.weight[input] = std::clamp(shape.weight[input] * scale, 1e-4, 20.0);
    const double change = shape.weight[input] - best_.weight[input];
    std::vector<double> squared = squared_;
    const size_t n = rows_.size();
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < i; ++j) {
        const double gap = rows_[i][input] - rows_[j][input];
        squared[i * n + j] = std::max(0.0, squared[i * n + j] + change * gap * gap);
      }
    }
    consider(shape, std::move(squared));
  }

  void consider(const KernelShape& shape, std::vector<double> squared) {
    const double score = judge(shape, squared);
    if (!(score > score_)) return;
    score_ = score;
    best_ = shape;
    squared_ = std::move(squared);
  }

  // How well a shape explains the rows, with a pull of each weight towards small ones: few inputs matter.
  double judge(const KernelShape& shape, std::span<const double> squared) const {
    const auto conditioned = condition(squared, targets_, shape.noise);
    if (!conditioned) return -INFINITY;
    double pull = 0;
    for (double weight : shape.weight) pull += std::log1p(weight * static_cast<double>(shape.weight.size()));
    const double noise_pull = std::pow(std::log(shape.noise / 0.05), 2);
    return conditioned->log_likelihood - 0.3 * pull - 0.1 * noise_pull;
  }

  std::vector<Row> rows_;
  std::vector<double> targets_;
  KernelShape best_;
  std::vector<double> squared_;
  double score_ = -INFINITY;
};

// Rows spread evenly over the given ones, at most kTuningRows.
KernelShape choose_shape(std::span<const Row> rows, std::span<const double> targets) {
  const size_t count = std::min(rows.size(), kTuningRows);
  std::vector<Row> chosen;
  std::vector<double> chosen_targets;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i * rows.size() / count;
    chosen.push_back(rows[at]);
    chosen_targets.push_back(targets[at]);
  }
  return ShapeSearch(std::move(chosen), std::move(chosen_targets)).run();
}

}  // namespace

GaussianProcess GaussianProcess::fit(std::vector<Row> rows, std::span<const double> targets) {
  KW_CHECK(!rows.empty() && rows.size() == targets.size(), "{} rows, {} targets", rows.size(),
           targets.size());
  const KernelShape shape = rows.size() < 4 ? make_plain_shape(rows[0].size()) : choose_shape(rows, targets);
  return fit(std::move(rows), targets, shape);
}

GaussianProcess GaussianProcess::fit(std::vector<Row> rows, std::span<const double> targets,
                                     KernelShape shape) {
  const std::vector<double> squared = measure_pairs(rows, shape.weight);
  auto conditioned = condition(squared, targets, shape.noise);
  while (!conditioned) {
    shape.noise *= 10;
    conditioned = condition(squared, targets, shape.noise);
  }
  GaussianProcess process;
  process.rows_ = std::move(rows);
  process.shape_ = std::move(shape);
  process.cholesky_ = std::move(conditioned->cholesky);
  process.alpha_ = std::move(conditioned->alpha);
  process.signal_variance_ = conditioned->signal_variance;
  return process;
}

GaussianProcess::Posterior GaussianProcess::predict(std::span<const double> row) const {
  const size_t n = rows_.size();
  Row solved(n);
  double mean = 0, explained = 0;
  for (size_t i = 0; i < n; ++i) {
    solved[i] = matern52(measure_squared(rows_[i], row, shape_.weight));
    mean += solved[i] * alpha_[i];
  }
  for (size_t i = 0; i < n; ++i) {
    const double* l = &cholesky_[i * n];
    for (size_t j = 0; j < i; ++j) solved[i] -= l[j] * solved[j];
    solved[i] /= l[i];
    explained += solved[i] * solved[i];
  }
  return {mean, std::sqrt(signal_variance_ * std::max(0.0, 1 - explained))};
}

}  // namespace kw
