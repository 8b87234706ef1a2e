// The bar search.evolve.evaluations_ratio on landscapes whose times are simulated: evolve with its cost model
// on tables of 500 schedules against the exact expectation of random sampling. The measured bar stands in
// results/bars.json.
#include <gtest/gtest.h>

#include "learn/cost_model.h"
#include "learn/search_curve.h"
#include "propose/proposer.h"
#include "schedule/fake_space_test.h"
#include "target/recorded_space.h"

namespace kw {
namespace {

constexpr size_t kRows = 500;
constexpr double kBar = 0.33;

struct Landscape {
  uint64_t seed;
  double noise, relief, known_share;
  FakeSpace make() const { return FakeSpace(seed, noise, relief, known_share); }
};

std::vector<std::optional<double>> run_search(const FakeSpace& truth, const Space& space, double enough_us,
                                              uint64_t seed, int batch) {
  const auto evolve = make_evolve_proposer(seed);
  const auto model = make_cost_model();
  const Problem problem;
  std::vector<Evaluation> history;
  std::set<std::string> taken;
  std::vector<std::optional<double>> times;
  while (history.size() < kRows) {
    const auto proposals = evolve->propose({problem, space, history, taken, {}, model.get()}, batch);
    if (proposals.empty()) break;
    for (const Proposal& proposal : proposals) {
      Evaluation evaluation;
      evaluation.proposal = proposal;
      evaluation.binary_hash = proposal.schedule;
      evaluation.verdict.klass = VerdictClass::kPass;
      evaluation.timing.emplace().median_us = truth.time_us(proposal.schedule);
      times.push_back(evaluation.timing->median_us);
      taken.insert(proposal.schedule);
      history.push_back(std::move(evaluation));
      if (*times.back() <= enough_us) return times;
    }
  }
  return times;
}

SearchRuns run_landscape(const Landscape& landscape, int seeds, int batch) {
  const FakeSpace truth = landscape.make();
  Random random(landscape.seed, 7);
  std::set<std::string> keys;
  while (keys.size() < kRows) keys.insert(truth.draw(random));
  const auto space = make_recorded_space(std::make_unique<FakeSpace>(truth), {keys.begin(), keys.end()});
  KW_CHECK(space.has_value(), "no space");
  SearchRuns search;
  double best_us = INFINITY;
  for (const auto& key : keys) {
    search.table_us.push_back(truth.time_us(key));
    best_us = std::min(best_us, *search.table_us.back());
  }
  for (int seed = 0; seed < seeds; ++seed) {
    search.runs_us.push_back(
        run_search(truth, **space, best_us * (1 + kArrivalMargin), static_cast<uint64_t>(seed), batch));
  }
  return search;
}

double find_ratio(double noise, double relief, double known_share, int batch) {
  std::vector<SearchRuns> searches;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    searches.push_back(run_landscape({1000 + seed, noise, relief, known_share}, 2, batch));
  }
  const auto comparison = compare_with_random(searches);
  KW_CHECK(comparison.has_value(), "no comparison");
  return comparison->ratio;
}

TEST(EvolveRatio, is_far_below_the_bar_on_rugged_landscapes) {
  EXPECT_LT(find_ratio(0.06, 1, 0.6, 4), 0.7 * kBar);
}

TEST(EvolveRatio, is_below_the_bar_on_flat_noisy_landscapes) {
  EXPECT_LT(find_ratio(0.1, 0.4, 0.6, 4), kBar);
}

TEST(EvolveRatio, is_below_the_bar_when_the_analytic_model_knows_nothing) {
  EXPECT_LT(find_ratio(0.05, 1, 0, 4), kBar);
}

}  // namespace
}  // namespace kw
