// A BenchRow as a line of text and back. Numbers are printed so that reading them gives the same bits.
#include <array>
#include <charconv>
#include <cmath>

#include "record/problem.h"
#include "store/bench_table.h"
#include "store/csv.h"

namespace kw {
namespace {

enum Column {
  kProblem,
  kName,
  kMode,
  kDevice,
  kProtocol,
  kCublasUs,
  kHeuristicUs,
  kTorchUs,
  kLtName,
  kLtIdentity,
  kLtUs,
  kBarName,
  kBarIdentity,
  kBarUs,
  kAlgorithms,
  kRefused,
  kAgreement,
  kOursKernel,
  kOursUs,
  kOursRatio,
  kOursLow,
  kOursHigh,
  kRateHz,
  kDeviceP50,
  kDeviceP99,
  kHostP50,
  kHostP99,
  kOursDeviceP50,
  kOursDeviceP99,
  kOursHostP50,
  kOursHostP99,
  kSmMhz,
  kPowerW,
  kThrottle,
  kWorkspaceMib,
  kColumnCount
};

constexpr std::array<std::string_view, kColumnCount> kNames = {"problem",
                                                               "name",
                                                               "mode",
                                                               "device_key",
                                                               "protocol_version",
                                                               "cublas_us",
                                                               "heuristic_us",
                                                               "torch_us",
                                                               "cublaslt",
                                                               "cublaslt_identity",
                                                               "cublaslt_us",
                                                               "bar",
                                                               "bar_identity",
                                                               "bar_us",
                                                               "algorithms",
                                                               "refused",
                                                               "agreement",
                                                               "ours",
                                                               "ours_us",
                                                               "ratio",
                                                               "ratio_low",
                                                               "ratio_high",
                                                               "rate_hz",
                                                               "device_p50_us",
                                                               "device_p99_us",
                                                               "host_p50_us",
                                                               "host_p99_us",
                                                               "ours_device_p50_us",
                                                               "ours_device_p99_us",
                                                               "ours_host_p50_us",
                                                               "ours_host_p99_us",
                                                               "sm_mhz",
                                                               "power_w",
                                                               "throttle",
                                                               "workspace_mib"};

template <class T>
std::string print_optional(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

void print_figure(const std::optional<BenchFigure>& figure, Column first, std::vector<std::string>& fields) {
  if (!figure) return;
  fields[first] = figure->name;
  fields[first + 1] = print_line(figure->identity);
  fields[first + 2] = fmt::format("{}", figure->us);
}

void print_server(const std::optional<ServerTimes>& times, Column first, std::vector<std::string>& fields) {
  if (!times) return;
  const double all[] = {times->device_p50_us, times->device_p99_us, times->host_p50_us, times->host_p99_us};
  for (size_t i = 0; i < std::size(all); ++i) fields[first + i] = fmt::format("{}", all[i]);
}

// Fields of one line; messages carry the place.
class RowReader {
 public:
  RowReader(const CsvRecord& record, const std::string& origin) : record_(record), origin_(origin) {}

  const std::string& text(size_t column) const { return record_[column].text; }
  bool empty(size_t column) const { return text(column).empty(); }

  tl::unexpected<Error> refuse(size_t column, std::string_view why) const {
    return fail_user("{}: line {}, column {}: {} \"{}\" {}", origin_, record_[column].line,
                     record_[column].column, kNames[column], text(column), why);
  }
  Result<std::string> filled(size_t column) const {
    if (empty(column)) return refuse(column, "is empty; a value is needed");
    return text(column);
  }
  Result<double> number(size_t column, double least) const {
    double value = 0;
    if (!parse(text(column), value) || !std::isfinite(value) || !(least == 0 ? value >= 0 : value > 0))
      return refuse(column, least == 0 ? "is no number from 0 up" : "is no number above 0");
    return value;
  }
  Result<double> positive(size_t column) const { return number(column, 1); }
  Result<std::optional<double>> find_number(size_t column, double least = 1) const {
    if (empty(column)) return std::optional<double>();
    KW_TRY(const double value, number(column, least));
    return std::optional(value);
  }
  Result<int64_t> whole(size_t column, int64_t least) const {
    int64_t value = 0;
    if (!parse(text(column), value) || value < least)
      return refuse(column, fmt::format("is no whole number from {} up", least));
    return value;
  }
  // Fields that stand together or not at all.
  Result<bool> any(size_t first, size_t count) const {
    size_t there = 0, last_empty = first;
    for (size_t i = first; i < first + count; ++i)
      if (empty(i))
        last_empty = i;
      else
        ++there;
    if (there != 0 && there != count)
      return refuse(last_empty, fmt::format("is empty, but others of {} to {} are not", kNames[first],
                                            kNames[first + count - 1]));
    return there != 0;
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

Result<std::optional<BenchFigure>> parse_figure(const RowReader& line, Column first) {
  if (line.empty(first) && line.empty(first + 2)) {
    if (!line.empty(first + 1)) return line.refuse(first + 1, "is given, but the routine has no name");
    return std::optional<BenchFigure>();
  }
  BenchFigure figure;
  KW_TRY(figure.name, line.filled(first));
  figure.identity = line.text(first + 1);
  KW_TRY(figure.us, line.positive(first + 2));
  return std::optional(std::move(figure));
}

Result<std::optional<ServerTimes>> parse_server(const RowReader& line, Column first) {
  KW_TRY(const bool there, line.any(first, 4));
  if (!there) return std::optional<ServerTimes>();
  ServerTimes times;
  KW_TRY(times.device_p50_us, line.positive(first));
  KW_TRY(times.device_p99_us, line.positive(first + 1));
  KW_TRY(times.host_p50_us, line.positive(first + 2));
  KW_TRY(times.host_p99_us, line.positive(first + 3));
  return std::optional(times);
}

Result<std::optional<BenchOurs>> parse_ours(const RowReader& line) {
  KW_TRY(const bool there, line.any(kOursKernel, 5));
  BenchOurs ours;
  KW_TRY(ours.server, parse_server(line, kOursDeviceP50));
  if (!there && ours.server) return line.refuse(kOursDeviceP50, "is given, but there is no kernel of ours");
  if (!there) return std::optional<BenchOurs>();
  ours.kernel = line.text(kOursKernel);
  KW_TRY(ours.us, line.positive(kOursUs));
  KW_TRY(ours.ratio, line.positive(kOursRatio));
  KW_TRY(ours.low, line.positive(kOursLow));
  KW_TRY(ours.high, line.positive(kOursHigh));
  if (!(ours.low <= ours.ratio)) return line.refuse(kOursLow, "is above the ratio");
  if (!(ours.ratio <= ours.high)) return line.refuse(kOursHigh, "is below the ratio");
  return std::optional(std::move(ours));
}

Status parse_state(const RowReader& line, BenchRow& row) {
  KW_TRY(row.state.sm_mhz, line.find_number(kSmMhz));
  KW_TRY(row.state.power_w, line.find_number(kPowerW));
  row.state.throttle = line.text(kThrottle);
  if (line.empty(kWorkspaceMib)) return {};
  KW_TRY(row.workspace_mib, line.whole(kWorkspaceMib, 0));
  return {};
}

Result<BenchRow> parse_row(const RowReader& line) {
  BenchRow row;
  KW_TRY(row.problem, line.filled(kProblem));
  if (const auto problem = parse_problem(row.problem); !problem)
    return line.refuse(kProblem, "is no problem: " + problem.error().message);
  row.name = line.text(kName);
  const auto mode = parse_bench_mode(line.text(kMode));
  if (!mode) return line.refuse(kMode, "is not offline, server or cuda-l2");
  row.mode = *mode;
  KW_TRY(row.device_key, line.filled(kDevice));
  KW_TRY(const int64_t protocol, line.whole(kProtocol, 1));
  row.protocol_version = static_cast<int>(protocol);
  KW_TRY(row.cublas_us, line.find_number(kCublasUs));
  KW_TRY(row.heuristic_us, line.find_number(kHeuristicUs));
  KW_TRY(row.torch_us, line.find_number(kTorchUs));
  KW_TRY(row.cublaslt, parse_figure(line, kLtName));
  KW_TRY(row.bar, parse_figure(line, kBarName));
  KW_TRY(row.algorithms, line.whole(kAlgorithms, 0));
  row.refused = line.text(kRefused);
  KW_TRY(row.agreement, line.find_number(kAgreement, 0));
  KW_TRY(row.ours, parse_ours(line));
  KW_TRY(row.rate_hz, line.find_number(kRateHz));
  KW_TRY(row.server, parse_server(line, kDeviceP50));
  KW_TRY_VOID(parse_state(line, row));
  return row;
}

}  // namespace

const std::string& bench_header() {
  static const std::string header = fmt::format("{}", fmt::join(kNames, ","));
  return header;
}

std::string print_bench_row(const BenchRow& row) {
  std::vector<std::string> fields(kColumnCount);
  fields[kProblem] = row.problem;
  fields[kName] = print_line(row.name);
  fields[kMode] = print_bench_mode(row.mode);
  fields[kDevice] = row.device_key;
  fields[kProtocol] = fmt::format("{}", row.protocol_version);
  fields[kCublasUs] = print_optional(row.cublas_us);
  fields[kHeuristicUs] = print_optional(row.heuristic_us);
  fields[kTorchUs] = print_optional(row.torch_us);
  print_figure(row.cublaslt, kLtName, fields);
  print_figure(row.bar, kBarName, fields);
  fields[kAlgorithms] = fmt::format("{}", row.algorithms);
  fields[kRefused] = print_line(row.refused);
  fields[kAgreement] = print_optional(row.agreement);
  if (row.ours) {
    fields[kOursKernel] = row.ours->kernel;
    fields[kOursUs] = fmt::format("{}", row.ours->us);
    fields[kOursRatio] = fmt::format("{}", row.ours->ratio);
    fields[kOursLow] = fmt::format("{}", row.ours->low);
    fields[kOursHigh] = fmt::format("{}", row.ours->high);
    print_server(row.ours->server, kOursDeviceP50, fields);
  }
  fields[kRateHz] = print_optional(row.rate_hz);
  print_server(row.server, kDeviceP50, fields);
  fields[kSmMhz] = print_optional(row.state.sm_mhz);
  fields[kPowerW] = print_optional(row.state.power_w);
  fields[kThrottle] = print_line(row.state.throttle);
  fields[kWorkspaceMib] = print_optional(row.workspace_mib);
  return print_csv_record(fields);
}

Result<std::vector<BenchRow>> parse_bench_table(std::string_view csv, const std::string& origin) {
  KW_TRY(const auto records, parse_csv(csv, origin));
  if (records.empty()) return fail_user("{}: empty; the first line must be: {}", origin, bench_header());
  std::vector<std::string> header;
  for (const CsvField& field : records[0]) header.push_back(field.text);
  if (header != std::vector<std::string>(kNames.begin(), kNames.end()))
    return fail_user("{}: line 1 is not the header of a bench table, which is: {}", origin, bench_header());
  std::vector<BenchRow> rows;
  for (size_t i = 1; i < records.size(); ++i) {
    if (records[i].size() != kColumnCount)
      return fail_user("{}: line {}: {} fields, {} are needed", origin, records[i][0].line, records[i].size(),
                       static_cast<int>(kColumnCount));
    KW_TRY(BenchRow row, parse_row(RowReader(records[i], origin)));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kw
