// RecordedTable: parsing, look-up, and one line for every kind of bad input.
#include "target/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Problem make_problem(int64_t m) {
  Problem problem;
  problem.m = m;
  problem.n = problem.k = 8;
  return with_tight_strides(problem);
}
const std::string kFirst = print_problem(make_problem(4)), kSecond = print_problem(make_problem(5));
const std::string kHeader = std::string(kMeasurementsHeader) + "\n";
const std::string kTail = ",onednn,offline,rotated,1,1,1,0";  // columns that replay does not read

std::string line(const std::string& problem, const std::string& schedule,
                 const std::string& rest = "aa11,pass,2.5,1.2,3,cpu x,1") {
  return problem + ",gemm_cpu," + schedule + "," + rest + kTail + "\n";
}
std::string complain(const std::string& text) {
  const auto table = RecordedTable::parse(text, "table.csv");
  if (table) return "no complaint";
  EXPECT_EQ(table.error().kind, ErrorKind::kUser);
  return table.error().message;
}

TEST(RecordedTable, reads_passes_and_failures) {
  const auto table = RecordedTable::parse(
      kHeader + line(kFirst, "r6 v4") + line(kSecond, "r6 v4", "bb,wrong_result/k_tail,,,,cpu x,1") +
          line(kFirst, "\"a,\"\"b\"\"\"", ",compile_error/syntax,,,,cpu x,1") + "\r\n",
      "table.csv");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  ASSERT_EQ(table->rows().size(), 3u);
  const RecordedRow& pass = **table->find(kFirst, "r6 v4");
  EXPECT_TRUE(pass.verdict.passed());
  EXPECT_EQ(pass.verdict.binary_hash, "aa11");
  EXPECT_EQ(pass.median_us, 2.5);
  EXPECT_EQ(pass.ratio, 1.2);
  EXPECT_EQ(pass.baseline_us, 3);
  EXPECT_EQ(pass.device, "cpu x");
  EXPECT_EQ(pass.protocol, 1);
  const RecordedRow& failure = **table->find(kSecond, "r6 v4");
  EXPECT_EQ(failure.verdict.klass, VerdictClass::kWrongResult);
  EXPECT_EQ(failure.verdict.reason, "k_tail");
  EXPECT_EQ(failure.median_us, std::nullopt);
  EXPECT_TRUE(table->find(kFirst, "a,\"b\"").has_value());
  EXPECT_THAT(table->problems(), testing::ElementsAre(kFirst, kSecond));
  EXPECT_EQ(table->find_rows(kFirst).size(), 2u);
}

TEST(RecordedTable, names_problem_and_schedule_of_a_miss) {
  const auto table = RecordedTable::parse(kHeader + line(kFirst, "r6 v4"), "table.csv");
  const auto row = table->find(kSecond, "r6 v4");
  ASSERT_FALSE(row.has_value());
  EXPECT_THAT(row.error().message, AllOf(HasSubstr(kSecond), HasSubstr("r6 v4")));
}

TEST(RecordedTable, says_line_and_value_of_bad_input) {
  EXPECT_THAT(complain(""), AllOf(HasSubstr("table.csv line 1"), HasSubstr("header")));
  EXPECT_THAT(complain("a,b\n"), HasSubstr("header"));
  EXPECT_THAT(complain(kHeader + line(kFirst, "s") + "x,y\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("2 columns")));
  EXPECT_THAT(complain(kHeader + line(kFirst, "s") + line(kSecond, "s") + line(kFirst, "s")),
              AllOf(HasSubstr("line 4"), HasSubstr("twice"), HasSubstr(kFirst)));
  EXPECT_THAT(complain(kHeader + line("gemm of sorts", "s")), HasSubstr("line 2"));
  EXPECT_THAT(complain(kHeader + line(kFirst, "")), HasSubstr("schedule is empty"));
  EXPECT_THAT(complain(kHeader + line(kFirst, "\"s")), HasSubstr("quote"));
  EXPECT_THAT(complain(kHeader + line(kFirst, "s", "aa,pass,fast,1,1,cpu,1")),
              AllOf(HasSubstr("median_us"), HasSubstr("'fast'")));
  for (const std::string bad : {"0", "-1", "nan", "inf", "1e999", "2x"}) {
    EXPECT_THAT(complain(kHeader + line(kFirst, "s", "aa,pass," + bad + ",1,1,cpu,1")),
                HasSubstr("median_us"))
        << bad;
  }
  EXPECT_THAT(complain(kHeader + line(kFirst, "s", "aa,brilliant,1,1,1,cpu,1")), HasSubstr("brilliant"));
  EXPECT_THAT(complain(kHeader + line(kFirst, "s", "aa,crash,1,1,1,cpu,1")),
              HasSubstr("only a pass has times"));
  EXPECT_THAT(complain(kHeader + line(kFirst, "s", "aa,pass,1,,1,cpu,1")), HasSubstr("a pass needs"));
  EXPECT_THAT(complain(kHeader + line(kFirst, "s", "aa,pass/almost,1,1,1,cpu,1")), HasSubstr("pass/almost"));
  EXPECT_THAT(complain(kHeader + line(kFirst, "s\xff")), HasSubstr("not UTF-8"));
  EXPECT_THAT(complain(kHeader + line(kFirst, "s", "aa,pass,1,1,1,cpu,999")), HasSubstr("'999'"));
}

TEST(ReplayRow, gives_a_timing_only_with_a_pass) {
  const auto table = RecordedTable::parse(
      kHeader + line(kFirst, "s") + line(kSecond, "s", "bb,hang/limit,,,,cpu x,1"), "table.csv");
  Proposal proposal;
  proposal.proposer = "evolve";
  proposal.schedule = "s";
  const Evaluation pass = replay_row(**table->find(kFirst, "s"), proposal);
  EXPECT_EQ(pass.problem, kFirst);
  EXPECT_EQ(pass.proposal.proposer, "evolve");
  EXPECT_EQ(pass.binary_hash, "aa11");
  ASSERT_TRUE(pass.timing.has_value());
  EXPECT_EQ(pass.timing->median_us, 2.5);
  EXPECT_EQ(pass.timing->ratio, 1.2);
  EXPECT_TRUE(pass.timing->latency_us.empty());
  EXPECT_FALSE(pass.timing->confirmed);
  const Evaluation hang = replay_row(**table->find(kSecond, "s"), proposal);
  EXPECT_EQ(hang.verdict.klass, VerdictClass::kHang);
  EXPECT_FALSE(hang.timing.has_value());
}

}  // namespace
}  // namespace kw
