// nlohmann::json under one name, and parsing that returns a Result. No exception leaves these functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw {

using Json = nlohmann::ordered_json;

// `origin` names the text in messages (a file, "answer 3"). Refuses text over 64 MiB, nesting over 64 levels,
// invalid UTF-8 and duplicate keys.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const std::string& origin);

}  // namespace kw
