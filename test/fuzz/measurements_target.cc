// Measurements table and the CSV below it: printing and reading again changes nothing.
#include "base/check.h"
#include "record/measurements.h"
#include "store/csv.h"
#include "store/measurement.h"
#include "target.h"

namespace kw::fuzz {
namespace {

void run_csv(std::string_view input) {
  const auto records = parse_csv(input, "table.csv");
  if (!records) return demand_plain(records.error());
  std::string printed;
  for (const CsvRecord& record : *records) {
    std::vector<std::string> fields;
    for (const CsvField& field : record) fields.push_back(field.text);
    printed += print_csv_record(fields);
  }
  const auto again = parse_csv(printed, "printed");
  KW_CHECK(again.has_value(), "{}", again.error().message);
  KW_CHECK(again->size() == records->size(), "{} records, then {}", records->size(), again->size());
  for (size_t i = 0; i < records->size(); ++i) {
    KW_CHECK((*again)[i].size() == (*records)[i].size(), "record {}", i);
    for (size_t j = 0; j < (*records)[i].size(); ++j)
      KW_CHECK((*again)[i][j].text == (*records)[i][j].text, "record {} field {}", i, j);
  }
}

std::string print_table(const std::vector<Measurement>& measurements) {
  std::string table = std::string(kMeasurementsHeader) + "\n";
  for (const Measurement& measurement : measurements) {
    demand_text(measurement.device_key, size_t{1} << 20);
    demand_text(measurement.evaluation.verdict.code(), size_t{1} << 20);
    table += print_measurement(measurement);
  }
  return table;
}

}  // namespace

void run_measurements(std::string_view input) {
  run_csv(input);
  const auto measurements = parse_measurements(input, "table.csv");
  if (!measurements) return demand_plain(measurements.error());
  const std::string printed = print_table(*measurements);
  const auto again = parse_measurements(printed, "printed");
  KW_CHECK(again.has_value(), "{}", again.error().message);
  KW_CHECK(print_table(*again) == printed, "changed by printing: {}", printed);
}

}  // namespace kw::fuzz
