// Evolutionary search over schedules. In: a problem's space and history. Out: proposals bred from elites of a
// MAP-Elites archive with islands, screened by a cost model when the loop gives one. Called by loop through
// proposer.h. Keeps nothing between calls: all follows from (seed, history, taken). doc/search.md says why.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "propose/archive.h"
#include "propose/offspring.h"
#include "propose/proposer.h"

namespace kw {
namespace {

constexpr double kLeastImprovement = 0.005;  // log units: smaller gains are not worth an evaluation

// Expected improvement below `best` of N(mean, spread^2) (Jones, Schonlau, Welch 1998, eq. 15).
double expect_improvement(double best, const Prediction& prediction) {
  const double gap = best - prediction.mean_log_us;
  const double spread = prediction.spread_log_us;
  if (!(spread > 1e-9)) return std::max(gap, 0.0);
  const double z = gap / spread;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI);
  const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
  return gap * below + spread * density;
}

ModelPoint describe(const Space& space, const std::string& key) {
  return {space.features(key), std::log(std::max(space.predict_us(key), 1e-6))};
}

class Evolve : public Proposer {
 public:
  explicit Evolve(uint64_t seed) : seed_(seed) {}
  std::string_view name() const override { return "evolve"; }

  std::vector<Proposal> propose(const ProposeContext& context, int count) override {
    if (count <= 0) return {};
    Random random(seed_, hash_position(context));
    const Archive archive(context.space, context.history);
    Offspring offspring(context, archive, random);
    offspring.breed(kBrood + kBroodPerProposal * static_cast<size_t>(count));
    std::vector<Child> chosen = context.regressor ? screen(context, archive, offspring, count)
                                                  : offspring.take_first(static_cast<size_t>(count));
    std::vector<Proposal> proposals;
    for (Child& child : chosen) {
      Proposal proposal;
      proposal.proposer = "evolve";
      proposal.family = context.space.family();
      proposal.schedule = std::move(child.schedule);
      proposal.parents = std::move(child.parents);
      proposal.note = fmt::format("{} on island {}", print_operator(child.op), child.island);
      proposal.seed = seed_;
      proposals.push_back(std::move(proposal));
    }
    return proposals;
  }

 private:
  static constexpr size_t kBrood = 256, kBroodPerProposal = 16;

  // Calls that differ in history or in what is under way draw differently.
  static uint64_t hash_position(const ProposeContext& context) {
    return context.history.size() * 1'000'003 + context.taken.size();
  }

  static std::vector<Observation> observe(const ProposeContext& context) {
    std::vector<Observation> observations;
    for (const Evaluation& evaluation : context.history) {
      const std::string& key = evaluation.proposal.schedule;
      if (evaluation.proposal.family != context.space.family() || context.space.find_illegality(key)) continue;
      const bool timed = evaluation.verdict.passed() && evaluation.timing && evaluation.timing->median_us > 0;
      if (timed) observations.push_back({describe(context.space, key), std::log(evaluation.timing->median_us)});
    }
    return observations;
  }

  // One pick at a time by expected improvement; each pick is then believed at its predicted time, so that the next
  // one goes elsewhere.
  static std::vector<Child> screen(const ProposeContext& context, const Archive& archive, Offspring& offspring,
                                   int count) {
    std::vector<Observation> observations = observe(context);
    double best = INFINITY;
    for (const auto& observation : observations) best = std::min(best, observation.log_us);
    std::vector<Child> children = offspring.take_all();
    std::vector<ModelPoint> points;
    std::vector<double> pass_shares;
    for (const Child& child : children) {
      points.push_back(describe(context.space, child.schedule));
      pass_shares.push_back(archive.pass_share(context.space.behaviour(child.schedule)));
    }
    std::vector<Child> chosen;
    std::vector<bool> gone(children.size());
    while (static_cast<int>(chosen.size()) < count && chosen.size() < children.size()) {
      const auto predictor = context.regressor->fit(observations, points);
      size_t pick = children.size();
      double pick_score = -INFINITY;
      Prediction pick_prediction;
      for (size_t i = 0; i < children.size(); ++i) {
        if (gone[i]) continue;
        const Prediction prediction = predictor->predict(points[i]);
        const double score = std::isfinite(best)
                                 ? pass_shares[i] * expect_improvement(best - kLeastImprovement, prediction)
                                 : -prediction.mean_log_us;
        if (pick == children.size() || score > pick_score) pick = i, pick_score = score, pick_prediction = prediction;
      }
      gone[pick] = true;
      chosen.push_back(children[pick]);
      observations.push_back({points[pick], pick_prediction.mean_log_us});
    }
    return chosen;
  }

  uint64_t seed_;
};

}  // namespace

std::unique_ptr<Proposer> make_evolve_proposer(uint64_t seed) { return std::make_unique<Evolve>(seed); }

}  // namespace kw
