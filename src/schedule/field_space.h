// A Space over a list of fields with a few values each: keys, drawing, mutation, crossing, listing and
// ranking once for all families whose schedules are such lists. A family gives its fields, its legality and
// its model. Used by the families' spaces; knows none of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/space.h"

namespace kw {

struct Field {
  std::string_view label;   // in keys: "st4"
  std::vector<int> values;  // of the search, ascending
};
using FieldList = std::vector<Field>;
using FieldValues = std::vector<int>;  // one of each field's values, in the list's order

// "g1 n32 k128"; parse and print are inverse. Only listed values are read; the error shows an example.
[[nodiscard]] std::string print_field_values(const FieldList& fields, const FieldValues& values);
[[nodiscard]] Result<FieldValues> parse_field_values(std::string_view family, const FieldList& fields,
                                                     std::string_view key);

struct NamedFeature {
  std::string name;
  double value = 0;
};

// What a family says of its schedules for one problem on one device.
struct FieldFamily {
  std::string_view name;
  const FieldList* fields = nullptr;  // outlives the space
  std::function<std::optional<std::string>(const FieldValues&)> find_illegality;
  std::function<double(const FieldValues&)> predict_us;
  std::function<std::string(const FieldValues&)> behaviour;
  std::function<std::vector<NamedFeature>(const FieldValues&)> features;  // besides the fields themselves
  std::function<std::vector<int64_t>(const FieldValues&)> tile;
};

[[nodiscard]] std::unique_ptr<Space> make_field_space(FieldFamily family);

}  // namespace kw
