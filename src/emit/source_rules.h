// What a free-form source text may not contain, as a table rule -> reason. A first net with clear messages:
// the loader's checks of the object and the cage are what the trust rule rests on. Used by emit.cc; compiles
// nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "record/candidate.h"

namespace kw {

inline constexpr size_t kMaxSourceBytes = size_t{1} << 20;

// CUDA texts include nothing and may hold inline assembly, which tensor core code needs.
enum class SourceRules { kCpu, kCuda };

// An illegal/... verdict with the line as evidence, or nothing when the text keeps all rules.
[[nodiscard]] std::optional<Verdict> find_source_violation(std::string_view text,
                                                           SourceRules rules = SourceRules::kCpu);

}  // namespace kw
