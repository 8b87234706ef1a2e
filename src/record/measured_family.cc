#include "record/measured_family.h"

#include <algorithm>

#include "record/json_fields.h"

namespace kw {
namespace {

Result<double> take_size(JsonFields& fields, const char* name) {
  KW_TRY(const double value, fields.number(name));
  if (value < 0)
    return fail_user("{}: field \"{}\" is {}; it cannot be negative", fields.where(), name, value);
  return value;
}

Result<int64_t> take_count(JsonFields& fields, const char* name) {
  KW_TRY(const int64_t value, fields.integer(name));
  if (value < 0)
    return fail_user("{}: field \"{}\" is {}; it cannot be negative", fields.where(), name, value);
  return value;
}

Result<MeasuredFamily> parse_row(const Json& row, const std::string& where) {
  JsonFields fields(row, where);
  KW_TRY_VOID(fields.check_object());
  MeasuredFamily family;
  KW_TRY(family.name, fields.text("name"));
  KW_TRY(family.seed, fields.seed("seed"));
  KW_TRY(family.checks, take_count(fields, "checks"));
  KW_TRY(family.compared, take_count(fields, "compared"));
  KW_TRY(family.error, take_size(fields, "error"));
  KW_TRY(family.bound, take_size(fields, "bound"));
  KW_TRY(family.margin, take_size(fields, "margin"));
  KW_TRY_VOID(fields.check_nothing_left());
  return family;
}

}  // namespace

void join_measured(MeasuredFamily& into, const MeasuredFamily& other) {
  if (into.compared == 0 || other.error > into.error) {
    into.error = other.error;
    into.bound = other.bound;
  }
  into.checks += other.checks;
  into.compared += other.compared;
  into.margin = std::max(into.margin, other.margin);
}

void join_measured(std::vector<MeasuredFamily>& into, const std::vector<MeasuredFamily>& other) {
  for (const MeasuredFamily& family : other) {
    const auto known = std::find_if(into.begin(), into.end(),
                                    [&](const MeasuredFamily& row) { return row.name == family.name; });
    if (known == into.end())
      into.push_back(family);
    else
      join_measured(*known, family);
  }
}

Json print_measured(const std::vector<MeasuredFamily>& families) {
  Json json = Json::array();
  for (const MeasuredFamily& family : families)
    json.push_back({{"name", family.name},
                    {"seed", family.seed},
                    {"checks", family.checks},
                    {"compared", family.compared},
                    {"error", family.error},
                    {"bound", family.bound},
                    {"margin", family.margin}});
  return json;
}

Result<std::vector<MeasuredFamily>> parse_measured(const Json& json, const std::string& where) {
  if (!json.is_array()) return fail_user("{}: a list is needed, not {}", where, json.dump().substr(0, 60));
  std::vector<MeasuredFamily> families;
  for (const Json& row : json) {
    KW_TRY(MeasuredFamily family, parse_row(row, fmt::format("{}[{}]", where, families.size())));
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace kw
