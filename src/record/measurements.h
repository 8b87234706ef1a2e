// The columns of the compact measurement table: written by store's export, read back by its import and by the
// recorded target. store/query.h says what each column holds.
#pragma once

#include <string_view>

namespace kw {

inline constexpr std::string_view kMeasurementsHeader =
    "problem,family,schedule,binary_hash,verdict,median_us,ratio,baseline_us,device_key,protocol_version,"
    "baseline,mode,cache,threads,ratio_low,ratio_high,disturbed";

}  // namespace kw
