#include "store/measurement.h"

#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "store/csv.h"
#include "store/query.h"

namespace kw {
namespace {

enum Column {
  kProblem,
  kFamily,
  kSchedule,
  kBinaryHash,
  kVerdict,
  kMedianUs,
  kRatio,
  kBaselineUs,
  kDeviceKey,
  kProtocol,
  kBaseline,
  kMode,
  kCache,
  kThreads,
  kRatioLow,
  kRatioHigh,
  kDisturbed,
  kColumnCount
};

std::vector<std::string> get_column_names() {
  std::vector<std::string> names(1);
  for (const char c : std::string_view(kMeasurementsHeader)) {
    if (c == ',')
      names.emplace_back();
    else
      names.back() += c;
  }
  return names;
}

// Reads the fields of one line; messages carry the place.
class LineReader {
 public:
  LineReader(const CsvRecord& record, const std::string& origin) : record_(record), origin_(origin) {}

  const std::string& text(Column column) const { return record_[column].text; }

  template <class... Args>
  tl::unexpected<Error> refuse(Column column, fmt::format_string<Args...> why, Args&&... args) const {
    return fail_user("{}: line {}, column {}: {} \"{}\" {}", origin_, record_[column].line,
                     record_[column].column, get_column_names()[column], text(column),
                     fmt::format(why, std::forward<Args>(args)...));
  }

  Result<std::string> filled(Column column) const {
    if (text(column).empty()) return refuse(column, "is empty; a value is needed");
    return text(column);
  }
  Result<double> positive(Column column) const {
    double value = 0;
    if (!parse(text(column), value) || !(value > 0) || !std::isfinite(value))
      return refuse(column, "is no number above 0");
    return value;
  }
  Result<int> whole(Column column, int low, int high) const {
    int value = 0;
    if (!parse(text(column), value) || value < low || value > high)
      return refuse(column, "is no whole number from {} to {}", low, high);
    return value;
  }

 private:
  template <class T>
  static bool parse(const std::string& text, T& value) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end == text.data() + text.size();
  }

  const CsvRecord& record_;
  const std::string& origin_;
};

// Verdicts that only running code can earn; of the others the table does not say whether any ran.
bool is_of_a_run(VerdictClass klass) {
  switch (klass) {
    case VerdictClass::kCompileError:
    case VerdictClass::kIllegal:
    case VerdictClass::kLaunchError:
    case VerdictClass::kCheat:
    case VerdictClass::kSkipped:
      return false;
    default:
      return true;
  }
}

Status parse_verdict(const LineReader& line, Evaluation& e) {
  const std::string& code = line.text(kVerdict);
  const size_t slash = code.find('/');
  const auto klass = parse_verdict_class(std::string_view(code).substr(0, slash));
  if (!klass) return line.refuse(kVerdict, "is no verdict; \"pass\" or class/reason is allowed");
  e.verdict.klass = *klass;
  if (slash != std::string::npos) e.verdict.reason = code.substr(slash + 1);
  if (e.verdict.passed() != (slash == std::string::npos) || e.verdict.passed() != e.verdict.reason.empty())
    return line.refuse(kVerdict, "is no verdict; a pass has no reason, anything else has one behind a slash");
  e.binary_hash = line.text(kBinaryHash);
  if (e.verdict.klass == VerdictClass::kCompileError && !e.binary_hash.empty())
    return line.refuse(kBinaryHash, "is given, but what did not compile has no binary");
  const bool ran = is_of_a_run(e.verdict.klass);
  if (ran && e.binary_hash.empty())
    return line.refuse(kBinaryHash, "is empty, but this verdict is of a binary that ran");
  if (ran) e.verdict.binary_hash = e.binary_hash;
  return {};
}

Result<std::optional<Timing>> parse_timing(const LineReader& line, const Evaluation& e) {
  constexpr Column kTimed[] = {kMedianUs, kRatio,   kBaselineUs, kBaseline,  kMode,
                               kCache,    kThreads, kRatioLow,   kRatioHigh, kDisturbed};
  if (line.text(kMedianUs).empty()) {
    for (const Column column : kTimed)
      if (!line.text(column).empty()) return line.refuse(column, "is given, but median_us is empty");
    return std::optional<Timing>();
  }
  if (!e.verdict.passed()) return line.refuse(kMedianUs, "is given, but only a pass has a time");
  Timing timing;
  timing.binary_hash = e.binary_hash;
  KW_TRY(timing.median_us, line.positive(kMedianUs));
  KW_TRY(timing.ratio, line.positive(kRatio));
  KW_TRY(timing.baseline_median_us, line.positive(kBaselineUs));
  KW_TRY(timing.baseline, line.filled(kBaseline));
  KW_TRY(timing.mode, line.filled(kMode));
  KW_TRY(timing.cache, line.filled(kCache));
  KW_TRY(timing.threads, line.whole(kThreads, 1, 1 << 20));
  KW_TRY(timing.ratio_low, line.positive(kRatioLow));
  KW_TRY(timing.ratio_high, line.positive(kRatioHigh));
  KW_TRY(timing.disturbed, line.whole(kDisturbed, 0, 1));
  if (!(timing.ratio_low <= timing.ratio))
    return line.refuse(kRatioLow, "is above the ratio {}", timing.ratio);
  if (!(timing.ratio <= timing.ratio_high))
    return line.refuse(kRatioHigh, "is below the ratio {}", timing.ratio);
  return std::optional(std::move(timing));
}

Result<Measurement> parse_measurement(const LineReader& line) {
  Measurement m;
  Evaluation& e = m.evaluation;
  KW_TRY(e.problem, line.filled(kProblem));
  if (const auto problem = parse_problem(e.problem); !problem)
    return line.refuse(kProblem, "is no problem: {}", problem.error().message);
  KW_TRY(e.proposal.family, line.filled(kFamily));
  KW_TRY(e.proposal.schedule, line.filled(kSchedule));
  KW_TRY(m.device_key, line.filled(kDeviceKey));
  KW_TRY(m.protocol_version, line.whole(kProtocol, 1, 1 << 20));
  KW_TRY_VOID(parse_verdict(line, e));
  KW_TRY(e.timing, parse_timing(line, e));
  e.proposal.proposer = "import";
  return m;
}

}  // namespace

