#include "selftest/edit.h"

#include "base/check.h"

namespace kw {

std::string apply_edits(std::string text, const std::vector<Edit>& edits, std::string_view mutant) {
  for (const Edit& edit : edits) {
    const size_t at = text.find(edit.from);
    KW_CHECK(at != std::string::npos, "mutant {}: no \"{}\" in the text", mutant, edit.from);
    text.replace(at, edit.from.size(), edit.to);
  }
  return text;
}

}  // namespace kw
