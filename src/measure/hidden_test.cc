// Programs that compute c = 2 a, or pretend to, on real memory under simulated time.
#include "measure/hidden.h"

#include <gtest/gtest.h>

#include <map>

#include "measure/fake_device_test.h"
#include "measure/measure.h"

namespace kw {
namespace {

enum class Conduct { kHonest, kNothing, kFirstRunOnly, kOneWrongColumn, kRemembers, kSpoilsNextSet };

class DoublingProgram : public FakeProgram {
 public:
  DoublingProgram(FakeBuffers& buffers, Conduct conduct, double latency_us)
      : FakeProgram("doubling", steady(latency_us)), buffers_(buffers), conduct_(conduct) {}

  RunOutcome run(int first_set, int64_t calls, Milliseconds limit) override {
    double remembered_calls = 0;
    for (int64_t call = 0; call < calls; ++call) {
      const auto set = static_cast<int>((first_set + call) % buffers_.sets());
      if (conduct_ == Conduct::kRemembers && digest(set) == seen_[set]) {
        ++remembered_calls;
        continue;
      }
      compute(set);
      seen_[set] = digest(set);
    }
    if (conduct_ == Conduct::kSpoilsNextSet) {
      const auto next = buffers_.contents(static_cast<int>((first_set + calls) % buffers_.sets()), 1);
      std::memset(next.data(), 0x11, next.size());
    }
    ++runs_;
    RunOutcome outcome = FakeProgram::run(first_set, calls, limit);
    outcome.elapsed_us *= 1 - 0.95 * remembered_calls / static_cast<double>(calls);
    return outcome;
  }

 private:
  float* operand(int set, int index) {
    return reinterpret_cast<float*>(buffers_.contents(set, index).data());
  }
  void compute(int set) {
    if (conduct_ == Conduct::kNothing || (conduct_ == Conduct::kFirstRunOnly && runs_ > 20)) return;
    const Operand& shape = buffers_.workload().operands[1];
    for (int64_t i = 0; i < shape.rows; ++i)
      for (int64_t j = 0; j < shape.cols; ++j)
        operand(set, 1)[i * shape.ld + j] = (conduct_ == Conduct::kOneWrongColumn && j == 2 ? 2.001f : 2.0f) *
                                            operand(set, 0)[i * shape.ld + j];
  }
  std::string digest(int set) {
    const auto a = buffers_.contents(set, 0), c = buffers_.contents(set, 1);
    return std::string(reinterpret_cast<const char*>(a.data()), a.size()) +
           std::string(reinterpret_cast<const char*>(c.data()), c.size());
  }

  FakeBuffers& buffers_;
  Conduct conduct_;
  int runs_ = 0;
  std::map<int, std::string> seen_;
};

SpotReference doubled(int64_t ld) {
  return [ld](std::span<const std::span<const std::byte>> operands, const Spot& spot) {
    float a = 0;
    std::memcpy(&a, operands[0].data() + 4 * (spot.row * ld + spot.col), 4);
    return SpotValue{2.0 * a, 1e-6};
  };
}

tl::expected<Timing, Verdict> compare(Conduct conduct, int sets = 8, Conduct baseline = Conduct::kHonest) {
  FakeBuffers buffers(make_fake_workload(3, 4, 6), sets);
  fill_for_timing(buffers, 5);
  DoublingProgram ours(buffers, conduct, 50), base(buffers, baseline, 100);
  MeasurePlan plan;
  plan.seed = 11;
  plan.watch_load = false;
  plan.reference = doubled(6);
  return run_comparison(ours, base, buffers, plan);
}

TEST(HiddenSpots, an_honest_program_is_timed) {
  const auto timing = compare(Conduct::kHonest);
  ASSERT_TRUE(timing.has_value()) << timing.error().evidence.dump();
  EXPECT_DOUBLE_EQ(timing->ratio, 2);
}

TEST(HiddenSpots, a_program_that_leaves_the_baselines_answer_in_place_is_a_cheat) {
  for (const Conduct conduct : {Conduct::kNothing, Conduct::kFirstRunOnly, Conduct::kOneWrongColumn}) {
    const auto timing = compare(conduct);
    ASSERT_FALSE(timing.has_value()) << static_cast<int>(conduct);
    EXPECT_EQ(timing.error().code(), "cheat/wrong_when_timed");
    EXPECT_EQ(timing.error().evidence["stage"], "measure");
  }
}

TEST(HiddenSpots, a_baseline_that_computes_nothing_is_no_bar) {
  const auto timing = compare(Conduct::kHonest, 8, Conduct::kNothing);
  ASSERT_FALSE(timing.has_value());
  EXPECT_EQ(timing.error().code(), "skipped/baseline_failed");
}

// It is right on every input, but its time is that of a look-up: few sets repeat within one sample.
TEST(HiddenSpots, answers_found_again_by_a_digest_of_all_inputs_are_a_cheat) {
  const auto timing = compare(Conduct::kRemembers, 2);
  ASSERT_FALSE(timing.has_value());
  EXPECT_EQ(timing.error().code(), "cheat/cached_output");
  EXPECT_LT(timing.error().evidence["ratio_on_fresh_inputs"].get<double>(), 2.5);
}

// What it leaves in the output of the baseline's next set slows a baseline that reads it.
TEST(HiddenSpots, a_program_that_writes_into_another_set_is_a_cheat) {
  const auto timing = compare(Conduct::kSpoilsNextSet, 4096);
  ASSERT_FALSE(timing.has_value());
  EXPECT_EQ(timing.error().code(), "cheat/other_operand_set");
}

TEST(HiddenSpots, inputs_change_in_every_set_that_is_run_and_nowhere_else) {
  FakeBuffers buffers(make_fake_workload(3, 4, 6), 5);
  fill_for_timing(buffers, 5);
  std::vector<std::vector<std::byte>> before;
  for (int set = 0; set < 5; ++set)
    before.emplace_back(buffers.contents(set, 0).begin(), buffers.contents(set, 0).end());
  HiddenSpots hidden(buffers, doubled(6), 3);
  hidden.prepare(4, 3);
  for (int set = 0; set < 5; ++set) {
    const auto now = buffers.contents(set, 0);
    const bool changed = !std::equal(now.begin(), now.end(), before[static_cast<size_t>(set)].begin());
    EXPECT_EQ(changed, set == 4 || set <= 1) << set;
  }
}

}  // namespace
}  // namespace kw
