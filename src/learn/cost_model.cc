// Prior line, scaling of features and blending of the two learners; see cost_model.h.
#include "learn/cost_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "learn/forest.h"
#include "learn/gaussian_process.h"

namespace kw {
namespace {

constexpr size_t kMostRows = 256;     // more are thinned: the fastest half and the newest
constexpr double kPriorSpread = 0.5;  // log units: trust in the analytic model before any measurement
constexpr double kPriorWeight = 2;    // pseudo-observations that hold the slope at kPriorSlope
constexpr double kPriorSlope = 0.7;
constexpr double kSlowestKept = 1.2;  // log units above the median beyond which a time is only "slow"

// log time = intercept + slope * log prior, the slope held near kPriorSlope while there are few observations.
struct PriorLine {
  double intercept = 0, slope = 1;
  double at(double prior_log_us) const { return intercept + slope * prior_log_us; }
};

PriorLine fit_line(std::span<const Observation> observations) {
  PriorLine line;
  const double count = static_cast<double>(observations.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (const auto& [point, y] : observations) mean_x += point.prior_log_us / count, mean_y += y / count;
  for (const auto& [point, y] : observations) {
    xx += (point.prior_log_us - mean_x) * (point.prior_log_us - mean_x);
    xy += (point.prior_log_us - mean_x) * (y - mean_y);
  }
  line.slope = std::clamp((xy + kPriorWeight * kPriorSlope) / (xx + kPriorWeight), 0.0, 1.5);
  line.intercept = mean_y - line.slope * mean_x;
  return line;
}

// Maps each feature to mean 0 and deviation 1 over all points; constant features to 0.
class Scaling {
 public:
  Scaling(std::span<const Observation> observations, std::span<const ModelPoint> population) {
    std::vector<const ModelPoint*> points;
    for (const auto& observation : observations) points.push_back(&observation.point);
    for (const auto& point : population) points.push_back(&point);
    const size_t inputs = points[0]->features.size() + 1;
    const double count = static_cast<double>(points.size());
    mean_.assign(inputs, 0);
    scale_.assign(inputs, 0);
    for (const auto* point : points) {
      for (size_t d = 0; d < inputs; ++d) mean_[d] += get(*point, d) / count;
    }
    for (const auto* point : points) {
      for (size_t d = 0; d < inputs; ++d) scale_[d] += std::pow(get(*point, d) - mean_[d], 2) / count;
    }
    for (double& scale : scale_) scale = scale > 1e-18 ? 1 / std::sqrt(scale) : 0;
  }
  Row apply(const ModelPoint& point) const {
    KW_CHECK(point.features.size() + 1 == mean_.size(), "{} features, not {}", point.features.size(),
             mean_.size() - 1);
    Row row(mean_.size());
    for (size_t d = 0; d < row.size(); ++d) row[d] = (get(point, d) - mean_[d]) * scale_[d];
    return row;
  }

 private:
  static double get(const ModelPoint& point, size_t d) {
    return d < point.features.size() ? point.features[d] : point.prior_log_us;
  }
  Row mean_, scale_;
};

// Before any measurement.
class PriorAlone : public Predictor {
 public:
  Prediction predict(const ModelPoint& point) const override { return {point.prior_log_us, kPriorSpread}; }
  std::unique_ptr<Predictor> believe(const ModelPoint&) const override {
    return std::make_unique<PriorAlone>();
  }
};

// Scaled rows and what is left of their times when the prior line is taken off.
struct Residuals {
  std::vector<Row> rows;
  Row values;
};

class CostModel : public Predictor {
 public:
  CostModel(PriorLine line, Scaling scaling, Residuals residuals, GaussianProcess process)
      : line_(line),
        scaling_(std::move(scaling)),
        residuals_(std::move(residuals)),
        process_(std::move(process)),
        forest_(Forest::fit(residuals_.rows, residuals_.values, ForestShape{})) {}

  Prediction predict(const ModelPoint& point) const override {
    return predict_row(scaling_.apply(point), point);
  }

  std::unique_ptr<Predictor> believe(const ModelPoint& point) const override {
    Residuals more = residuals_;
    more.rows.push_back(scaling_.apply(point));
    more.values.push_back(predict_row(more.rows.back(), point).mean_log_us - line_.at(point.prior_log_us));
    auto process = GaussianProcess::fit(more.rows, more.values, process_.shape());
    return std::make_unique<CostModel>(line_, scaling_, std::move(more), std::move(process));
  }

 private:
  Prediction predict_row(const Row& row, const ModelPoint& point) const {
    const auto posterior = process_.predict(row);
    const auto vote = forest_.predict(row);
    const double disagreement = 0.5 * std::abs(posterior.mean - vote.mean);
    return {line_.at(point.prior_log_us) + 0.5 * (posterior.mean + vote.mean),
            std::hypot(0.5 * (posterior.deviation + vote.deviation), disagreement)};
  }

  PriorLine line_;
  Scaling scaling_;
  Residuals residuals_;
  GaussianProcess process_;
  Forest forest_;
};

// At most kMostRows observations: the fastest half of that and the newest of the rest, in their order.
std::vector<Observation> thin(std::span<const Observation> observations) {
  if (observations.size() <= kMostRows) return {observations.begin(), observations.end()};
  std::vector<size_t> order(observations.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return observations[a].log_us < observations[b].log_us; });
  std::stable_sort(order.begin() + kMostRows / 2, order.end(), std::greater<>());
  order.resize(kMostRows);
  std::sort(order.begin(), order.end());
  std::vector<Observation> kept;
  for (size_t i : order) kept.push_back(observations[i]);
  return kept;
}

// Very slow schedules need not be told apart; kept in full they would dominate the fit.
void cap_slow(std::vector<Observation>& observations) {
  std::vector<double> times;
  for (const auto& observation : observations) times.push_back(observation.log_us);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  const double cap = times[times.size() / 2] + kSlowestKept;
  for (auto& observation : observations) observation.log_us = std::min(observation.log_us, cap);
}

class CostRegressor : public Regressor {
 public:
  std::unique_ptr<Predictor> fit(std::span<const Observation> observations,
                                 std::span<const ModelPoint> population) const override {
    if (observations.empty()) return std::make_unique<PriorAlone>();
    std::vector<Observation> kept = thin(observations);
    cap_slow(kept);
    const PriorLine line = fit_line(kept);
    Scaling scaling(kept, population);
    Residuals residuals;
    for (const auto& [point, log_us] : kept) {
      residuals.rows.push_back(scaling.apply(point));
      residuals.values.push_back(log_us - line.at(point.prior_log_us));
    }
    GaussianProcess process = GaussianProcess::fit(residuals.rows, residuals.values);
    return std::make_unique<CostModel>(line, std::move(scaling), std::move(residuals), std::move(process));
  }
};

}  // namespace

std::unique_ptr<Regressor> make_cost_model() { return std::make_unique<CostRegressor>(); }

}  // namespace kw
