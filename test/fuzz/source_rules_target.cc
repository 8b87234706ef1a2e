// Free-form kernel text: a refusal names a rule and its evidence can be stored and shown.
#include "base/check.h"
#include "emit/source_rules.h"
#include "target.h"

namespace kw::fuzz {

void run_source_rules(std::string_view input) {
  const auto violation = find_source_violation(input);
  if (!violation) {
    KW_CHECK(is_utf8(input) && !input.empty() && input.size() <= kMaxSourceBytes, "{} bytes", input.size());
    return;
  }
  KW_CHECK(violation->klass == VerdictClass::kIllegal && !violation->reason.empty(), "{}", violation->code());
  demand_text(violation->evidence.dump(), kMaxPrintedBytes);  // dump throws on text that is not UTF-8
}

}  // namespace kw::fuzz
