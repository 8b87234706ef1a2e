// Gaussian process: Cholesky, marginal likelihood, coordinate search of the kernel's shape.
#include "learn/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"

namespace kw {
namespace {

constexpr size_t kTuningRows = 96;
constexpr double kJitter = 1e-8;

double matern52(double squared) {
  const double r = std::sqrt(5 * squared);
  return (1 + r + r * r / 3) * std::exp(-r);
}

double covariance(std::span<const double> x, std::span<const double> y, const Row& weight) {
  double squared = 0;
  for (size_t d = 0; d < weight.size(); ++d) squared += weight[d] * (x[d] - y[d]) * (x[d] - y[d]);
  return matern52(squared);
}

// What follows from a shape: factor and weights, with the signal's variance at its best value in closed form.
struct Conditioned {
  std::vector<double> cholesky;
  Row alpha;
  double signal_variance = 1;
  double log_likelihood = 0;
};

// Lower factor of K + noise I in place; nothing when it is not positive definite.
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

std::optional<Conditioned> condition(std::span<const Row> rows, std::span<const double> targets,
                                     const KernelShape& shape) {
  const size_t n = rows.size();
  Conditioned result;
  result.cholesky.resize(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) result.cholesky[i * n + j] = covariance(rows[i], rows[j], shape.weight);
    result.cholesky[i * n + i] += shape.noise + kJitter;
  }
  if (!factor(result.cholesky, n)) return std::nullopt;
  result.alpha.assign(targets.begin(), targets.end());
  const auto& l = result.cholesky;
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

// How well a shape explains the rows, with a pull of each weight towards small ones: few inputs matter.
double judge(std::span<const Row> rows, std::span<const double> targets, const KernelShape& shape) {
  const auto conditioned = condition(rows, targets, shape);
  if (!conditioned) return -INFINITY;
  double pull = 0;
  for (double weight : shape.weight) pull += std::log1p(weight * static_cast<double>(shape.weight.size()));
  const double noise_pull = std::pow(std::log(shape.noise / 0.05), 2);
  return conditioned->log_likelihood - 0.3 * pull - 0.1 * noise_pull;
}

KernelShape choose_shape(std::span<const Row> rows, std::span<const double> targets) {
  const size_t inputs = rows[0].size();
  KernelShape best;
  best.weight.assign(inputs, 1.0 / static_cast<double>(std::max<size_t>(inputs, 1)));
  if (rows.size() < 4) return best;
  double best_score = judge(rows, targets, best);
  const auto consider = [&](const KernelShape& shape) {
    const double score = judge(rows, targets, shape);
    if (score > best_score) best_score = score, best = shape;
  };
  const KernelShape start = best;
  for (double scale : {0.1, 0.3, 3.0}) {
    for (double noise : {0.01, 0.05, 0.25}) {
      KernelShape shape = start;
      for (double& weight : shape.weight) weight *= scale;
      shape.noise = noise;
      consider(shape);
    }
  }
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (size_t d = 0; d < inputs; ++d) {
      for (double scale : {0.15, 6.0}) {
        KernelShape shape = best;
        shape.weight[d] = std::clamp(shape.weight[d] * scale, 1e-4, 20.0);
        consider(shape);
      }
    }
    for (double scale : {0.3, 3.0}) {
      KernelShape shape = best;
      shape.noise = std::clamp(shape.noise * scale, 1e-3, 2.0);
      consider(shape);
    }
  }
  return best;
}

}  // namespace

GaussianProcess GaussianProcess::fit(std::vector<Row> rows, std::span<const double> targets) {
  KW_CHECK(!rows.empty() && rows.size() == targets.size(), "{} rows, {} targets", rows.size(),
           targets.size());
  GaussianProcess process;
  const size_t tuned = std::min(rows.size(), kTuningRows);
  process.shape_ = choose_shape(std::span(rows).first(tuned), targets.first(tuned));
  auto conditioned = condition(rows, targets, process.shape_);
  while (!conditioned) {
    process.shape_.noise *= 10;
    conditioned = condition(rows, targets, process.shape_);
  }
  process.rows_ = std::move(rows);
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
    solved[i] = covariance(rows_[i], row, shape_.weight);
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
