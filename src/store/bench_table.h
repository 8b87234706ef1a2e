// The table of a benchmark as a CSV file that grows by one line a finished case and survives being stopped at
// any time. In: rows. Out: the file; the rows it held. Called by loop/bench.h; the database is not involved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "record/bench_row.h"

namespace kw {

// Columns of the table, in the order of BenchRow. A value that is absent is an empty field.
[[nodiscard]] const std::string& bench_header();  // one line without its end
[[nodiscard]] std::string print_bench_row(const BenchRow& row);

// The whole table with its header. Errors name origin, line and column.
[[nodiscard]] Result<std::vector<BenchRow>> parse_bench_table(std::string_view csv,
                                                              const std::string& origin);

class BenchTable {
 public:
  // Makes the file or goes on with it: rows() are what it holds. A last line without its end is what a stop
  // in the middle of a write left: it is cut off. User errors: the file holds something else; another bench
  // writes to it.
  [[nodiscard]] static Result<BenchTable> open(const fs::path& path);

  const std::vector<BenchRow>& rows() const { return rows_; }
  bool repaired() const { return repaired_; }  // a torn line was cut off

  // The whole line or nothing of it; the error of a full disk says that all earlier rows are kept.
  [[nodiscard]] Status append(const BenchRow& row);

  BenchTable(BenchTable&& other) noexcept;
  BenchTable& operator=(BenchTable&&) = delete;
  ~BenchTable();

 private:
  BenchTable(fs::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  [[nodiscard]] Status load();
  [[nodiscard]] Status write_text(std::string_view text);

  fs::path path_;
  int fd_;
  std::vector<BenchRow> rows_;
  bool repaired_ = false;
};

}  // namespace kw
