// Expected improvement by hand and the choice of a batch.
#include "propose/screen.h"

#include <gtest/gtest.h>

#include "propose/history_test.h"

namespace kw {
namespace {

TEST(ExpectImprovement, equals_hand_values) {
  // z = 0: spread / sqrt(2 pi). z = 1: gap * 0.841345 + spread * 0.241971.
  EXPECT_NEAR(expect_improvement(2, {2, 0.5}), 0.5 * 0.3989423, 1e-6);
  EXPECT_NEAR(expect_improvement(3, {2, 1}), 0.8413447 + 0.2419707, 1e-6);
  EXPECT_DOUBLE_EQ(expect_improvement(3, {2, 0}), 1);
  EXPECT_DOUBLE_EQ(expect_improvement(1, {2, 0}), 0);
  EXPECT_GT(expect_improvement(1, {2, 1}), expect_improvement(1, {2, 0.5}));
}

// A model that knows the landscape and is sure.
class Oracle : public Regressor {
 public:
  explicit Oracle(const FakeSpace& space) : space_(space) {}
  std::unique_ptr<Predictor> fit(std::span<const Observation>, std::span<const ModelPoint>) const override {
    struct Known : Predictor {
      explicit Known(const FakeSpace& fake) : space(fake) {}
      Prediction predict(const ModelPoint& point) const override {
        FakeSpace::Point fields{};
        for (size_t f = 0; f < fields.size(); ++f) fields[f] = static_cast<int>(point.features[f]);
        return {std::log(space.time_us(FakeSpace::print(fields))), 0.01};
      }
      std::unique_ptr<Predictor> believe(const ModelPoint&) const override {
        return std::make_unique<Known>(space);
      }
      const FakeSpace& space;
    };
    return std::make_unique<Known>(space_);
  }

 private:
  const FakeSpace& space_;
};

std::vector<Child> draw_children(const FakeSpace& space, int count) {
  Random random(8);
  std::set<std::string> keys;
  while (static_cast<int>(keys.size()) < count) keys.insert(space.draw(random));
  std::vector<Child> children;
  for (const auto& key : keys) children.push_back({key, {}, Operator::kDraw, 0});
  return children;
}

TEST(ScreenChildren, takes_the_ones_an_exact_model_calls_fastest) {
  const FakeSpace space(11);
  SimulatedSearch search(space);
  std::vector<std::string> slowest = space.enumerate(1000);
  std::sort(slowest.begin(), slowest.end(),
            [&](auto& a, auto& b) { return space.time_us(a) > space.time_us(b); });
  for (size_t i = 0; i < 10; ++i) {
    search.history.push_back(make_evaluation("random", slowest[i], space.time_us(slowest[i])));
  }
  const std::vector<Child> children = draw_children(space, 200);
  std::vector<double> times;
  for (const auto& child : children) times.push_back(space.time_us(child.schedule));
  std::sort(times.begin(), times.end());
  ASSERT_LT(times[0], search.best_us());
  const Oracle oracle(space);
  const Archive archive(space, search.history);
  const auto chosen = screen_children(search.context(&oracle), archive, children, 3);
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_DOUBLE_EQ(space.time_us(chosen[0].schedule), times[0]);
  EXPECT_DOUBLE_EQ(space.time_us(chosen[1].schedule), times[1]);
}

TEST(ScreenChildren, avoids_a_cell_that_keeps_failing) {
  const FakeSpace space(11);
  SimulatedSearch search(space);
  std::vector<Child> children = draw_children(space, 200);
  const Oracle oracle(space);
  const std::string before =
      space.behaviour(screen_children(search.context(&oracle), Archive(space, {}), children, 1)[0].schedule);
  int failures = 0;
  for (const auto& key : space.enumerate(SIZE_MAX)) {
    if (space.behaviour(key) != before || failures == 200) continue;
    search.history.push_back(make_evaluation("seed", key, std::nullopt));
    ++failures;
  }
  const Archive archive(space, search.history);
  const auto chosen = screen_children(search.context(&oracle), archive, children, 1);
  EXPECT_NE(space.behaviour(chosen[0].schedule), before);
}

// Sure of what it has been told to believe, unsure of the rest; all means are equal.
class Curious : public Regressor {
 public:
  std::unique_ptr<Predictor> fit(std::span<const Observation>, std::span<const ModelPoint>) const override {
    struct Told : Predictor {
      Prediction predict(const ModelPoint& point) const override {
        const bool known = std::find(told.begin(), told.end(), point.features) != told.end();
        return {2, known ? 0.01 : 0.5 - 0.01 * point.features[0]};
      }
      std::unique_ptr<Predictor> believe(const ModelPoint& point) const override {
        auto more = std::make_unique<Told>(*this);
        more->told.push_back(point.features);
        return more;
      }
      std::vector<std::vector<double>> told;
    };
    return std::make_unique<Told>();
  }
};

TEST(ScreenChildren, looks_elsewhere_than_at_what_is_under_way) {
  const FakeSpace space(11);
  SimulatedSearch search(space);
  search.step(*make_random_proposer(1), 12);
  const std::string first = FakeSpace::print({0, 0, 0, 0, 0, 0, 0, 0});
  const std::string second = FakeSpace::print({1, 0, 0, 0, 0, 0, 0, 0});
  const std::vector<Child> children = {{first, {}, Operator::kDraw, 0}, {second, {}, Operator::kDraw, 0}};
  const Curious curious;
  const Archive archive(space, search.history);
  EXPECT_EQ(screen_children(search.context(&curious), archive, children, 1)[0].schedule, first);
  search.taken.insert(first);
  EXPECT_EQ(screen_children(search.context(&curious), archive, children, 1)[0].schedule, second);
}

TEST(ScreenChildren, gives_all_when_more_are_asked_for) {
  const FakeSpace space(11);
  SimulatedSearch search(space);
  search.step(*make_random_proposer(1), 12);
  const Oracle oracle(space);
  const Archive archive(space, search.history);
  EXPECT_EQ(screen_children(search.context(&oracle), archive, draw_children(space, 5), 9).size(), 5u);
  EXPECT_TRUE(screen_children(search.context(&oracle), archive, {}, 9).empty());
}

}  // namespace
}  // namespace kw
