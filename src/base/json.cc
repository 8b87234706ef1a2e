#include "base/json.h"

#include <set>
#include <vector>

namespace kw {
namespace {

constexpr size_t kMaxTextBytes = size_t{64} << 20;
constexpr int kMaxDepth = 64;
constexpr size_t kMaxKeys = 10'000;  // of one object; looking one up takes time in proportion

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& origin) {
  if (text.size() > kMaxTextBytes)
    return fail_user("{}: {} bytes of JSON, at most {} are read", origin, text.size(), kMaxTextBytes);
  std::string problem;
  std::vector<std::set<std::string>> keys_of_level;
  auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxDepth && problem.empty())
      problem = fmt::format("nested deeper than {} levels", kMaxDepth);
    if (event == Json::parse_event_t::object_start) keys_of_level.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys_of_level.empty()) keys_of_level.pop_back();
    if (event == Json::parse_event_t::key && !keys_of_level.empty() &&
        !keys_of_level.back().insert(value.get<std::string>()).second && problem.empty())
      problem = fmt::format("key \"{}\" stands twice in one object", value.get<std::string>());
    if (!keys_of_level.empty() && keys_of_level.back().size() > kMaxKeys && problem.empty())
      problem = fmt::format("an object of more than {} keys", kMaxKeys);
    return problem.empty();
  };
  try {
    Json json = Json::parse(text.begin(), text.end(), watch);
    if (!problem.empty()) return fail_user("{}: {}", origin, problem);
    return json;
  } catch (const std::exception& error) {
    return fail_user("{}: not valid JSON: {}", origin, error.what());
  }
}

std::string print_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kw
