// What ptxas says of the code it made (-v), as facts of a binary. In: NVRTC's log. Out: JSON. Called by
// compile.
#pragma once

#include <string_view>

#include "base/json.h"

namespace kw {

// {"registers", "spill_store_bytes", "spill_load_bytes", "stack_bytes", "shared_bytes": largest of all
// kernels; "warnings": ["C7510: ..."]}. What the log does not say is left out.
[[nodiscard]] Json read_ptxas_report(std::string_view log);

}  // namespace kw
