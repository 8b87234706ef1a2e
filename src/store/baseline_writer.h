// BaselineRecord -> row, one per run, problem, name and version; the later figure stays. Used by
// add_baselines and merge inside their transaction.
#pragma once

#include "store/database.h"
#include "store/store.h"

namespace kw {

// measured: ISO 8601 UTC.
[[nodiscard]] Status write_baseline(Database& database, int64_t run, int protocol_version,
                                    const std::string& measured, const BaselineRecord& baseline);

}  // namespace kw
