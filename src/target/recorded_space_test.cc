// RecordedSpace: never leaves the table.
#include "target/recorded_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/fake_space_test.h"

namespace kw {
namespace {

class RecordedSpaceTest : public testing::Test {
 protected:
  RecordedSpaceTest() : full_(6) {
    Random random(1);
    std::set<std::string> keys;
    while (keys.size() < 60) keys.insert(full_.draw(random));
    keys_.assign(keys.begin(), keys.end());
    auto space = make_recorded_space(std::make_unique<FakeSpace>(6), keys_);
    KW_CHECK(space.has_value(), "no space");
    space_ = std::move(*space);
  }
  bool in_table(const std::string& key) const {
    return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
  }
  FakeSpace full_;
  std::vector<std::string> keys_;
  std::unique_ptr<Space> space_;
};

TEST_F(RecordedSpaceTest, draws_every_row_about_equally_often) {
  Random random(2);
  std::map<std::string, int> drawn;
  for (int i = 0; i < 6000; ++i) ++drawn[space_->draw(random)];
  EXPECT_EQ(drawn.size(), keys_.size());
  for (const auto& [key, count] : drawn) {
    EXPECT_TRUE(in_table(key));
    EXPECT_GT(count, 50);
    EXPECT_LT(count, 170);
  }
}

TEST_F(RecordedSpaceTest, moves_end_on_other_rows) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const std::string a = space_->draw(random), b = space_->draw(random);
    const std::string mutated = space_->mutate(a, random), crossed = space_->cross(a, b, random);
    EXPECT_TRUE(in_table(mutated));
    EXPECT_NE(mutated, a);
    EXPECT_TRUE(in_table(crossed));
    EXPECT_NE(crossed, a);
    EXPECT_NE(crossed, b);
  }
}

TEST_F(RecordedSpaceTest, a_mutation_stays_nearer_than_a_draw) {
  Random random(4);
  const auto distance = [&](const std::string& a, const std::string& b) {
    const auto x = full_.features(a), y = full_.features(b);
    double sum = 0;
    for (size_t d = 0; d < x.size(); ++d) sum += std::abs(x[d] - y[d]);
    return sum;
  };
  double mutated = 0, drawn = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string key = space_->draw(random);
    mutated += distance(key, space_->mutate(key, random));
    drawn += distance(key, space_->draw(random));
  }
  EXPECT_LT(mutated, 0.7 * drawn);
}

TEST_F(RecordedSpaceTest, enumerates_and_ranks_the_rows_only) {
  EXPECT_THAT(space_->enumerate(1000), testing::UnorderedElementsAreArray(keys_));
  EXPECT_EQ(space_->enumerate(7).size(), 7u);
  const auto ranked = space_->rank(1000);
  EXPECT_THAT(ranked, testing::UnorderedElementsAreArray(keys_));
  for (size_t i = 1; i < ranked.size(); ++i) {
    EXPECT_LE(full_.predict_us(ranked[i - 1]), full_.predict_us(ranked[i]));
  }
}

TEST_F(RecordedSpaceTest, calls_all_else_illegal_with_the_reason) {
  Random random(5);
  std::string outside;
  do outside = full_.draw(random);
  while (in_table(outside));
  EXPECT_EQ(space_->find_illegality(outside), "not in the recorded table");
  EXPECT_EQ(space_->find_illegality(keys_[0]), std::nullopt);
  EXPECT_EQ(space_->find_illegality("nonsense"), full_.find_illegality("nonsense"));
}

TEST_F(RecordedSpaceTest, leaves_out_illegal_rows_and_refuses_an_empty_rest) {
  const std::string illegal = FakeSpace::print({5, 3, 0, 0, 0, 0, 0, 0});
  const auto space = make_recorded_space(std::make_unique<FakeSpace>(6), {illegal, keys_[0], keys_[0]});
  ASSERT_TRUE(space.has_value());
  EXPECT_THAT((*space)->enumerate(9), testing::ElementsAre(keys_[0]));
  Random random(1);
  EXPECT_EQ((*space)->mutate(keys_[0], random), keys_[0]);
  EXPECT_FALSE(make_recorded_space(std::make_unique<FakeSpace>(6), {illegal}).has_value());
}

TEST_F(RecordedSpaceTest, takes_the_rows_of_one_problem_and_family) {
  const std::string problem = "gemm f32 nn m2 n2 k2 lda2 ldb2 ldc2 alpha1 beta0";
  std::string text = std::string(kMeasurementsHeader) + "\n";
  text += problem + ",fake," + keys_[0] + ",aa,pass,1,1,1,cpu,1,,,,,,,\n";
  text += problem + ",fake," + keys_[1] + ",,illegal/undefined_symbol,,,,cpu,1,,,,,,,\n";
  text += problem + ",fake," + keys_[2] + ",bb,crash/signal,,,,cpu,1,,,,,,,\n";
  text += problem + ",other," + keys_[3] + ",cc,pass,1,1,1,cpu,1,,,,,,,\n";
  const auto table = RecordedTable::parse(text, "table.csv");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  const auto space = make_recorded_space(std::make_unique<FakeSpace>(6), *table, problem);
  ASSERT_TRUE(space.has_value());
  EXPECT_THAT((*space)->enumerate(9), testing::UnorderedElementsAre(keys_[0], keys_[2]));
  EXPECT_FALSE(make_recorded_space(std::make_unique<FakeSpace>(6), *table, "gemm f32 nn").has_value());
}

}  // namespace
}  // namespace kw
