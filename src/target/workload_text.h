// A workload as text, for a baseline's worker: print and parse are inverse. Used by program (print) and
// worker (parse); never crosses to a candidate's worker.
#pragma once

#include <string>
#include <string_view>

#include "record/workload.h"

namespace kw {

[[nodiscard]] std::string print_workload_text(const Workload& workload);
[[nodiscard]] Result<Workload> parse_workload_text(std::string_view text);

}  // namespace kw
