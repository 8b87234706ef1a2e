// Names a wrong output from the pattern of its errors: where they are, what stands there, whether the right
// values stand elsewhere. Called once an output has failed; changes no verdict from fail to pass.
#pragma once

#include <cstddef>
#include <span>

#include "verify/compare.h"
#include "verify/reason.h"

namespace kw {

// `comparison` has at least one wrong element.
[[nodiscard]] Named name_error(const Check& check, const Comparison& comparison,
                               std::span<const std::byte> output, const Scene& scene);

}  // namespace kw
