// Forest: steps, interpolation, determinism, disagreement.
#include "learn/forest.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

const std::vector<std::vector<double>> kRows = {{0, 5}, {1, 5}, {2, 5}, {3, 5},
                                                {4, 5}, {5, 5}, {6, 5}, {7, 5}};
const std::vector<double> kStep = {1, 1, 1, 1, 9, 9, 9, 9};

TEST(Forest, learns_a_step) {
  const Forest forest = Forest::fit(kRows, kStep, {.trees = 50});
  EXPECT_NEAR(forest.predict(std::vector<double>{0, 5}).mean, 1, 0.5);
  EXPECT_NEAR(forest.predict(std::vector<double>{7, 5}).mean, 9, 0.5);
}

TEST(Forest, disagrees_most_at_the_edge_of_a_step) {
  const Forest forest = Forest::fit(kRows, kStep, {.trees = 50});
  EXPECT_GT(forest.predict(std::vector<double>{3.5, 5}).deviation,
            forest.predict(std::vector<double>{0, 5}).deviation);
}

TEST(Forest, gives_the_mean_when_nothing_tells_rows_apart) {
  const Forest forest = Forest::fit({{1}, {1}, {1}, {1}}, std::vector<double>{1, 2, 3, 6}, {.trees = 5});
  EXPECT_DOUBLE_EQ(forest.predict(std::vector<double>{1}).mean, 3);
  EXPECT_DOUBLE_EQ(forest.predict(std::vector<double>{1}).deviation, 0);
}

TEST(Forest, depends_on_its_seed_only) {
  const auto ask = [](uint64_t seed) {
    return Forest::fit(kRows, kStep, {.trees = 7, .seed = seed}).predict(std::vector<double>{3.6, 5}).mean;
  };
  EXPECT_EQ(ask(1), ask(1));
  bool differs = false;
  for (uint64_t seed = 2; seed < 12; ++seed) differs |= ask(seed) != ask(1);
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace kw
