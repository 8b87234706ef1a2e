// Timing <-> rows of `timings` and `samples`. Used by the evaluation and decision code of src/store.
#pragma once

#include "record/candidate.h"
#include "store/database.h"

namespace kw {

// Columns of alias t that load_timing reads, in order.
inline constexpr const char* kTimingColumns =
    "t.id, t.baseline, t.mode, t.cache, t.threads, t.median_us, t.baseline_median_us, t.ratio, t.ratio_low, "
    "t.ratio_high, t.confirmed, t.disturbed, t.note";
inline constexpr int kTimingColumnCount = 13;

// purpose: "search" (at most one per verdict) or "decision". Returns the timing's row number.
[[nodiscard]] Result<int64_t> add_timing(Database& database, int64_t verdict, const std::string& purpose,
                                         const Timing& timing);

// The timing whose columns begin at first_column; nothing when they are NULL. Samples are read where asked
// for.
[[nodiscard]] Result<std::optional<Timing>> load_timing(Database& database, const Statement& row,
                                                        int first_column, const std::string& binary_hash,
                                                        bool with_samples);

}  // namespace kw
