#include <gmock/gmock.h>

#include "store/impl.h"
#include "store/sample_test.h"
#include "store/schema.h"

namespace kw::test {
namespace {

using ::testing::HasSubstr;

// All content of a store without row numbers, as sorted text.
std::string print_content(const Store& store) {
  const std::vector<std::string> queries = {
      "SELECT 'run', r.uid, d.key, r.origin, r.command, r.seed, r.facts, r.version, r.started, r.ended, "
      "r.how "
      "FROM runs r JOIN devices d ON d.id = r.device ORDER BY 2",
      "SELECT 'verdict', p.key, d.key, v.protocol_version, b.hash, v.candidate, r.uid, v.finished_s, "
      "v.class, v.reason, "
      "v.evidence, v.ran, v.promoted, t.baseline, t.ratio, t.ratio_low, t.ratio_high, hex(x.latency_us), "
      "hex(x.baseline_latency_us), b.launch FROM verdicts v JOIN problems p ON p.id = v.problem JOIN devices "
      "d ON d.id = v.device "
      "JOIN runs r ON r.id = v.run LEFT JOIN binaries b ON b.id = v.binary LEFT JOIN timings t ON t.verdict "
      "= v.id AND "
      "t.purpose = 'search' LEFT JOIN samples x ON x.timing = t.id ORDER BY 2, 3, 4, 5, 6",
      "SELECT 'evaluation', p.key, d.key, b.hash, r.uid, e.proposer, e.family, e.schedule, e.note, e.seed, "
      "e.kernel_name, "
      "s.hash, f.hash, e.finished_s, (SELECT group_concat(l.position || pb.hash) FROM lineage l JOIN "
      "binaries pb ON "
      "pb.id = l.parent WHERE l.evaluation = e.id) FROM evaluations e JOIN verdicts v ON v.id = e.verdict "
      "JOIN problems p ON p.id = v.problem JOIN devices d ON d.id = v.device JOIN runs r ON r.id = e.run "
      "LEFT JOIN binaries b ON b.id = v.binary LEFT JOIN sources s ON s.id = e.source LEFT JOIN sources f ON "
      "f.id = e.free_source "
      "ORDER BY 2, 3, 4, 7, 8, 13",
      "SELECT 'source', hash, text FROM sources ORDER BY 2",
      "SELECT 'baseline', r.uid, p.key, b.name, b.version, b.median_us, b.refused, b.measured FROM baselines "
      "b JOIN runs r "
      "ON r.id = b.run JOIN problems p ON p.id = b.problem ORDER BY 2, 3, 4, 5",
      "SELECT 'decision', r.uid, p.key, b.hash, x.ratio, x.reason, x.decided, t.ratio, length(y.latency_us) "
      "FROM decisions x "
      "JOIN runs r ON r.id = x.run JOIN problems p ON p.id = x.problem LEFT JOIN verdicts v ON v.id = "
      "x.verdict "
      "LEFT JOIN binaries b ON b.id = v.binary LEFT JOIN timings t ON t.id = x.confirmation "
      "LEFT JOIN samples y ON y.timing = t.id ORDER BY 2, 3"};
  std::string content;
  for (const std::string& sql : queries) {
    auto row = store.impl().database->query(sql);
    EXPECT_TRUE(row) << row.error().message;
    while (*row->step()) {
      for (int i = 0; i < 20; ++i) content += row->text(i) + "|";
      content += "\n";
    }
  }
  return content;
}

class MergeTest : public StoreFiles {
 protected:
  // Two stores that share a schedule, a failure against a pass, a skipped against a pass, and differ in the
  // rest.
  void fill() {
    Store a = open("a.db"), b = open("b.db");
    const int64_t in_a = start_run(a);
    const int64_t in_b = start_run(b), in_b2 = start_run(b, 2);
    Evaluation twin = make_pass("twin", 1.3);
    twin.binary_hash = twin.verdict.binary_hash = twin.timing->binary_hash = make_hash("both");
    Evaluation skipped = make_failure("skipped", "no memory");
    skipped.verdict.klass = VerdictClass::kSkipped;
    Evaluation quiet = make_pass("quiet");
    quiet.source_text.clear();
    add(a, in_a,
        {make_pass("both", 1.1), make_pass("only a"), make_pass("doubt"), make_compile_error("e"), skipped,
         quiet});
    add(b, in_b,
        {make_pass("both", 1.9), twin, make_failure("doubt"), make_compile_error("e"),
         make_compile_error("f"), make_pass("skipped", 1.4), make_pass("quiet")});
    add(b, in_b2, {make_pass("both", 1.2)});
    const auto confirmation = make_pass("doubt").timing;
    ASSERT_TRUE(a.add_decision(in_a, {kProblem, make_hash("doubt"), "onednn", 1.1, 1.05, 1.2, 1, 1, "fast"},
                               confirmation));
    ASSERT_TRUE(b.add_decision(in_b, {kProblem, make_hash("both"), "onednn", 1.2, 1.05, 1.3, 1, 1, "fast"},
                               make_pass("both").timing));
    ASSERT_TRUE(a.add_baselines(in_a, {{kProblem, "onednn", "3", 2.0, ""}}));
    ASSERT_TRUE(
        b.add_baselines(in_b, {{kProblem, "onednn", "3", 2.5, ""}, {kProblem, "libxsmm", "1", {}, "wrong"}}));
    ASSERT_TRUE(b.finish_run(in_b, "done"));
  }
  void copy(const std::string& from, const std::string& to) const { fs::copy_file(path(from), path(to)); }
};

TEST_F(MergeTest, holds_the_same_whichever_way_round_and_once_however_often) {
  fill();
  copy("a.db", "a0.db");
  copy("b.db", "b0.db");
  Store a = open("a.db"), b = open("b.db");
  ASSERT_TRUE(a.merge(path("b0.db")));
  ASSERT_TRUE(b.merge(path("a0.db")));
  const std::string joined = print_content(a);
  EXPECT_EQ(joined, print_content(b));
  ASSERT_TRUE(a.merge(path("b0.db")));
  ASSERT_TRUE(a.merge(path("b.db")));
  EXPECT_EQ(joined, print_content(a));
  Store empty = open("empty.db");
  ASSERT_TRUE(empty.merge(path("a.db")));
  EXPECT_EQ(joined, print_content(empty));
}

TEST_F(MergeTest, keeps_the_earlier_of_two_measurements_and_any_failure) {
  fill();
  Store b = open("b.db");
  ASSERT_TRUE(b.merge(path("a.db")));
  std::map<std::string, Evaluation> found;
  for (const Evaluation& e : find(b)) EXPECT_TRUE(found.emplace(e.proposal.schedule, e).second);
  EXPECT_EQ(found.size(), 8u);
  EXPECT_EQ(found.at("both").timing->ratio, 1.1);
  EXPECT_EQ(found.at("twin").timing->ratio, 1.1);
  EXPECT_EQ(found.at("doubt").verdict.code(), "wrong_result/k_tail");
  EXPECT_EQ(found.at("skipped").timing->ratio, 1.4);
  EXPECT_FALSE(found.at("quiet").source_text.empty());
  expect_same(found.at("only a"), make_pass("only a"));
  EXPECT_EQ(find(b, true, kProblem, 2).at(0).timing->ratio, 1.2);
  ASSERT_EQ(find_decisions(b)->size(), 1u);  // the other rested on what failed
  EXPECT_EQ(find_decisions(b)->at(0).decision.binary_hash, make_hash("both"));
  EXPECT_EQ(list_runs(b)->size(), 3u);
  EXPECT_EQ(find_baseline_rows(b, kProblem, make_device().key())->size(), 2u);
}

TEST_F(MergeTest, goes_on_from_a_copy_of_the_same_run) {
  fill();
  copy("a.db", "copy.db");
  Store a = open("a.db");
  const int64_t run = list_runs(a)->at(0).id;
  add(a, run, {make_pass("later")});
  ASSERT_TRUE(a.finish_run(run, "interrupted"));
  Store copied = open("copy.db");
  ASSERT_TRUE(copied.merge(path("a.db")));
  EXPECT_EQ(print_content(copied), print_content(a));
  EXPECT_EQ(list_runs(copied)->at(0).how, "interrupted");
}

TEST_F(MergeTest, changes_nothing_when_the_other_is_no_store_or_itself) {
  fill();
  Store a = open("a.db");
  const std::string before = print_content(a);
  ASSERT_TRUE(write_file_atomically(path("text"), std::string(4096, 'x')));
  EXPECT_THAT(a.merge(path("text")).error().message, HasSubstr("not a Kernelwright store"));
  EXPECT_THAT(a.merge(path("absent")).error().message, HasSubstr("there is no store"));
  EXPECT_THAT(a.merge(path("a.db")).error().message, HasSubstr("is this store itself"));
  EXPECT_EQ(print_content(a), before);
}

TEST_F(MergeTest, takes_all_or_nothing_when_the_disk_is_full) {
  fill();
  Store a = open("a.db");
  const std::string before = print_content(a);
  Database& database = *a.impl().database;
  ASSERT_TRUE(database.run_script(
      fmt::format("PRAGMA max_page_count = {}", *database.get_integer("PRAGMA page_count"))));
  {
    Store b = open("b.db");
    Evaluation large = make_pass("large");
    large.source_text = std::string(1 << 20, 'l');
    add(b, list_runs(b)->at(0).id, {large});
  }
  EXPECT_THAT(a.merge(path("b.db")).error().message, HasSubstr("disk full"));
  EXPECT_EQ(print_content(a), before);
}

}  // namespace
}  // namespace kw::test
