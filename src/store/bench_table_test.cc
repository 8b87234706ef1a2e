// Rows of the bench table to text and back, and the file under everything that may happen to it.
#include "store/bench_table.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "store/csv.h"

namespace kw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

BenchRow make_plain() {
  BenchRow row;
  row.problem = "gemm f16 nt m64 n128 k256 lda256 ldb256 ldc128 alpha1 beta0";
  row.device_key = "cuda/NVIDIA H200";
  row.protocol_version = 1;
  return row;
}

BenchRow make_full() {
  BenchRow row = make_plain();
  row.name = "cuda-l2, \"odd\" name";
  row.mode = BenchMode::kServer;
  row.cublas_us = 2.5;
  row.heuristic_us = 0.1;
  row.torch_us = 1e-9;
  row.cublaslt = BenchFigure{"cublaslt_w32_3", "cuBLASLt 13.1.0 algorithm 66, tile 64x64", 1.0 / 3};
  row.bar = BenchFigure{"cublas", "", 0.25};
  row.algorithms = 9;
  row.refused = "cublaslt_w32_5 wrong_result/zeros; cublas crash/killed";
  row.agreement = 0.0;
  row.ours = BenchOurs{"abc", 0.2, 1.25, 1.2, 1.3, ServerTimes{1, 2, 3, 4}};
  row.rate_hz = 1000;
  row.server = ServerTimes{5, 6, 7, 8.5};
  row.state = {1980, 650.5, "power cap"};
  row.workspace_mib = 256;
  return row;
}

TEST(BenchRow, is_the_same_after_printing_and_parsing) {
  const std::string csv =
      bench_header() + "\n" + print_bench_row(make_plain()) + print_bench_row(make_full());
  const auto rows = parse_bench_table(csv, "t.csv");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0], make_plain());
  EXPECT_EQ((*rows)[1], make_full());
}

TEST(BenchRow, what_is_absent_is_an_empty_field_and_never_zero) {
  const auto records = parse_csv(bench_header() + "\n" + print_bench_row(make_plain()), "t.csv");
  ASSERT_TRUE(records);
  for (size_t i = 0; i < (*records)[1].size(); ++i) {
    const std::string& column = (*records)[0][i].text;
    if (column != "algorithms") {
      EXPECT_NE((*records)[1][i].text, "0") << column;
    }
  }
  EXPECT_EQ((*records)[1][5].text, "");
}

// A table of one row with the named column replaced.
std::string make_changed(const std::string& column, const std::string& value) {
  const auto records = parse_csv(bench_header() + "\n" + print_bench_row(make_full()), "t.csv").value();
  std::vector<std::string> fields;
  for (size_t i = 0; i < records[1].size(); ++i)
    fields.push_back(records[0][i].text == column ? value : records[1][i].text);
  return bench_header() + "\n" + print_csv_record(fields);
}

TEST(BenchRow, odd_fields_are_named_with_their_place) {
  const auto message = [](const std::string& column, const std::string& value) {
    const auto rows = parse_bench_table(make_changed(column, value), "t.csv");
    return rows ? "" : rows.error().message;
  };
  EXPECT_EQ(message("name", "x"), "");
  EXPECT_THAT(message("cublas_us", "0"), AllOf(HasSubstr("t.csv: line 2"), HasSubstr("cublas_us \"0\"")));
  EXPECT_THAT(message("cublas_us", "nan"), HasSubstr("no number above 0"));
  EXPECT_THAT(message("problem", "gemm"), HasSubstr("is no problem"));
  EXPECT_THAT(message("mode", "online"), HasSubstr("offline, server or cuda-l2"));
  EXPECT_THAT(message("algorithms", "-1"), HasSubstr("from 0 up"));
  EXPECT_THAT(message("bar", ""), HasSubstr("bar \"\" is empty"));
  EXPECT_THAT(message("ratio", ""),
              HasSubstr("ratio \"\" is empty, but others of ours to ratio_high are not"));
  EXPECT_THAT(message("ratio_low", "1.26"), HasSubstr("above the ratio"));
  EXPECT_THAT(message("host_p99_us", ""), HasSubstr("host_p99_us"));
  EXPECT_THAT(parse_bench_table("m,n,k\n", "t.csv").error().message, HasSubstr("not the header"));
}

class BenchTableTest : public testing::Test {
 protected:
  void SetUp() override { folder_ = TempFolder::make().value(); }
  fs::path path() const { return folder_->path() / "bench.csv"; }
  std::string content() const { return read_file(path()).value_or(""); }
  void write(const std::string& text) const { std::ofstream(path()) << text; }
  std::optional<TempFolder> folder_;
};

TEST_F(BenchTableTest, goes_on_where_it_ended) {
  {
    auto table = BenchTable::open(path());
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_TRUE(table->rows().empty());
    ASSERT_TRUE(table->append(make_plain()));
  }
  auto again = BenchTable::open(path());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->repaired());
  ASSERT_EQ(again->rows().size(), 1u);
  ASSERT_TRUE(again->append(make_full()));
  EXPECT_EQ(content(), bench_header() + "\n" + print_bench_row(make_plain()) + print_bench_row(make_full()));
}

TEST_F(BenchTableTest, a_file_cut_anywhere_is_repaired) {
  const std::string header = bench_header() + "\n", first = print_bench_row(make_plain()),
                    all = header + first + print_bench_row(make_full());
  for (size_t size = 0; size < all.size(); size += 1 + (size % 7)) {
    write(all.substr(0, size));
    const auto table = BenchTable::open(path());
    ASSERT_TRUE(table) << size << ": " << table.error().message;
    const size_t whole = size < header.size() + first.size() ? 0 : 1;
    EXPECT_EQ(table->rows().size(), whole) << size;
    EXPECT_EQ(content(), header + (whole == 1 ? first : "")) << size;
  }
}

TEST_F(BenchTableTest, another_file_is_left_alone) {
  write("m,n,k\n1,2,3\n");
  const auto table = BenchTable::open(path());
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().kind, ErrorKind::kUser);
  EXPECT_THAT(table.error().message, HasSubstr("not a bench table"));
  EXPECT_EQ(content(), "m,n,k\n1,2,3\n");
}

TEST_F(BenchTableTest, what_is_no_plain_file_is_refused) {
  EXPECT_THAT(BenchTable::open("/dev/null").error().message, HasSubstr("not a plain file"));
  EXPECT_THAT(BenchTable::open(folder_->path()).error().message, HasSubstr("not a plain file"));
  EXPECT_EQ(BenchTable::open(folder_->path() / "none/bench.csv").error().kind, ErrorKind::kUser);
}

TEST_F(BenchTableTest, two_writers_are_one_too_many) {
  const auto first = BenchTable::open(path());
  ASSERT_TRUE(first);
  EXPECT_THAT(BenchTable::open(path()).error().message, HasSubstr("another bench"));
}

TEST_F(BenchTableTest, a_full_disk_keeps_whole_rows_only) {
  auto table = BenchTable::open(path());
  ASSERT_TRUE(table);
  ASSERT_TRUE(table->append(make_plain()));
  const std::string before = content();
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{before.size() + 20, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const Status full = table->append(make_full());
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, AllOf(HasSubstr("bench.csv"), HasSubstr("all 1 rows before are kept")));
  EXPECT_EQ(content(), before);
  ASSERT_TRUE(table->append(make_full()));
  EXPECT_EQ(content(), before + print_bench_row(make_full()));
}

}  // namespace
}  // namespace kw
