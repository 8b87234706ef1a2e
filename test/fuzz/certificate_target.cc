// Certificate: as it stands, and with the seal a forger would put on it. What is accepted is, byte for byte,
// what we print; a sealed text with one byte changed never is.
#include "ship/certificate.h"

#include "base/check.h"
#include "base/hash.h"
#include "target.h"

namespace kw::fuzz {
namespace {

std::string put_seal(Json json) {
  json.erase("seal");
  json["seal"] = hash_parts({json.dump()});
  return json.dump(2) + "\n";
}

void read(std::string_view text) {
  const auto certificate = parse_certificate(text, "certificate.json");
  if (!certificate) return demand_plain(certificate.error());
  KW_CHECK(print_certificate(*certificate) == text, "not as we print it: {}", text);
  std::string changed(text);
  char& letter = changed[hash_parts({text}).front() % text.size()];
  letter = letter == 'a' ? 'b' : 'a';
  KW_CHECK(!parse_certificate(changed, "changed"), "a changed byte is accepted: {}", changed);
}

}  // namespace

void run_certificate(std::string_view input) {
  read(input);
  const auto json = parse_json(input, "certificate.json");
  if (!json) return demand_plain(json.error());
  if (json->is_object()) read(put_seal(*json));
}

}  // namespace kw::fuzz
