#include "store/store.h"

#include <gmock/gmock.h>

#include "store/impl.h"
#include "store/sample_test.h"

namespace kw::test {
namespace {

using ::testing::HasSubstr;

class StoreTest : public StoreFiles {};

int64_t count(const Store& store, const std::string& table) {
  return *store.impl().database->get_integer("SELECT count(*) FROM " + table);
}

TEST_F(StoreTest, gives_back_every_field_of_an_evaluation) {
  Store store = open();
  const Evaluation pass = make_pass("mr=6,nr=16");
  Evaluation failure = make_failure("mr=8");
  failure.proposal.parents.clear();
  failure.finished_s = 13;
  Evaluation error = make_compile_error("mr=99");
  error.finished_s = 14;
  Evaluation free;
  free.problem = kProblem;
  free.proposal.proposer = "user";
  free.proposal.family = "free";
  free.proposal.free_text = "void kernel() {}";
  free.proposal.free_language = "c";
  free.proposal.free_launch = make_launch();
  free.verdict.klass = VerdictClass::kIllegal;
  free.verdict.reason = "writable_data";
  free.finished_s = 15;
  Evaluation promoted = make_pass("mr=4", 2.5);
  promoted.verdict.promoted = true;
  promoted.timing->confirmed = true;
  promoted.timing->disturbed = false;
  promoted.timing->note.clear();
  promoted.timing->latency_us.clear();
  promoted.timing->baseline_latency_us.clear();
  promoted.finished_s = 16;
  const std::vector<Evaluation> all = {pass, failure, error, free, promoted};
  add(store, start_run(store), all);

  for (const bool full : {true, false}) {
    const auto found = find(store, full);
    ASSERT_EQ(found.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(i);
      expect_same(found[i], all[i], full);
    }
  }
  EXPECT_EQ(count(store, "samples"), 1);  // none for the empty vectors
}

TEST_F(StoreTest, gives_back_an_evaluation_with_nothing_but_a_verdict) {
  Store store = open();
  Evaluation bare;
  bare.problem = kProblem;
  bare.verdict.reason = "device missing";
  add(store, start_run(store), {bare});
  const auto found = find(store);
  ASSERT_EQ(found.size(), 1u);
  expect_same(found[0], bare);
}

TEST_F(StoreTest, keeps_what_was_added_when_opened_again) {
  {
    Store store = open();
    add(store, start_run(store), {make_pass("a")});
  }
  const Store again = open();
  expect_same(find(again).at(0), make_pass("a"));
}

TEST_F(StoreTest, gives_back_every_field_of_runs_baselines_and_decisions) {
  Store store = open();
  const int64_t run = start_run(store);
  add(store, run, {make_pass("a")});
  const BaselineRecord measured{kProblem, "onednn", "3.0", 0.1, ""},
      refused{kProblem, "libxsmm", "1.17", {}, "wrong"};
  ASSERT_TRUE(store.add_baselines(run, {measured, refused}));
  Timing confirmation = *make_pass("a").timing;
  confirmation.confirmed = true;
  confirmation.ratio = 1.05;
  confirmation.ratio_low = 1.01;
  const Decision kernel{kProblem, make_hash("a"),       "onednn", 1.05, 1.01, 1.2, 10.5,
                        11.5,     "interval excludes 1"};
  const Decision vendor{kOtherProblem, "", "openblas", 1, 1, 1, 0, 0, "no kernel beat openblas"};
  ASSERT_TRUE(store.add_decision(run, kernel, confirmation));
  ASSERT_TRUE(store.add_decision(run, vendor, std::nullopt));
  ASSERT_TRUE(store.finish_run(run, "done"));

  const auto runs = *list_runs(store);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].id, run);
  EXPECT_EQ(runs[0].run.command, make_run().command);
  EXPECT_EQ(runs[0].run.seed, make_run().seed);
  EXPECT_EQ(runs[0].run.version, "0.1.0");
  EXPECT_EQ(print_device(runs[0].run.device), print_device(make_device()));
  EXPECT_EQ(runs[0].device_key, make_device().key());
  EXPECT_EQ(runs[0].how, "done");
  EXPECT_FALSE(runs[0].imported);
  EXPECT_LE(runs[0].started, runs[0].ended);
  EXPECT_EQ(runs[0].started.size(), std::string("2025-01-31T12:00:00.000000Z").size());

