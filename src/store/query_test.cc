#include "store/query.h"

#include <gmock/gmock.h>

#include "store/evaluation_reader.h"
#include "store/impl.h"
#include "store/sample_test.h"

namespace kw::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

class QueryTest : public StoreFiles {};

std::vector<std::string> explain(const Store& store, const std::string& sql) {
  Statement row = std::move(*store.impl().database->query("EXPLAIN QUERY PLAN " + sql));
  std::vector<std::string> plan;
  while (*row.step()) plan.push_back(row.text(3));
  return plan;
}

// Every table is reached through an index or its row number, none from end to end.
TEST_F(QueryTest, reaches_evaluations_and_the_best_through_indexes) {
  Store store = open();
  const int64_t run = start_run(store);
  for (int i = 0; i < 50; ++i)
    add(store, run, {make_pass(fmt::format("s{}", i)), make_failure(fmt::format("f{}", i))});
  for (const std::string& sql : {kFindEvaluationsSql, kFindBestSql}) {
    bool by_problem = false;
    for (const std::string& step : explain(store, sql)) {
      EXPECT_THAT(step, Not(StartsWith("SCAN"))) << sql;
      by_problem |= step.find("SEARCH v USING INDEX") == 0 &&
                    step.find("(problem=? AND device=? AND protocol_version=?") != std::string::npos;
    }
    EXPECT_TRUE(by_problem) << ::testing::PrintToString(explain(store, sql));
  }
}

TEST_F(QueryTest, stays_right_with_20000_evaluations) {
  Store store = open();
  const int64_t run = start_run(store);
  constexpr int kProblems = 20, kEach = 1000;
  for (int p = 0; p < kProblems; ++p) {
    std::vector<Evaluation> batch;
    for (int i = 0; i < kEach; ++i) {
      const std::string schedule = fmt::format("p{}s{}", p, i);
      const std::string problem = fmt::format("problem {}", p);
      Evaluation e = make_pass(schedule, 1 + 0.0001 * ((i * 7919) % kEach), problem);
      if (i % 4 == 3) {
        e = make_failure(schedule, i % 8 == 3 ? "k_tail" : "sign");
        e.problem = problem;
      }
      e.finished_s = i;
      batch.push_back(e);
    }
    add(store, run, batch);
  }
  for (const int p : {0, 7, kProblems - 1}) {
    const std::string problem = fmt::format("problem {}", p);
    const auto found = find(store, false, problem);
    ASSERT_EQ(found.size(), static_cast<size_t>(kEach));
    for (int i = 0; i < kEach; ++i) ASSERT_EQ(found[i].proposal.schedule, fmt::format("p{}s{}", p, i));
    const auto best = *find_best(store, problem, make_device().key(), 5);
    ASSERT_EQ(best.size(), 5u);
    for (size_t i = 1; i < best.size(); ++i) EXPECT_GE(best[i - 1].timing->ratio, best[i].timing->ratio);
    double largest = 0;
    for (const Evaluation& e : found) largest = std::max(largest, e.timing ? e.timing->ratio : 0);
    EXPECT_EQ(best[0].timing->ratio, largest);
  }
  const auto problems = *list_problems(store);
  ASSERT_EQ(problems.size(), static_cast<size_t>(kProblems));
  for (const ProblemSummary& summary : problems) {
    EXPECT_EQ(summary.evaluations, kEach);
    EXPECT_EQ(summary.passed, kEach * 3 / 4);
    EXPECT_THAT(summary.failures,
                ElementsAre(Pair("wrong_result/k_tail", 125), Pair("wrong_result/sign", 125)));
    EXPECT_GT(summary.best_ratio.value_or(0), 1.09);
  }
}

TEST_F(QueryTest, finds_a_kernel_by_hash_or_prefix_with_all_there_is) {
  Store store = open();
  const int64_t run = start_run(store);
  const Evaluation a = make_pass("a"), b = make_pass("b");
  add(store, run, {a, b});
  for (const std::string& prefix : {a.binary_hash, a.binary_hash.substr(0, 10)}) {
    const auto found = find_kernel(store, prefix);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 1u);
    expect_same(found->at(0), a);
  }
  add(store, run, {make_pass("a", 1.5, kOtherProblem)});
  EXPECT_EQ(find_kernel(store, a.binary_hash)->size(), 2u);
}

TEST_F(QueryTest, says_that_a_prefix_is_unknown_ambiguous_or_empty) {
  Store store = open();
  std::vector<Evaluation> evaluations;
  for (const std::string hash : {"ab00", "ab01", "ab02", "ab", "cd"}) {
    Evaluation e = make_pass(hash);
    e.binary_hash = e.verdict.binary_hash = e.timing->binary_hash = hash;
    evaluations.push_back(e);
  }
  add(store, start_run(store), evaluations);
  const auto refuse = [&](const std::string& prefix) {
    const auto found = find_kernel(store, prefix);
    EXPECT_FALSE(found);
    return found ? Error{} : found.error();
  };
  EXPECT_EQ(refuse("ab0").kind, ErrorKind::kUser);
  EXPECT_THAT(refuse("ab0").message, AllOf(HasSubstr("\"ab0\""), HasSubstr("3 kernels"),
                                           HasSubstr("ab00, ab01, ..."), HasSubstr("more digits")));
  EXPECT_THAT(refuse("ee").message, AllOf(HasSubstr("\"ee\""), HasSubstr("kernelwright ls")));
  EXPECT_THAT(refuse("").message, HasSubstr("give the first digits"));
  EXPECT_THAT(refuse(make_hash("mother")).message,
              HasSubstr("no kernel"));  // a parent that was never measured here
  EXPECT_THAT(refuse("%").message, HasSubstr("no kernel"));
  EXPECT_EQ(find_kernel(store, "ab")->at(0).binary_hash, "ab");  // whole hashes are never ambiguous
  EXPECT_EQ(find_kernel(store, "c")->at(0).binary_hash, "cd");
}

TEST_F(QueryTest, gives_the_best_binary_once) {
  Store store = open();
  Evaluation a = make_pass("a", 1.5), twin = make_pass("twin", 1.5), b = make_pass("b", 1.2);
  twin.binary_hash = twin.verdict.binary_hash = twin.timing->binary_hash = a.binary_hash;
  add(store, start_run(store), {a, twin, b, make_failure("c")});
  const auto best = *find_best(store, kProblem, make_device().key(), 10);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].proposal.schedule, "a");
  EXPECT_EQ(best[1].proposal.schedule, "b");
  EXPECT_EQ(find_best(store, kProblem, make_device().key(), 1)->size(), 1u);
  EXPECT_TRUE(find_best(store, "nothing", make_device().key(), 1)->empty());
}

TEST_F(QueryTest, tells_no_best_ratio_without_a_timed_pass) {
  Store store = open();
  add(store, start_run(store), {make_failure("c")});
  const auto problems = *list_problems(store);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].best_ratio, std::nullopt);
  EXPECT_EQ(problems[0].passed, 0);
}

}  // namespace
}  // namespace kw::test
