// nlohmann::json under one name, and parsing that returns a Result. No exception leaves these functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw {

using Json = nlohmann::ordered_json;

// `origin` names the text in messages (a file, "answer 3"). Refuses text over 64 MiB, nesting over 64 levels,
// objects of over 10,000 keys, invalid UTF-8 and duplicate keys.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const std::string& origin);

// The document as text: on one line, or indented by so many blanks. Texts inside that are not UTF-8 get
// replacement characters; Json::dump would throw.
[[nodiscard]] std::string print_json(const Json& json, int indent = -1);

}  // namespace kw