  const auto baselines = *find_baseline_rows(store, kProblem, make_device().key());
  ASSERT_EQ(baselines.size(), 2u);
  EXPECT_EQ(baselines[0].name, "libxsmm");
  EXPECT_EQ(baselines[0].median_us, std::nullopt);
  EXPECT_EQ(baselines[0].refused, "wrong");
  EXPECT_EQ(baselines[1].version, "3.0");
  EXPECT_EQ(baselines[1].median_us, 0.1);
  EXPECT_EQ(baselines[1].refused, "");

  const auto decisions = *find_decisions(store);
  ASSERT_EQ(decisions.size(), 2u);
  const DecisionRow& first = decisions[1].decision.problem == kProblem ? decisions[1] : decisions[0];
  const DecisionRow& second = decisions[1].decision.problem == kProblem ? decisions[0] : decisions[1];
  EXPECT_EQ(first.decision.binary_hash, make_hash("a"));
  EXPECT_EQ(first.decision.baseline, "onednn");
  EXPECT_EQ(first.decision.ratio, 1.05);
  EXPECT_EQ(first.decision.ratio_low, 1.01);
  EXPECT_EQ(first.decision.ratio_high, 1.2);
  EXPECT_EQ(first.decision.median_us, 10.5);
  EXPECT_EQ(first.decision.baseline_median_us, 11.5);
  EXPECT_EQ(first.decision.reason, "interval excludes 1");
  EXPECT_EQ(first.kernel_name, "gemm_cpu_a");
  EXPECT_EQ(first.schedule, "a");
  EXPECT_EQ(first.run_command, make_run().command);
  EXPECT_FALSE(first.imported_only);
  EXPECT_EQ(print_device(first.device), print_device(make_device()));
  expect_same(first.confirmation, confirmation);
  EXPECT_EQ(second.decision.binary_hash, "");
  EXPECT_EQ(second.decision.ratio, 1);
  EXPECT_EQ(second.decision.reason, "no kernel beat openblas");
  EXPECT_FALSE(second.confirmation);
  expect_same(find(store).at(0), make_pass("a"));  // the confirmation did not touch the search's timing
}

TEST_F(StoreTest, keeps_the_later_baseline_and_decision_of_a_run) {
  Store store = open();
  const int64_t run = start_run(store);
  add(store, run, {make_pass("a")});
  for (const double median_us : {5.0, 4.0}) {
    ASSERT_TRUE(store.add_baselines(run, {{kProblem, "onednn", "3", median_us, ""}}));
    ASSERT_TRUE(store.add_decision(run, {kProblem, make_hash("a"), "onednn", 1.1, 1, 2, median_us, 5, "why"},
                                   make_pass("a").timing));
  }
  EXPECT_EQ(find_baseline_rows(store, kProblem, make_device().key())->at(0).median_us, 4.0);
  EXPECT_EQ(find_decisions(store)->at(0).decision.median_us, 4.0);
  EXPECT_EQ(count(store, "baselines"), 1);
  EXPECT_EQ(count(store, "timings"), 2);
  const int64_t next = start_run(store);
  ASSERT_TRUE(store.add_decision(next, {kProblem, "", "onednn", 1, 1, 1, 0, 0, "changed"}, std::nullopt));
  ASSERT_EQ(find_decisions(store)->size(), 1u);
  EXPECT_EQ(find_decisions(store)->at(0).decision.reason, "changed");
}

