// Gaussian process regression for few observations. In: points with scaled inputs and targets. Out: posterior
// mean and standard deviation. Called by cost_model.cc only. Knows nothing of schedules or times. Formulas:
// Rasmussen, Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1 and eq. 5.8.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kw {

using Row = std::vector<double>;

// Covariance signal_variance * matern52(r) + noise, r^2 = sum_d weight_d (x_d - y_d)^2.
struct KernelShape {
  Row weight;           // 1 / length^2 per input
  double noise = 0.05;  // variance of the noise as a share of the signal's
};

class GaussianProcess {
 public:
  // Chooses the shape by coordinate search on the log marginal likelihood over at most 80 rows, then
  // conditions on all rows. `targets` should have mean about 0. Needs at least one row.
  static GaussianProcess fit(std::vector<Row> rows, std::span<const double> targets);
  // The same with a given shape; its noise grows where the rows demand it.
  static GaussianProcess fit(std::vector<Row> rows, std::span<const double> targets, KernelShape shape);

  struct Posterior {
    double mean = 0, deviation = 0;
  };
  Posterior predict(std::span<const double> row) const;
  const KernelShape& shape() const { return shape_; }

 private:
  GaussianProcess() = default;
  std::vector<Row> rows_;
  KernelShape shape_;
  std::vector<double> cholesky_;  // lower triangle, (n,n) row-major
  Row alpha_;                     // (K + noise)^-1 targets
  double signal_variance_ = 1;
};

}  // namespace kw
