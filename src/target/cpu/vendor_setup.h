// A workload as text, for a baseline's worker: print and parse are inverse. Used by program (print) and
// worker (parse); never crosses to a candidate's worker.
#pragma once

#include <string>
#include <string_view>

#include "record/workload.h"

namespace kw {

[[nodiscard]] std::string print_vendor_workload(const Workload& workload);
[[nodiscard]] Result<Workload> parse_vendor_workload(std::string_view text);

}  // namespace kw