TEST_F(StoreTest, keeps_one_text_once) {
  Store store = open();
  Evaluation a = make_pass("a"), b = make_pass("b");
  b.source_text = a.source_text;
  add(store, start_run(store), {a, b});
  EXPECT_EQ(count(store, "sources"), 1);
}

TEST_F(StoreTest, keeps_the_first_of_two_measurements_of_one_binary) {
  Store store = open();
  const int64_t run = start_run(store);
  add(store, run, {make_pass("a", 1.1)});
  add(store, run, {make_pass("a", 1.9)});
  const int64_t other_run = start_run(store);
  add(store, other_run, {make_pass("a", 2.9)});
  ASSERT_EQ(find(store).size(), 1u);
  expect_same(find(store)[0], make_pass("a", 1.1));
}

TEST_F(StoreTest, keeps_devices_and_problems_apart) {
  Store store = open();
  const int64_t one = start_run(store, 1), two = start_run(store, 2);
  add(store, one, {make_pass("a", 1.1), make_pass("a", 1.3, kOtherProblem)});
  add(store, two, {make_pass("a", 1.2)});
  EXPECT_EQ(find(store, true, kProblem, 1).at(0).timing->ratio, 1.1);
  EXPECT_EQ(find(store, true, kProblem, 2).at(0).timing->ratio, 1.2);
  EXPECT_EQ(find(store, true, kOtherProblem, 1).at(0).timing->ratio, 1.3);
  EXPECT_TRUE(find(store, true, kOtherProblem, 2).empty());
}

TEST_F(StoreTest, remembers_a_compile_error_once_and_a_later_binary_beside_it) {
  Store store = open();
  const int64_t run = start_run(store);
  add(store, run, {make_compile_error("a")});
  add(store, run, {make_compile_error("a"), make_compile_error("b")});
  EXPECT_EQ(find(store).size(), 2u);
  add(store, run, {make_pass("a")});  // another compiler builds it
  EXPECT_EQ(find(store).size(), 3u);
}

TEST_F(StoreTest, shares_the_verdict_among_schedules_of_one_binary) {
  Store store = open();
  Evaluation first = make_pass("a", 1.1), second = make_pass("b", 1.9);
  second.binary_hash = second.verdict.binary_hash = second.timing->binary_hash = first.binary_hash;
  second.finished_s = 20;
  add(store, start_run(store), {first, second});
  const auto found = find(store);
  ASSERT_EQ(found.size(), 2u);
  expect_same(found[0], first);
  EXPECT_EQ(found[1].proposal.schedule, "b");
  EXPECT_EQ(found[1].timing->ratio, 1.1);
  EXPECT_EQ(count(store, "samples"), 1);
}

TEST_F(StoreTest, lets_a_real_verdict_replace_a_skipped_one) {
  Store store = open();
  const int64_t run = start_run(store);
  Evaluation skipped = make_failure("a", "memory needed");
  skipped.verdict.klass = VerdictClass::kSkipped;
  add(store, run, {skipped});
  add(store, run, {make_pass("a")});
  add(store, run, {skipped});
  ASSERT_EQ(find(store).size(), 1u);
  EXPECT_TRUE(find(store)[0].verdict.passed());
  EXPECT_TRUE(find(store)[0].timing);
}

TEST_F(StoreTest, lets_a_promotion_mark_a_pass_and_keeps_its_timing) {
  Store store = open();
  const int64_t run = start_run(store);
  add(store, run, {make_pass("a", 1.1)});
  Evaluation promoted = make_pass("a");
  promoted.verdict.promoted = true;
  promoted.timing.reset();
  add(store, run, {promoted});
  EXPECT_TRUE(find(store).at(0).verdict.promoted);
  EXPECT_EQ(find(store).at(0).timing->ratio, 1.1);
}

