// The value of one output element after timed calls (protocol.md C: timed outputs at hidden random indices
// are checked). In: a problem and its contract. Out: a function for src/measure. Not a Check: it knows no
// families.
#pragma once

#include "record/launch.h"
#include "record/spot.h"
#include "record/workload.h"

namespace kw {

// C_r = alpha (A B)_ij + beta C_(r-1), r = calls, in float64; the bound is rounding.h's, carried along. Costs
// k products a look.
[[nodiscard]] SpotReference make_spot_reference(const Workload& workload, const Contract& contract);

}  // namespace kw
