#include "record/json_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kw {
namespace {

constexpr size_t kShownCharacters = 60;

bool is_int64(const Json& value) {
  if (value.is_number_unsigned())
    return value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return value.is_number_integer();
}

bool is_finite_number(const Json& value) { return value.is_number() && std::isfinite(value.get<double>()); }

}  // namespace

Status JsonFields::check_object() const {
  if (!json_.is_object()) return fail_user("{}: expected an object, found {}", where_, json_.type_name());
  return {};
}

const Json* JsonFields::find(const char* name) {
  seen_.push_back(name);
  const auto found = json_.find(name);
  return found == json_.end() ? nullptr : &*found;
}

Result<const Json*> JsonFields::get(const char* name) {
  const Json* value = find(name);
  if (value == nullptr) return fail_user("{}: field \"{}\" is missing", where_, name);
  return value;
}

tl::unexpected<Error> JsonFields::refuse(const char* name, const char* wanted, const Json& value) const {
  std::string shown = print_json(value);
  if (shown.size() > kShownCharacters) shown = shown.substr(0, kShownCharacters) + " ...";
  return fail_user("{}: field \"{}\" must be {}, not {}", where_, name, wanted, shown);
}

Result<std::string> JsonFields::text(const char* name, const std::string& absent) {
  const Json* value = find(name);
  if (value == nullptr && !absent.empty()) return absent;
  if (value == nullptr) return fail_user("{}: field \"{}\" is missing", where_, name);
  if (!value->is_string()) return refuse(name, "a text", *value);
  return value->get<std::string>();
}

Result<int64_t> JsonFields::integer(const char* name, int64_t absent) {
  const Json* value = find(name);
  if (value == nullptr) return absent;
  if (!is_int64(*value)) return refuse(name, "a whole number", *value);
  return value->get<int64_t>();
}

Result<int64_t> JsonFields::integer(const char* name) {
  KW_TRY_VOID(get(name));
  return integer(name, 0);
}

Result<uint64_t> JsonFields::seed(const char* name) {
  KW_TRY(const Json* value, get(name));
  if (!value->is_number_unsigned()) return refuse(name, "a whole number of 0 or more", *value);
  return value->get<uint64_t>();
}

Result<double> JsonFields::number(const char* name) {
  KW_TRY(const Json* value, get(name));
  if (!is_finite_number(*value)) return refuse(name, "a number", *value);
  return value->get<double>();
}

Result<int64_t> JsonFields::count(const char* name, int64_t most) {
  KW_TRY(const int64_t value, integer(name));
  if (value < 0 || value > most)
    return fail_user("{}: field \"{}\" is {}; it must lie in [0, {}]", where_, name, value, most);
  return value;
}

Result<double> JsonFields::size(const char* name) {
  KW_TRY(const double value, number(name));
  if (value < 0) return fail_user("{}: field \"{}\" is {}; it cannot be negative", where_, name, value);
  return value;
}

Result<bool> JsonFields::boolean(const char* name) {
  KW_TRY(const Json* value, get(name));
  if (!value->is_boolean()) return refuse(name, "true or false", *value);
  return value->get<bool>();
}

template <class T, class Take>
Result<std::vector<T>> JsonFields::list(const char* name, const char* kind, const Take& take) {
  KW_TRY(const Json* value, get(name));
  if (!value->is_array() || !std::all_of(value->begin(), value->end(), take))
    return refuse(name, kind, *value);
  std::vector<T> items;
  for (const Json& item : *value) items.push_back(item.get<T>());
  return items;
}

Result<std::vector<std::string>> JsonFields::texts(const char* name) {
  return list<std::string>(name, "a list of texts", [](const Json& item) { return item.is_string(); });
}

Result<std::vector<int64_t>> JsonFields::integers(const char* name) {
  return list<int64_t>(name, "a list of whole numbers", is_int64);
}

Result<std::vector<double>> JsonFields::numbers(const char* name) {
  return list<double>(name, "a list of numbers", is_finite_number);
}

Status JsonFields::check_nothing_left() const {
  for (const auto& [key, value] : json_.items())
    if (std::find(seen_.begin(), seen_.end(), key) == seen_.end()) {
      std::string known;
      for (const std::string& name : seen_) known += (known.empty() ? "" : ", ") + name;
      return fail_user("{}: field \"{}\" is not known; known are {}", where_, key, known);
    }
  return {};
}

}  // namespace kw
