// JSON text: what parses can be printed, and parses to the same again.
#include "base/check.h"
#include "base/json.h"
#include "target.h"

namespace kw::fuzz {

void run_json(std::string_view input) {
  const auto json = parse_json(input, "text.json");
  if (!json) return demand_plain(json.error());
  const auto again = parse_json(json->dump(), "printed");
  KW_CHECK(again.has_value(), "{}", again.error().message);
  KW_CHECK(*again == *json, "changed by printing: {}", json->dump());
}

}  // namespace kw::fuzz
