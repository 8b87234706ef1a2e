#include <gmock/gmock.h>

#include "store/impl.h"
#include "store/sample_test.h"

namespace kw::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MeasurementsTest : public StoreFiles {};

constexpr const char* kGoodLine =
    "gemm f32 nn m2 n3 k4 lda4 ldb3 ldc3 alpha1 "
    "beta0,gemm_cpu,mr=1,abc,pass,2,1.5,3,dev,1,onednn,offline,rotated,1,1.25,"
    "1.75,0\n";

std::string table(const std::string& line) { return std::string(kMeasurementsHeader) + "\n" + line; }

// The good line with one field replaced; fields of the good line need no quotes.
std::string replace_field(int index, const std::string& value) {
  std::string line = kGoodLine;
  size_t start = 0;
  for (int i = 0; i < index; ++i) start = line.find(',', start) + 1;
  const size_t end = line.find_first_of(",\n", start);
  return line.replace(start, end - start, value);
}

TEST_F(MeasurementsTest, prints_one_line_per_schedule_in_order) {
  Store store = open();
  const int64_t run = start_run(store);
  Evaluation free = make_pass("");
  free.proposal.family = "free";
  free.proposal.free_text = "x";
  Evaluation early = make_compile_error("mr=1, \"odd\"");
  early.finished_s = 1;
  Evaluation late = make_pass("mr=1, \"odd\"", 1.5);  // a newer compiler builds it
  late.finished_s = 2;
  add(store, run, {early, late, make_failure("b"), make_compile_error("a"), free});
  const std::string device = "\"cpu|Model \"\"X\"\", 2.5 GHz|avx512|2 cores|1 threads\"";
  const std::string problem = kProblem;
  const std::string expected =
      std::string(kMeasurementsHeader) + "\n" + problem +
      ",gemm_cpu,a,,\"compile_error/error: expected ';', got \"\"x\"\"\",,,," + device + ",1,,,,,,,\n" +
      problem + ",gemm_cpu,b," + make_hash("b") + ",wrong_result/k_tail,,,," + device + ",1,,,,,,,\n" +
      problem + ",gemm_cpu,\"mr=1, \"\"odd\"\"\"," + make_hash("mr=1, \"odd\"") +
      ",pass,0.3333333333333333,1.5,0.7," + device + ",1,onednn,server,warm,2,1.49,1.6,1\n";
  EXPECT_EQ(*export_measurements(store), expected);
}

TEST_F(MeasurementsTest, imports_what_it_exports) {
  Store store = open();
  const int64_t run = start_run(store), other_run = start_run(store, 2);
  add(store, run,
      {make_pass("a, \"b\"\n", 1.0 / 3 + 1), make_pass("c", 2, kOtherProblem),
       make_failure("d", "x,\"y\" z")});
  add(store, other_run, {make_compile_error("a"), make_pass("c")});
  const std::string csv = *export_measurements(store);

  Store copy = open("copy.db");
  const Status done = copy.import_measurements(csv, "results/table.csv");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*export_measurements(copy), csv);
  ASSERT_TRUE(copy.import_measurements(csv, "another name"));
  EXPECT_EQ(*export_measurements(copy), csv);
  const auto runs = *list_runs(copy);
  ASSERT_EQ(runs.size(), 2u);  // one per device, once
  EXPECT_EQ(runs[0].run.command, "import results/table.csv");
  EXPECT_TRUE(runs[0].imported);
  EXPECT_EQ(runs[0].run.device.target, "recorded");
  EXPECT_EQ(runs[0].how, "done");
  const Evaluation found = find(copy, true, kOtherProblem).at(0);
  EXPECT_EQ(found.timing->ratio, 2);
  EXPECT_EQ(found.timing->baseline, "onednn");
  EXPECT_EQ(found.proposal.proposer, "import");
  EXPECT_EQ(found.verdict.binary_hash, make_hash("c"));
}

TEST_F(MeasurementsTest, lets_own_measurements_go_before_imported_ones) {
  Store source = open("source.db");
  add(source, start_run(source), {make_pass("a", 1.1), make_pass("b", 1.2)});
  const std::string csv = *export_measurements(source);
  Store store = open();
  const int64_t run = start_run(store);
  add(store, run, {make_pass("a", 1.7)});
  ASSERT_TRUE(store.import_measurements(csv, "t"));
  add(store, run, {make_pass("b", 1.8)});
  const auto best = *find_best(store, kProblem, make_device().key(), 9);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].timing->ratio, 1.8);
  EXPECT_EQ(best[1].timing->ratio, 1.7);
  EXPECT_EQ(best[0].proposal.proposer, "evolve");
}

