// What every proposer promises, and what seed, random and evolve add.
#include "propose/proposer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "propose/history_test.h"

namespace kw {
namespace {

using Make = std::unique_ptr<Proposer> (*)(uint64_t);

std::vector<std::string> list_keys(const std::vector<Proposal>& proposals) {
  std::vector<std::string> keys;
  for (const auto& proposal : proposals) keys.push_back(proposal.schedule);
  return keys;
}

// Predicts the analytic time, with a constant spread: enough to exercise the screen.
class PriorOnly : public Regressor {
 public:
  std::unique_ptr<Predictor> fit(std::span<const Observation>, std::span<const ModelPoint>) const override {
    struct Prior : Predictor {
      Prediction predict(const ModelPoint& point) const override { return {point.prior_log_us, 0.1}; }
      std::unique_ptr<Predictor> believe(const ModelPoint&) const override {
        return std::make_unique<Prior>();
      }
    };
    return std::make_unique<Prior>();
  }
};

class EveryProposer : public testing::TestWithParam<std::pair<Make, bool>> {
 protected:
  std::unique_ptr<Proposer> make(uint64_t seed) const { return GetParam().first(seed); }
  const Regressor* regressor() const { return GetParam().second ? &prior_ : nullptr; }
  PriorOnly prior_;
};

TEST_P(EveryProposer, gives_new_legal_distinct_schedules) {
  const FakeSpace space(3);
  SimulatedSearch search(space);
  const auto proposer = make(5);
  std::set<std::string> all;
  for (int round = 0; round < 12; ++round) {
    const auto proposals = search.step(*proposer, 7, regressor());
    ASSERT_EQ(proposals.size(), 7u);
    for (const auto& proposal : proposals) {
      EXPECT_EQ(proposal.proposer, proposer->name());
      EXPECT_EQ(proposal.family, "fake");
      EXPECT_EQ(proposal.seed, 5u);
      EXPECT_FALSE(proposal.note.empty());
      EXPECT_EQ(space.find_illegality(proposal.schedule), std::nullopt);
      EXPECT_TRUE(all.insert(proposal.schedule).second) << proposal.schedule << " came twice";
    }
  }
}

TEST_P(EveryProposer, goes_on_the_same_after_a_restart) {
  const FakeSpace space(4);
  SimulatedSearch search(space);
  const auto kept = make(9);
  for (int round = 0; round < 6; ++round) search.step(*kept, 5, regressor());
  const auto restarted = make(9);
  EXPECT_EQ(list_keys(restarted->propose(search.context(regressor()), 5)),
            list_keys(kept->propose(search.context(regressor()), 5)));
}

TEST_P(EveryProposer, never_repeats_what_is_under_way) {
  const FakeSpace space(4);
  SimulatedSearch search(space);
  const auto proposer = make(9);
  search.step(*proposer, 5, regressor());
  const auto first = proposer->propose(search.context(regressor()), 5);
  for (const auto& proposal : first) search.taken.insert(proposal.schedule);  // proposed, not measured yet
  for (const auto& proposal : proposer->propose(search.context(regressor()), 5)) {
    EXPECT_THAT(list_keys(first), testing::Not(testing::Contains(proposal.schedule)));
  }
}

TEST_P(EveryProposer, finds_the_last_free_schedules_and_then_gives_none) {
  const FakeSpace space(4);
  SimulatedSearch search(space);
  const auto keys = space.enumerate(SIZE_MAX);
  ASSERT_GT(keys.size(), 1000u);
  search.taken.insert(keys.begin(), keys.end());
  search.taken.erase(keys[100]);
  search.taken.erase(keys[777]);
  const auto proposer = make(2);
  EXPECT_THAT(list_keys(proposer->propose(search.context(regressor()), 4)),
              testing::UnorderedElementsAre(keys[100], keys[777]));
  search.taken.insert({keys[100], keys[777]});
  EXPECT_TRUE(proposer->propose(search.context(regressor()), 4).empty());
  EXPECT_TRUE(proposer->propose(search.context(regressor()), 0).empty());
}

INSTANTIATE_TEST_SUITE_P(all, EveryProposer,
                         testing::Values(std::pair(&make_seed_proposer, false),
                                         std::pair(&make_random_proposer, false),
                                         std::pair(&make_evolve_proposer, false),
                                         std::pair(&make_evolve_proposer, true)));

TEST(SeedProposer, starts_with_the_best_of_the_analytic_model) {
  const FakeSpace space(3);
  const SimulatedSearch search(space);
  const auto proposals = make_seed_proposer(0)->propose(search.context(), 6);
  EXPECT_EQ(proposals[0].schedule, space.rank(1)[0]);
  EXPECT_EQ(proposals[0].note, "analytic rank 1");
  std::set<std::string> cells;
  for (const auto& proposal : proposals) cells.insert(space.behaviour(proposal.schedule));
  std::set<std::string> plain_cells;
  for (const auto& key : space.rank(6)) plain_cells.insert(space.behaviour(key));
  EXPECT_GT(cells.size(), plain_cells.size());
}

TEST(SeedProposer, tries_winners_of_similar_problems_first_where_legal_and_new) {
  const FakeSpace space(3);
  SimulatedSearch search(space);
  const std::string illegal = FakeSpace::print({5, 3, 0, 0, 0, 0, 0, 0});
  const std::string taken = FakeSpace::print({1, 1, 0, 0, 0, 0, 0, 0});
  const std::string good = FakeSpace::print({2, 1, 3, 3, 2, 3, 1, 0});
  ASSERT_TRUE(space.find_illegality(illegal));
  search.taken.insert(taken);
  ProposeContext context = search.context();
  context.neighbours = {illegal, taken, good, "of another family", good};
  const auto proposals = make_seed_proposer(0)->propose(context, 3);
  ASSERT_EQ(proposals.size(), 3u);
  EXPECT_EQ(proposals[0].schedule, good);
  EXPECT_EQ(proposals[0].note, "won on a similar problem");
  EXPECT_EQ(proposals[1].schedule, space.rank(1)[0]);
}

TEST(RandomProposer, differs_by_seed_and_ignores_the_analytic_model) {
  const FakeSpace space(3);
  const SimulatedSearch search(space);
  const auto first = list_keys(make_random_proposer(1)->propose(search.context(), 20));
  EXPECT_NE(first, list_keys(make_random_proposer(2)->propose(search.context(), 20)));
  EXPECT_EQ(first, list_keys(make_random_proposer(1)->propose(search.context(), 20)));
}

TEST(EvolveProposer, names_parents_of_children) {
  const FakeSpace space(3);
  SimulatedSearch search(space);
  search.step(*make_seed_proposer(0), 10);
  std::set<std::string> hashes;
  for (const auto& evaluation : search.history) hashes.insert(evaluation.binary_hash);
  size_t with_parents = 0;
  for (const auto& proposal : make_evolve_proposer(0)->propose(search.context(), 20)) {
    ASSERT_LE(proposal.parents.size(), 2u);
    with_parents += !proposal.parents.empty();
    for (const auto& parent : proposal.parents) EXPECT_TRUE(hashes.count(parent)) << parent;
  }
  EXPECT_GT(with_parents, 5u);
}

TEST(EvolveProposer, beats_random_sampling_without_a_model_on_most_landscapes) {
  int wins = 0;
  for (uint64_t landscape = 0; landscape < 10; ++landscape) {
    const FakeSpace space(50 + landscape);
    SimulatedSearch evolved(space), drawn(space);
    const auto evolve = make_evolve_proposer(landscape);
    const auto random = make_random_proposer(landscape);
    for (int round = 0; round < 30; ++round) {
      evolved.step(*evolve, 5);
      drawn.step(*random, 5);
    }
    wins += evolved.best_us() < drawn.best_us();
  }
  EXPECT_GE(wins, 8);
}

TEST(EvolveProposer, goes_on_when_all_so_far_failed) {
  const FakeSpace space(3);
  SimulatedSearch search(space);
  for (const auto& key : space.rank(20)) {
    search.taken.insert(key);
    search.history.push_back(make_evaluation("seed", key, std::nullopt));
  }
  const PriorOnly prior;
  EXPECT_EQ(make_evolve_proposer(0)->propose(search.context(&prior), 6).size(), 6u);
  EXPECT_EQ(make_evolve_proposer(0)->propose(search.context(), 6).size(), 6u);
}

}  // namespace
}  // namespace kw
