// Device record and list of measured families: what parses prints to the same, and derived numbers are safe.
#include "base/check.h"
#include "record/device.h"
#include "record/measured_family.h"
#include "target.h"

namespace kw::fuzz {
namespace {

void run_families(const Json& json) {
  const auto families = parse_measured(json, "families");
  if (!families) return demand_plain(families.error());
  const auto again = parse_measured(print_measured(*families), "printed");
  KW_CHECK(again.has_value() && *again == *families, "changed by printing: {}", json.dump());
}

}  // namespace

void run_device(std::string_view input) {
  const auto json = parse_json(input, "device.json");
  if (!json) return demand_plain(json.error());
  run_families(*json);
  const auto device = parse_device(*json);
  if (!device) return demand_plain(device.error());
  const auto again = parse_device(print_device(*device));
  KW_CHECK(again.has_value(), "{}", again.error().message);
  KW_CHECK(print_device(*again) == print_device(*device) && again->key() == device->key(),
           "changed by printing: {}", json->dump());
  KW_CHECK(roofline_us(*device, 1e9, 1e6) >= 0, "roofline of {}", json->dump());
}

}  // namespace kw::fuzz
