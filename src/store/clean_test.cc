#include "store/impl.h"
#include "store/sample_test.h"

namespace kw::test {
namespace {

class CleanTest : public StoreFiles {
 protected:
  // Five passes of rising ratio, two failures; the decision rests on the slowest, "s0".
  Store fill() {
    Store store = open();
    const int64_t run = start_run(store);
    for (int i = 0; i < 5; ++i) {
      Evaluation e = make_pass(fmt::format("s{}", i), 1.1 + 0.1 * i);
      e.finished_s = i;
      e.source_text += std::string(100'000, 'x');
      add(store, run, {e});
    }
    add(store, run, {make_failure("wrong"), make_compile_error("no")});
    EXPECT_TRUE(store.add_decision(run, {kProblem, make_hash("s0"), "onednn", 1.1, 1.05, 1.2, 1, 1, "fast"},
                                   make_pass("s0").timing));
    return store;
  }
  static int64_t count(const Store& store, const std::string& table) {
    return *store.impl().database->get_integer("SELECT count(*) FROM " + table);
  }
  static int64_t count_all(const Store& store) {
    int64_t rows = 0;
    for (const char* table : {"devices", "runs", "problems", "sources", "binaries", "verdicts", "evaluations",
                              "lineage", "timings", "samples", "baselines", "decisions"})
      rows += count(store, table);
    return rows;
  }
};

TEST_F(CleanTest, deletes_nothing_without_a_wish) {
  Store store = fill();
  EXPECT_EQ(*store.clean({}), 0);
}

TEST_F(CleanTest, deletes_failures_with_all_that_is_theirs) {
  Store store = fill();
  const int64_t before = count_all(store);
  const int64_t rows = *store.clean({.failures = true});
  EXPECT_EQ(rows, before - count_all(store));
  EXPECT_EQ(find(store).size(), 5u);
  EXPECT_EQ(count(store, "sources"), 5);
  EXPECT_EQ(count(store, "binaries"), 5 + 2);  // two parents
  EXPECT_EQ(count(store, "lineage"), 10);
}

TEST_F(CleanTest, deletes_samples_but_not_the_decisions) {
  Store store = fill();
  EXPECT_EQ(*store.clean({.samples = true}), 4);
  for (const Evaluation& e : find(store)) {
    if (!e.timing) continue;
    EXPECT_EQ(e.timing->latency_us.empty(), e.proposal.schedule != "s0");
    EXPECT_GT(e.timing->median_us, 0);
  }
  EXPECT_FALSE(find_decisions(store)->at(0).confirmation->latency_us.empty());
}

TEST_F(CleanTest, keeps_the_best_and_the_decided) {
  Store store = fill();
  const int64_t before = count_all(store);
  ASSERT_TRUE(store.impl().database->run_script("PRAGMA wal_checkpoint(TRUNCATE)"));
  const auto size = fs::file_size(path());
  const int64_t rows = *store.clean({.keep_best = 2});
  EXPECT_EQ(rows, before - count_all(store));
  const auto found = find(store);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].proposal.schedule, "s0");
  EXPECT_EQ(found[1].proposal.schedule, "s3");
  EXPECT_EQ(found[2].proposal.schedule, "s4");
  EXPECT_EQ(find_decisions(store)->size(), 1u);
  EXPECT_LT(fs::file_size(path()), size);
  EXPECT_GT(*store.clean({.keep_best = 0}), 0);
  EXPECT_EQ(find(store).size(), 1u);
}

}  // namespace
}  // namespace kw::test