TEST_F(MeasurementsTest, joins_no_imported_time_to_an_own_verdict) {
  Store source = open("source.db");
  add(source, start_run(source), {make_pass("a"), make_pass("b")});
  const std::string csv = *export_measurements(source);
  Store store = open();
  const int64_t run = start_run(store);
  Evaluation a = make_pass("a"), b = make_pass("b");
  a.timing.reset();
  b.timing.reset();
  add(store, run, {a});
  ASSERT_TRUE(store.import_measurements(csv, "t"));
  add(store, run, {b});
  for (const Evaluation& e : find(store)) EXPECT_FALSE(e.timing) << e.proposal.schedule;
}

TEST_F(MeasurementsTest, marks_decisions_that_rest_on_imports) {
  Store source = open("source.db");
  add(source, start_run(source), {make_pass("a", 1.1)});
  Store store = open();
  ASSERT_TRUE(store.import_measurements(*export_measurements(source), "t"));
  const int64_t run = start_run(store);
  ASSERT_TRUE(store.add_decision(run, {kProblem, make_hash("a"), "onednn", 1.1, 1.0, 1.2, 1, 1, "fast"},
                                 std::nullopt));
  EXPECT_TRUE(find_decisions(store)->at(0).imported_only);
}

TEST_F(MeasurementsTest, takes_a_good_line_and_refuses_each_broken_one_with_its_place) {
  Store store = open();
  const auto refuse = [&](const std::string& csv, const std::string& place, const std::string& why) {
    const Status done = store.import_measurements(csv, "t.csv");
    ASSERT_FALSE(done) << csv;
    EXPECT_EQ(done.error().kind, ErrorKind::kUser);
    EXPECT_THAT(done.error().message, AllOf(HasSubstr("t.csv: " + place), HasSubstr(why)));
    EXPECT_TRUE(list_runs(store)->empty());
  };
  const auto refuse_field = [&](int index, const std::string& value, const std::string& why) {
    std::string line = kGoodLine;
    size_t start = 0;
    for (int i = 0; i < index; ++i) start = line.find(',', start) + 1;
    refuse(table(replace_field(index, value)), fmt::format("line 2, column {}", start + 1), why);
  };
  refuse("", "empty", "first line must be");
  refuse("problem,family\n", "line 1", "not the header");
  refuse(table("a,b,c\n"), "line 2, column 5", "3 fields, 17 are needed");
  refuse(table(std::string(kGoodLine) + "\n"), "line 3, column 1", "1 fields");
  refuse_field(0, "gemm f99", "\"gemm f99\"");
  refuse_field(1, "", "family");
  refuse_field(2, "", "schedule");
  refuse_field(4, "passed", "is no verdict");
  refuse_field(4, "hang", "has one behind a slash");
  refuse_field(4, "pass/why", "a pass has no reason");
  refuse_field(5, "fast", "is no number above 0");
  refuse_field(5, "-1", "is no number above 0");
  refuse_field(5, "inf", "is no number above 0");
  refuse_field(6, "nan", "is no number above 0");
  refuse_field(7, "1e999", "is no number above 0");
  refuse_field(8, "", "device_key");
  refuse_field(9, "1.5", "is no whole number");
  refuse_field(10, "", "baseline");
  refuse_field(13, "0", "is no whole number");
  refuse_field(14, "1.6", "above the ratio");
  refuse_field(15, "1.4", "below the ratio");
  refuse_field(16, "2", "is no whole number from 0 to 1");
  refuse(table(replace_field(3, "")), "line 2", "binary_hash \"\" is empty");
  refuse(table(replace_field(4, "hang/forever")), "line 2", "only a pass has a time");
  refuse(table(replace_field(5, "")), "line 2", "median_us is empty");
  refuse(table(std::string(kGoodLine) + kGoodLine), "line 3", "stands already in line 2");
  refuse(table("\"open"), "line 2, column 1", "never closed");
  const Status done = store.import_measurements(table(kGoodLine), "t.csv");
  EXPECT_TRUE(done) << done.error().message;
}

}  // namespace
}  // namespace kw::test
