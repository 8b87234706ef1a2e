#include "record/measured_family.h"

#include <algorithm>

#include "record/json_fields.h"

namespace kw {
namespace {

Result<MeasuredFamily> parse_row(const Json& row, const std::string& where) {
  JsonFields fields(row, where);
  KW_TRY_VOID(fields.check_object());
  MeasuredFamily family;
  KW_TRY(family.name, fields.text("name"));
  KW_TRY(family.seed, fields.seed("seed"));
  KW_TRY(family.checks, fields.count("checks"));
  KW_TRY(family.compared, fields.count("compared"));
  KW_TRY(family.error, fields.size("error"));
  KW_TRY(family.bound, fields.size("bound"));
  KW_TRY(family.margin, fields.size("margin"));
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
  if (!json.is_array())
    return fail_user("{}: a list is needed, not {}", where, print_json(json).substr(0, 60));
  std::vector<MeasuredFamily> families;
  for (const Json& row : json) {
    KW_TRY(MeasuredFamily family, parse_row(row, fmt::format("{}[{}]", where, families.size())));
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace kw