std::string print_measurement(const Measurement& m) {
  const Evaluation& e = m.evaluation;
  std::vector<std::string> fields(kColumnCount);
  fields[kProblem] = e.problem;
  fields[kFamily] = e.proposal.family;
  fields[kSchedule] = e.proposal.schedule;
  fields[kBinaryHash] = e.binary_hash;
  fields[kVerdict] = e.verdict.code();
  fields[kDeviceKey] = m.device_key;
  fields[kProtocol] = fmt::format("{}", m.protocol_version);
  if (e.timing) {
    fields[kMedianUs] = fmt::format("{}", e.timing->median_us);
    fields[kRatio] = fmt::format("{}", e.timing->ratio);
    fields[kBaselineUs] = fmt::format("{}", e.timing->baseline_median_us);
    fields[kBaseline] = e.timing->baseline;
    fields[kMode] = e.timing->mode;
    fields[kCache] = e.timing->cache;
    fields[kThreads] = fmt::format("{}", e.timing->threads);
    fields[kRatioLow] = fmt::format("{}", e.timing->ratio_low);
    fields[kRatioHigh] = fmt::format("{}", e.timing->ratio_high);
    fields[kDisturbed] = e.timing->disturbed ? "1" : "0";
  }
  return print_csv_record(fields);
}

Result<std::vector<Measurement>> parse_measurements(std::string_view csv, const std::string& origin) {
  KW_TRY(const auto records, parse_csv(csv, origin));
  if (records.empty()) return fail_user("{}: empty; the first line must be: {}", origin, kMeasurementsHeader);
  std::vector<std::string> header;
  for (const CsvField& field : records[0]) header.push_back(field.text);
  if (header != get_column_names())
    return fail_user("{}: line 1 is not the header of a measurements table, which is: {}", origin,
                     kMeasurementsHeader);
  std::vector<Measurement> measurements;
  std::map<std::tuple<std::string, int, std::string, std::string, std::string>, int> line_of;
  for (size_t i = 1; i < records.size(); ++i) {
    const CsvRecord& record = records[i];
    if (record.size() != kColumnCount)
      return fail_user("{}: line {}, column {}: {} fields, {} are needed", origin, record[0].line,
                       record.back().column, record.size(), static_cast<int>(kColumnCount));
    KW_TRY(Measurement m, parse_measurement(LineReader(record, origin)));
    const auto [first, fresh] =
        line_of.try_emplace({m.device_key, m.protocol_version, m.evaluation.problem,
                             m.evaluation.proposal.family, m.evaluation.proposal.schedule},
                            record[0].line);
    if (!fresh)
      return fail_user(
          "{}: line {}, column {}: this schedule of this problem and device stands already in line {}",
          origin, record[0].line, record[kSchedule].column, first->second);
    measurements.push_back(std::move(m));
  }
  return measurements;
}

}  // namespace kw
