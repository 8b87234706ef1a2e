#include "problem/model_fields.h"

namespace kw {
namespace {

constexpr size_t kLongestShown = 60;

std::string show(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongestShown) text = text.substr(0, kLongestShown) + "...";
  return text;
}

bool is_whole(const Json& value, int64_t low, int64_t high) {
  if (value.is_number_unsigned())
    return value.get<uint64_t>() <= static_cast<uint64_t>(high) &&
           static_cast<int64_t>(value.get<uint64_t>()) >= low;
  return value.is_number_integer() && value.get<int64_t>() >= low && value.get<int64_t>() <= high;
}

}  // namespace

bool ModelFields::has(const char* name) const { return json_.contains(name) && !json_.at(name).is_null(); }

tl::unexpected<Error> ModelFields::reject(const char* name, const std::string& accepted) const {
  if (!json_.contains(name))
    return fail_user("{}: field \"{}\" is missing; it must be {}", origin_, name, accepted);
  return fail_user("{}: field \"{}\" is {}; it must be {}", origin_, name, show(json_.at(name)), accepted);
}

Result<int64_t> ModelFields::get_count(const char* name, int64_t low) const {
  if (!json_.contains(name) || !is_whole(json_.at(name), low, kMaxModelField))
    return reject(name, fmt::format("a whole number from {} to {}", low, kMaxModelField));
  return json_.at(name).get<int64_t>();
}

Result<int64_t> ModelFields::get_count_or(const char* name, int64_t otherwise, int64_t low) const {
  if (!has(name)) return otherwise;
  return get_count(name, low);
}

Result<bool> ModelFields::get_flag_or(const char* name, bool otherwise) const {
  if (!has(name)) return otherwise;
  if (!json_.at(name).is_boolean()) return reject(name, "true or false");
  return json_.at(name).get<bool>();
}

Result<std::vector<int64_t>> ModelFields::get_indices(const char* name, int64_t limit) const {
  std::vector<int64_t> indices;
  if (!has(name)) return indices;
  const std::string accepted = fmt::format("a list of layer numbers from 0 to {}", limit - 1);
  if (!json_.at(name).is_array()) return reject(name, accepted);
  for (const Json& entry : json_.at(name)) {
    if (!is_whole(entry, 0, limit - 1)) return reject(name, accepted);
    indices.push_back(entry.get<int64_t>());
  }
  return indices;
}

}  // namespace kw
