// Parsing and look-up of recorded measurements; see recorded.h.
#include "target/recorded.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "record/problem.h"

namespace kw {
namespace {

enum Column {
  kProblem,
  kFamily,
  kSchedule,
  kBinaryHash,
  kVerdict,
  kMedian,
  kRatio,
  kBaseline,
  kDevice,
  kProtocol,
  kRead
};  // the rest is for people and store import

constexpr std::string_view kColumnNames[kRead] = {"problem",    "family",          "schedule", "binary_hash",
                                                  "verdict",    "median_us",       "ratio",    "baseline_us",
                                                  "device_key", "protocol_version"};

// Fields of one line: separated by commas; a field in double quotes may hold commas, and "" for a quote.
Result<std::vector<std::string>> split_line(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return fail_user("a double quote is not closed");
  return fields;
}

// Empty text is absence; anything else must be a positive finite number.
Result<std::optional<double>> parse_positive(const std::vector<std::string>& fields, Column column) {
  const std::string& text = fields[column];
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool ok =
      error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value > 0;
  if (!ok) return fail_user("{} is '{}', not a positive number (empty = none)", kColumnNames[column], text);
  return value;
}

Result<Verdict> parse_verdict(const std::string& code, const std::string& binary_hash) {
  const size_t slash = code.find('/');
  Verdict verdict;
  KW_TRY(verdict.klass, parse_verdict_class(std::string_view(code).substr(0, slash)));
  if (slash != std::string::npos) verdict.reason = code.substr(slash + 1);
  if (verdict.passed() && slash != std::string::npos)
    return fail_user("verdict is '{}', but a pass has no reason", code);
  verdict.binary_hash = binary_hash;
  return verdict;
}

Result<RecordedRow> parse_row(const std::vector<std::string>& fields) {
  static const size_t columns =
      static_cast<size_t>(std::count(kMeasurementsHeader.begin(), kMeasurementsHeader.end(), ',')) + 1;
  if (fields.size() != columns)
    return fail_user("{} columns, not {} ({})", fields.size(), columns, kMeasurementsHeader);
  for (Column column : {kProblem, kFamily, kSchedule, kVerdict, kDevice, kProtocol}) {
    if (fields[column].empty()) return fail_user("{} is empty", kColumnNames[column]);
  }
  RecordedRow row;
  KW_TRY(const Problem problem, parse_problem(fields[kProblem]));
  row.problem = print_problem(problem);
  row.family = fields[kFamily];
  row.schedule = fields[kSchedule];
  row.binary_hash = fields[kBinaryHash];
  KW_TRY(row.verdict, parse_verdict(fields[kVerdict], row.binary_hash));
  KW_TRY(row.median_us, parse_positive(fields, kMedian));
  KW_TRY(row.ratio, parse_positive(fields, kRatio));
  KW_TRY(row.baseline_us, parse_positive(fields, kBaseline));
  row.device = fields[kDevice];
  const std::string& protocol = fields[kProtocol];
  const auto [end, error] = std::from_chars(protocol.data(), protocol.data() + protocol.size(), row.protocol);
  if (error != std::errc() || end != protocol.data() + protocol.size() || row.protocol != kProtocolVersion) {
    return fail_user(
        "protocol_version is '{}', but only measurements of version {} can be compared; measure again",
        protocol, kProtocolVersion);
  }
  if (!row.verdict.passed()) {
    if (row.median_us || row.ratio || row.baseline_us) {
      return fail_user("verdict '{}' stands beside a time; only a pass has times", fields[kVerdict]);
    }
  } else if (!row.median_us || !row.ratio || !row.baseline_us || row.binary_hash.empty()) {
    return fail_user("a pass needs binary_hash, median_us, ratio and baseline_us");
  }
  return row;
}

}  // namespace

Result<RecordedTable> RecordedTable::parse(std::string_view text, const std::string& origin) {
  if (!is_readable(text)) return fail_user("{}: holds control characters or is not UTF-8", origin);
  RecordedTable table;
  size_t line_number = 0;
  while (!text.empty() || line_number == 0) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_number;
    const std::string where = fmt::format("{} line {}", origin, line_number);
    if (line_number == 1) {
      if (line != kMeasurementsHeader)
        return fail_user("{}: the header is not '{}'", where, kMeasurementsHeader);
      continue;
    }
    if (line.empty()) continue;
    const auto fields = split_line(line);
    if (!fields) return with_context(fields.error(), where);
    auto row = parse_row(*fields);
    if (!row) return with_context(row.error(), where);
    const auto [at, is_new] =
        table.index_.emplace(std::pair(row->problem, row->schedule), table.rows_.size());
    if (!is_new) {
      return fail_user("{}: problem '{}' with schedule '{}' comes twice", where, row->problem, row->schedule);
    }
    table.rows_.push_back(std::move(*row));
  }
  return table;
}

Result<RecordedTable> RecordedTable::load(const fs::path& path) {
  KW_TRY(const std::string text, read_file(path));
  return parse(text, path.string());
}

Result<DeviceFacts> load_recorded_device(const fs::path& table) {
  fs::path path = table;
  path.replace_extension(".device.json");
  KW_TRY(const std::string text, read_file(path));
  KW_TRY(const Json json, parse_json(text, path.string()));
  auto device = parse_device(json);
  if (!device) return with_context(device.error(), path.string());
  return device;
}

std::vector<std::string> RecordedTable::problems() const {
  std::vector<std::string> problems;
  std::map<std::string_view, bool> seen;
  for (const RecordedRow& row : rows_) {
    if (seen.emplace(row.problem, true).second) problems.push_back(row.problem);
  }
  return problems;
}

std::vector<const RecordedRow*> RecordedTable::find_rows(std::string_view problem) const {
  std::vector<const RecordedRow*> found;
  for (const RecordedRow& row : rows_) {
    if (row.problem == problem) found.push_back(&row);
  }
  return found;
}

Result<const RecordedRow*> RecordedTable::find(std::string_view problem, std::string_view schedule) const {
  const auto at = index_.find(std::pair(std::string(problem), std::string(schedule)));
  if (at == index_.end()) {
    return fail("the recorded table has no measurement of problem '{}' with schedule '{}'", problem,
                schedule);
  }
  return &rows_[at->second];
}

Evaluation replay_row(const RecordedRow& row, Proposal proposal) {
  Evaluation evaluation;
  evaluation.problem = row.problem;
  evaluation.proposal = std::move(proposal);
  evaluation.kernel_name = row.schedule;
  evaluation.binary_hash = row.binary_hash;
  evaluation.verdict = row.verdict;
  if (row.median_us && row.ratio && row.baseline_us) {
    Timing timing;
    timing.binary_hash = row.binary_hash;
    timing.baseline = "recorded";
    timing.median_us = *row.median_us;
    timing.baseline_median_us = *row.baseline_us;
    timing.ratio = timing.ratio_low = timing.ratio_high = *row.ratio;
    evaluation.timing = std::move(timing);
  }
  return evaluation;
}

}  // namespace kw
