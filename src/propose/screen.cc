// Expected improvement and picking of a batch; see screen.h.
#include "propose/screen.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"

namespace kw {
namespace {

// With fewer times than this the model's mean alone orders the children: a spread learned from two or three
// times says little. Synthetic landscapes needed 10 to 15 % more evaluations without this phase.
constexpr size_t kFirstGuesses = 8;
constexpr double kRepeatPenalty = 0.04;  // log units per earlier guess of the same cell, first guesses only
constexpr size_t kMostBelieved = 16;     // a believed schedule costs a refit of milliseconds
constexpr double kLeastImprovement = 0.005;  // log units: smaller gains are not worth an evaluation

ModelPoint describe(const Space& space, const std::string& key) {
  return {space.features(key), std::log(std::max(space.predict_us(key), 1e-6))};
}

std::vector<Observation> observe(const ProposeContext& context) {
  std::vector<Observation> observations;
  for (const Evaluation& evaluation : context.history) {
    const std::string& key = evaluation.proposal.schedule;
    if (evaluation.proposal.family != context.space.family() || context.space.find_illegality(key)) continue;
    const bool timed = evaluation.verdict.passed() && evaluation.timing && evaluation.timing->median_us > 0;
    if (timed) observations.push_back({describe(context.space, key), std::log(evaluation.timing->median_us)});
  }
  return observations;
}

// A child with what is known of it before any pick.
struct Candidate {
  std::string cell;
  double pass_share = 1;
  bool chosen = false;
};

// Index of the unchosen candidate with the highest score, the first of equals; candidates.size() when none is
// left.
template <class Score>
size_t find_best(const std::vector<Candidate>& candidates, const Score& score) {
  size_t best = candidates.size();
  double best_score = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].chosen) continue;
    const double value = score(i);
    if (best == candidates.size() || value > best_score) best = i, best_score = value;
  }
  return best;
}

std::vector<size_t> pick_first(const Predictor& predictor, const std::vector<ModelPoint>& points,
                               std::vector<Candidate>& candidates, std::map<std::string, int> cell_uses,
                               size_t count) {
  std::vector<double> mean_log_us;
  for (const auto& point : points) mean_log_us.push_back(predictor.predict(point).mean_log_us);
  std::vector<size_t> picks;
  while (picks.size() < count) {
    const size_t pick = find_best(candidates, [&](size_t i) {
      const auto uses = cell_uses.find(candidates[i].cell);
      const double repeats = uses == cell_uses.end() ? 0 : uses->second;
      return std::log(candidates[i].pass_share) - mean_log_us[i] - kRepeatPenalty * repeats;
    });
    candidates[pick].chosen = true;
    ++cell_uses[candidates[pick].cell];
    picks.push_back(pick);
  }
  return picks;
}

std::vector<size_t> pick_improving(std::unique_ptr<Predictor> predictor, double best_log_us,
                                   const std::vector<ModelPoint>& points, std::vector<Candidate>& candidates,
                                   size_t count) {
  std::vector<size_t> picks;
  while (picks.size() < count) {
    const size_t pick = find_best(candidates, [&](size_t i) {
      return candidates[i].pass_share *
             expect_improvement(best_log_us - kLeastImprovement, predictor->predict(points[i]));
    });
    candidates[pick].chosen = true;
    picks.push_back(pick);
    if (picks.size() < count) predictor = predictor->believe(points[pick]);
  }
  return picks;
}

// Schedules under way (taken, not yet in the history) count as measured at their predicted time, so that a
// round proposed ahead does not crowd the one before it.
std::unique_ptr<Predictor> believe_under_way(std::unique_ptr<Predictor> predictor,
                                             const ProposeContext& context) {
  std::set<std::string_view> measured;
  for (const Evaluation& evaluation : context.history) measured.insert(evaluation.proposal.schedule);
  size_t believed = 0;
  for (const std::string& key : context.taken) {
    if (believed == kMostBelieved) break;
    if (measured.count(key) || context.space.find_illegality(key)) continue;
    predictor = predictor->believe(describe(context.space, key));
    ++believed;
  }
  return predictor;
}

double find_best_log_us(const std::vector<Observation>& observations) {
  double best = INFINITY;
  for (const auto& observation : observations) best = std::min(best, observation.log_us);
  return best;
}

}  // namespace

double expect_improvement(double best, const Prediction& prediction) {
  const double gap = best - prediction.mean_log_us;
  const double spread = prediction.spread_log_us;
  if (!(spread > 1e-9)) return std::max(gap, 0.0);
  const double z = gap / spread;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI);
  const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
  return gap * below + spread * density;
}

std::vector<Child> screen_children(const ProposeContext& context, const Archive& archive,
                                   std::vector<Child> children, int count) {
  KW_CHECK(context.regressor != nullptr && count >= 0, "{} proposals", count);
  const std::vector<Observation> observations = observe(context);
  std::vector<ModelPoint> points;
  std::vector<Candidate> candidates;
  for (const Child& child : children) {
    points.push_back(describe(context.space, child.schedule));
    std::string cell = context.space.behaviour(child.schedule);
    const double pass_share = archive.pass_share(cell);
    candidates.push_back({std::move(cell), pass_share, false});
  }
  const size_t wanted = std::min(children.size(), static_cast<size_t>(count));
  auto predictor = context.regressor->fit(observations, points);
  std::vector<size_t> picks;
  if (observations.size() < kFirstGuesses) {
    std::map<std::string, int> cell_uses;
    for (const std::string& key : context.taken) {
      if (!context.space.find_illegality(key)) ++cell_uses[context.space.behaviour(key)];
    }
    picks = pick_first(*predictor, points, candidates, std::move(cell_uses), wanted);
  } else {
    predictor = believe_under_way(std::move(predictor), context);
    picks = pick_improving(std::move(predictor), find_best_log_us(observations), points, candidates, wanted);
  }
  std::vector<Child> chosen;
  for (size_t pick : picks) chosen.push_back(std::move(children[pick]));
  return chosen;
}

}  // namespace kw
