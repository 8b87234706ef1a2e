// The recorded target's data: real measurements of a device as a compact table. In: CSV text as
// store/query.h's export_measurements writes it. Out: rows, looked up by problem and schedule. Called by loop
// (replay), cli and bench. Runs and times nothing; a miss is an error, never a guess.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "record/candidate.h"
#include "record/device.h"
#include "record/measurements.h"

namespace kw {

struct RecordedRow {
  std::string problem;  // print_problem
  std::string family, schedule;
  std::string binary_hash;          // empty when no binary was made
  Verdict verdict;                  // class, reason and hash; no evidence
  std::optional<double> median_us;  // these three: present exactly when the verdict is pass
  std::optional<double> ratio;      // best baseline / candidate
  std::optional<double> baseline_us;
  std::string device;  // DeviceFacts::key
  int protocol = 0;
};

class RecordedTable {
 public:
  // `origin` names the text in messages. User errors with the line number: wrong header, wrong number of
  // columns, a value that is no number or not positive, an unknown verdict, times beside a failure or a pass
  // without, another protocol version than ours, a pair of problem and schedule that comes twice.
  [[nodiscard]] static Result<RecordedTable> parse(std::string_view text, const std::string& origin);
  [[nodiscard]] static Result<RecordedTable> load(const fs::path& path);

  const std::vector<RecordedRow>& rows() const { return rows_; }
  std::vector<std::string> problems() const;  // distinct, in order of appearance
  std::vector<const RecordedRow*> find_rows(std::string_view problem) const;  // in order of appearance
  // The row, or an Error that names problem and schedule.
  [[nodiscard]] Result<const RecordedRow*> find(std::string_view problem, std::string_view schedule) const;

 private:
  std::vector<RecordedRow> rows_;
  std::map<std::pair<std::string, std::string>, size_t, std::less<>> index_;
};

// The facts of the device a table was recorded on: JSON in a file beside it, "x.csv" -> "x.device.json".
[[nodiscard]] Result<DeviceFacts> load_recorded_device(const fs::path& table);

// The row as the loop's record of one evaluation of `proposal`: verdict, and with a pass a timing without
// samples whose baseline is named "recorded".
[[nodiscard]] Evaluation replay_row(const RecordedRow& row, Proposal proposal);

}  // namespace kw
