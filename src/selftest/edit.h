// Exact replacements in a kernel's text: how a mutant comes from a right kernel. Used by mutants*.cc and
// cuda_mutants.cc; knows nothing of what the text means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct Edit {
  std::string from, to;
};

// The text with the first occurrence of each `from` replaced, in order. A `from` that does not occur is a
// mistake of ours and names the mutant.
[[nodiscard]] std::string apply_edits(std::string text, const std::vector<Edit>& edits,
                                      std::string_view mutant);

}  // namespace kw
