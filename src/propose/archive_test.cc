// Archive: replay, islands, cells, operators.
#include "propose/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "propose/history_test.h"

namespace kw {
namespace {

std::string key(int f0, int f4, int f7, int f1 = 0) { return FakeSpace::print({f0, f1, 0, 0, f4, 0, 0, f7}); }

TEST(Archive, keeps_the_fastest_of_a_cell) {
  const FakeSpace space(1);
  ASSERT_EQ(space.behaviour(key(0, 0, 0)), space.behaviour(key(1, 0, 0)));
  std::vector<Evaluation> history = {make_evaluation("seed", key(0, 0, 0), 20)};
  history.push_back(make_evaluation("evolve", key(1, 0, 0), 10, {history[0].binary_hash}));
  history.push_back(make_evaluation("evolve", key(1, 0, 0, 1), 30, {history[0].binary_hash}));
  const Archive archive(space, history);
  const auto ranked = archive.rank_elites(0);
  ASSERT_EQ(ranked.size(), 1u);
  EXPECT_EQ(ranked[0].schedule, key(1, 0, 0));
  EXPECT_EQ(ranked[0].binary_hash, history[1].binary_hash);
}

TEST(Archive, puts_newcomers_on_islands_in_turn_and_children_with_their_first_parent) {
  const FakeSpace space(1);
  std::vector<Evaluation> history = {make_evaluation("seed", key(0, 0, 0), 10),
                                     make_evaluation("seed", key(0, 1, 0), 11),
                                     make_evaluation("seed", key(0, 2, 0), 12)};
  history.push_back(
      make_evaluation("evolve", key(2, 1, 0), 9, {history[1].binary_hash, history[0].binary_hash}));
  const Archive archive(space, history);
  EXPECT_EQ(archive.rank_elites(0).size(), 1u);
  ASSERT_EQ(archive.rank_elites(1).size(), 2u);
  EXPECT_EQ(archive.rank_elites(1)[0].schedule, key(2, 1, 0));
  EXPECT_EQ(archive.rank_elites(2).size(), 1u);
}

TEST(Archive, sends_the_best_of_each_island_on_after_24_evaluations) {
  const FakeSpace space(1);
  std::vector<Evaluation> history;
  for (int i = 0; i < 23; ++i)
    history.push_back(make_evaluation("seed", key(i % 6, i % 3, 0, i % 2), 100 + i));
  const size_t before = Archive(space, history).rank_elites(1).size();
  ASSERT_NE(Archive(space, history).rank_elites(1)[0].log_us, std::log(100.0));
  history.push_back(make_evaluation("seed", key(0, 0, 1), 200));
  const auto after = Archive(space, history).rank_elites(1);
  EXPECT_EQ(after[0].log_us, std::log(100.0));
  EXPECT_GE(after.size(), before);
}

TEST(Archive, counts_failures_against_their_cell_only) {
  const FakeSpace space(1);
  std::vector<Evaluation> history;
  for (int f1 = 0; f1 < 3; ++f1) history.push_back(make_evaluation("evolve", key(0, 0, 0, f1), std::nullopt));
  const Archive archive(space, history);
  EXPECT_TRUE(archive.empty());
  EXPECT_DOUBLE_EQ(archive.pass_share(space.behaviour(key(0, 0, 0))), 2.0 / 5.0);
  EXPECT_DOUBLE_EQ(archive.pass_share(space.behaviour(key(4, 2, 1))), 1.0);
}

TEST(Archive, prefers_the_operator_whose_children_are_fast) {
  const FakeSpace space(1);
  std::vector<Evaluation> history;
  for (int i = 0; i < 6; ++i) history.push_back(make_evaluation("seed", key(i, 0, 0), 100));
  for (int i = 0; i < 12; ++i) {
    history.push_back(
        make_evaluation("evolve", key(i % 6, 1, 0), 90 - i, {"a"}));  // mutations: better each time
    history.push_back(make_evaluation("evolve", key(i % 6, 2, 0), 200 + i, {"a", "b"}));  // crossovers: bad
  }
  const Archive archive(space, history);
  EXPECT_GT(archive.operator_share(Operator::kMutate), 0.5);
  EXPECT_GE(archive.operator_share(Operator::kCross), 0.1);
  double sum = 0;
  for (Operator op : {Operator::kDraw, Operator::kMutate, Operator::kCross})
    sum += archive.operator_share(op);
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Archive, chooses_fast_parents_more_often_but_not_only_them) {
  const FakeSpace space(1);
  std::vector<Evaluation> history = {make_evaluation("seed", key(0, 0, 0), 10)};
  for (int f0 = 2; f0 < 6; f0 += 2) {
    for (int f4 = 0; f4 < 3; ++f4) {
      history.push_back(make_evaluation("evolve", key(f0, f4, 0), 20 + f0 + f4, {history[0].binary_hash}));
    }
  }
  const Archive archive(space, history);
  const auto ranked = archive.rank_elites(0);
  ASSERT_EQ(ranked.size(), 7u);
  std::map<std::string, int> chosen;
  Random random(3);
  for (int i = 0; i < 2000; ++i) ++chosen[archive.choose_parent(ranked, random).schedule];
  EXPECT_EQ(chosen.size(), 7u);
  EXPECT_GT(chosen[ranked[0].schedule], 2 * chosen[ranked[6].schedule]);
}

TEST(Archive, ignores_other_families_and_keys_the_space_does_not_know) {
  const FakeSpace space(1);
  auto foreign = make_evaluation("user", key(0, 0, 0), 1);
  foreign.proposal.family = "free";
  const std::vector<Evaluation> history = {foreign, make_evaluation("user", "no such key", 1)};
  EXPECT_TRUE(Archive(space, history).empty());
}

}  // namespace
}  // namespace kw
