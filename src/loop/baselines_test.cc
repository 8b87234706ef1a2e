// Who may be the bar, on a device of simulated times.
#include "loop/baselines.h"

#include <gmock/gmock.h>

#include "measure/fake_device_test.h"

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ChooseBaselines : public testing::Test {
 protected:
  ChosenBaselines choose(const std::vector<std::string>& names) {
    choice_.find_fault = [this](const std::string& name) -> Result<std::optional<std::string>> {
      asked_.push_back(name);
      return name == "wrong" ? std::optional<std::string>("wrong_result/k_tail") : std::nullopt;
    };
    FakeBuffers buffers(make_fake_workload(4, 4, 4), 4);
    auto chosen = choose_baselines(device_, buffers, names, choice_);
    EXPECT_TRUE(chosen) << chosen.error().message;
    return *std::move(chosen);
  }
  FakeDevice device_;
  BaselineChoice choice_{.most = 2};
  std::vector<std::string> asked_;
};

TEST_F(ChooseBaselines, takes_the_fastest_right_ones_and_looks_at_no_more) {
  device_.routines = {
      {"slow", steady(50)}, {"wrong", steady(1)}, {"fast", steady(20)}, {"middling", steady(30)}};
  const ChosenBaselines chosen = choose({"slow", "wrong", "middling", "fast"});
  EXPECT_THAT(chosen.names, ElementsAre("fast", "middling"));
  EXPECT_THAT(asked_, ElementsAre("wrong", "fast", "middling"));
  ASSERT_EQ(chosen.refused.size(), 1U);
  EXPECT_EQ(chosen.refused[0].name, "wrong");
  EXPECT_EQ(chosen.refused[0].refused, "wrong_result/k_tail");
}

TEST_F(ChooseBaselines, looks_at_wanted_ones_too_and_at_each_routine_once) {
  device_.routines = {{"slow", steady(50)}, {"fast", steady(20)}, {"middling", steady(30)}};
  choice_.always = {"slow"};
  EXPECT_THAT(choose({"slow", "middling", "fast", "fast", "slow"}).names,
              ElementsAre("fast", "middling", "slow", "slow"));
  EXPECT_THAT(asked_, ElementsAre("fast", "middling", "slow"));
}

TEST_F(ChooseBaselines, one_that_does_not_start_is_refused_and_no_error) {
  device_.routines = {{"fast", steady(20)}};
  const ChosenBaselines chosen = choose({"missing", "fast"});
  EXPECT_THAT(chosen.names, ElementsAre("fast"));
  ASSERT_EQ(chosen.refused.size(), 1U);
  EXPECT_THAT(chosen.refused[0].refused, HasSubstr("missing is not installed"));
}

}  // namespace
}  // namespace kw
