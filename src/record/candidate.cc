#include "record/candidate.h"

#include <array>

namespace kw {
namespace {

constexpr std::array<std::string_view, 14> kClassNames = {
    "pass",          "compile_error",  "illegal",
    "launch_error",  "wrong_result",   "precision_downgrade",
    "out_of_bounds", "input_modified", "nondeterministic",
    "race",          "hang",           "crash",
    "cheat",         "skipped"};

}  // namespace

std::string_view print_verdict_class(VerdictClass klass) { return kClassNames[static_cast<size_t>(klass)]; }

Result<VerdictClass> parse_verdict_class(std::string_view text) {
  for (size_t i = 0; i < kClassNames.size(); ++i)
    if (text == kClassNames[i]) return static_cast<VerdictClass>(i);
  return fail_user("verdict class \"{}\" is not known", text);
}

std::string Verdict::code() const {
  std::string text(print_verdict_class(klass));
  return reason.empty() ? text : text + "/" + reason;
}

}  // namespace kw
