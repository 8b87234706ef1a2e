// What a learned cost model offers to proposers. In: schedules as feature vectors with the analytic estimate,
// and measured times. Out: expected log time and how sure. Implemented by src/learn, handed over by src/loop.
// Does not know problems, spaces or where the times came from.
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace kw {

// One schedule as a model sees it.
struct ModelPoint {
  std::vector<double> features;  // Space::features
  double prior_log_us = 0;       // log of Space::predict_us
};

struct Observation {
  ModelPoint point;
  double log_us = 0;  // measured, natural logarithm
};

struct Prediction {
  double mean_log_us = 0;
  double spread_log_us = 0;  // standard deviation of the mean, measurement noise left out
};

class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual Prediction predict(const ModelPoint& point) const = 0;
  // The same model as if `point` had been measured at its predicted time: surer around it, nearly equal
  // elsewhere. Used to spread a batch whose times are not known yet.
  virtual std::unique_ptr<Predictor> believe(const ModelPoint& point) const = 0;
};

class Regressor {
 public:
  virtual ~Regressor() = default;
  // Learns from observations (may be empty: then the prior alone speaks). `population` are points that will
  // be asked about; they only set the scale of each feature. All points have the same number of features.
  // Deterministic.
  virtual std::unique_ptr<Predictor> fit(std::span<const Observation> observations,
                                         std::span<const ModelPoint> population) const = 0;
};

}  // namespace kw
