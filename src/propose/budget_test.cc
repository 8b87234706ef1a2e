// BudgetSplitter: totals, first round, earnings, floors.
#include <gtest/gtest.h>

#include <numeric>

#include "propose/history_test.h"

namespace kw {
namespace {

const std::vector<std::string> kBoth = {"seed", "evolve"};

std::vector<Evaluation> make_history(const std::vector<std::pair<std::string, double>>& steps) {
  std::vector<Evaluation> history;
  for (const auto& [proposer, us] : steps) history.push_back(make_evaluation(proposer, "fake", us));
  return history;
}

TEST(BudgetSplitter, gives_seed_most_of_the_first_round) {
  const BudgetSplitter splitter;
  EXPECT_EQ(splitter.split(kBoth, {}, 16), (std::vector<int>{12, 4}));
  EXPECT_EQ(splitter.split({"evolve", "seed"}, {}, 16), (std::vector<int>{4, 12}));
  EXPECT_EQ(splitter.split({"evolve", "random"}, {}, 16), (std::vector<int>{8, 8}));
  EXPECT_EQ(splitter.split({"seed"}, {}, 5), (std::vector<int>{5}));
}

TEST(BudgetSplitter, always_gives_exactly_the_total) {
  const BudgetSplitter splitter;
  std::vector<Evaluation> history;
  for (int total = 0; total < 12; ++total) {
    const auto counts = splitter.split({"seed", "evolve", "random"}, history, total);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), total);
    for (int count : counts) EXPECT_GE(count, 0);
    history.push_back(make_evaluation("evolve", "fake", 100 - total));
  }
}

TEST(BudgetSplitter, follows_who_improves_the_best) {
  std::vector<std::pair<std::string, double>> steps = {{"seed", 100}};
  for (int i = 0; i < 20; ++i) {
    steps.push_back({"seed", 120});
    steps.push_back({"evolve", 99 - 2 * i});
  }
  const auto history = make_history(steps);
  const auto counts = BudgetSplitter().split(kBoth, history, 20);
  EXPECT_GE(counts[1], 15);
  EXPECT_GE(counts[0], 2);  // the floor
}

TEST(BudgetSplitter, forgets_old_merit) {
  std::vector<std::pair<std::string, double>> steps = {{"seed", 100}};
  for (int i = 0; i < 10; ++i) steps.push_back({"seed", 95 - 3 * i});
  const auto early = BudgetSplitter().split(kBoth, make_history(steps), 100);
  for (int i = 0; i < 150; ++i) steps.push_back({"seed", 200});
  const auto late = BudgetSplitter().split(kBoth, make_history(steps), 100);
  EXPECT_GT(early[0], 50);
  EXPECT_LT(late[0], 35);
}

TEST(BudgetSplitter, counts_failures_as_used_proposals) {
  std::vector<Evaluation> history = make_history({{"seed", 100}, {"evolve", 90}, {"seed", 80}});
  const auto before = BudgetSplitter().split(kBoth, history, 1000);
  for (int i = 0; i < 30; ++i) history.push_back(make_evaluation("evolve", "fake", std::nullopt));
  const auto after = BudgetSplitter().split(kBoth, history, 1000);
  EXPECT_LT(after[1], before[1]);
}

TEST(BudgetSplitter, starves_nobody_in_rounds_of_one) {
  std::vector<Evaluation> history = make_history({{"seed", 100}});
  for (int i = 0; i < 10; ++i) history.push_back(make_evaluation("seed", "fake", 90 - 5 * i));
  int evolve_rounds = 0;
  for (int i = 0; i < 100; ++i) {
    const auto counts = BudgetSplitter().split(kBoth, history, 1);
    evolve_rounds += counts[1];
    history.push_back(make_evaluation(counts[1] ? "evolve" : "seed", "fake", 500));
  }
  EXPECT_GE(evolve_rounds, 10);
}

}  // namespace
}  // namespace kw