TEST_F(StoreTest, lets_one_failure_outweigh_a_pass_and_what_rests_on_it) {
  Store store = open();
  const int64_t run = start_run(store);
  add(store, run, {make_pass("a")});
  ASSERT_TRUE(store.add_decision(run, {kProblem, make_hash("a"), "onednn", 1.1, 1.0, 1.2, 1, 1, "fast"},
                                 make_pass("a").timing));
  Evaluation failure = make_failure("a", "rare");
  failure.verdict.klass = VerdictClass::kRace;
  add(store, run, {failure});
  add(store, run, {make_pass("a")});
  EXPECT_EQ(find(store).at(0).verdict.code(), "race/rare");
  EXPECT_FALSE(find(store).at(0).timing);
  EXPECT_TRUE(find_decisions(store)->empty());
  EXPECT_EQ(count(store, "timings") + count(store, "samples"), 0);
}

// Each broken record is refused with a message that names what is wrong, and its whole batch with it.
TEST_F(StoreTest, refuses_records_that_cannot_be) {
  Store store = open();
  const int64_t run = start_run(store);
  const auto refuse = [&](Evaluation broken, const std::string& why) {
    const Status done = store.add_evaluations(run, {make_pass("good"), broken});
    ASSERT_FALSE(done) << why;
    EXPECT_THAT(done.error().message, HasSubstr(why));
    EXPECT_EQ(count(store, "evaluations") + count(store, "verdicts") + count(store, "sources"), 0);
  };
  Evaluation e = make_pass("a");
  e.verdict.reason = "but";
  refuse(e, "reason_unless_pass");
  e = make_failure("a", "");
  refuse(e, "reason_unless_pass");
  e = make_pass("a");
  e.verdict.klass = VerdictClass::kHang;
  e.verdict.reason = "forever";
  refuse(e, "a timing without a pass");
  e = make_pass("a");
  e.verdict.binary_hash.clear();
  refuse(e, "pass_ran");
  e = make_pass("a");
  e.verdict.binary_hash = make_hash("b");
  refuse(e, "the verdict is about binary");
  e = make_pass("a");
  e.timing->binary_hash = make_hash("b");
  refuse(e, "the timing is of binary");
  e = make_failure("a");
  e.binary_hash.clear();
  e.verdict.binary_hash.clear();
  refuse(e, "verdict_of_a_run_has_a_binary");
  e = make_compile_error("a");
  e.binary_hash = make_hash("a");
  refuse(e, "compile_error_has_no_binary");
  e = make_pass("a");
  e.timing->ratio_low = e.timing->ratio + 0.01;
  refuse(e, "interval_holds_ratio");
  e = make_pass("a");
  e.timing->ratio = std::numeric_limits<double>::quiet_NaN();
  refuse(e, "timings.ratio");
  e = make_pass("a");
  e.timing->median_us = 0;
  refuse(e, "median_us > 0");
  e = make_pass("a");
  e.timing->latency_us.pop_back();
  refuse(e, "samples_are_pairs");
  e = make_failure("a");
  e.verdict.promoted = true;
  refuse(e, "only_a_pass_is_promoted");
  e = make_pass("a");
  e.problem.clear();
  refuse(e, "without a problem");

  EXPECT_THAT(store.add_evaluations(77, {make_pass("a")}).error().message, HasSubstr("there is no run 77"));
  EXPECT_FALSE(store.add_baselines(run, {{kProblem, "onednn", "3", std::nullopt, ""}}));
  EXPECT_FALSE(store.add_baselines(run, {{kProblem, "onednn", "3", 1.0, "wrong"}}));
  EXPECT_THAT(store.add_decision(run, {kProblem, make_hash("a"), "onednn", 1, 1, 1, 1, 1, "x"}, std::nullopt)
                  .error()
                  .message,
              HasSubstr("no stored pass"));
  EXPECT_THAT(
      store.add_decision(run, {kProblem, "", "onednn", 1.5, 1, 2, 0, 0, "x"}, std::nullopt).error().message,
      HasSubstr("vendor_is_one"));
}

}  // namespace
}  // namespace kw::test
