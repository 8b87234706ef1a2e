// Problem -> Workload: operands as stored, sizes, scalars, flops and bytes. The only place that knows what a
// GEMM's operands are.
#pragma once

#include "record/workload.h"

namespace kw {

// The problem must have passed check_problem. flops = 2 m n k; bytes = A + B + C (C twice when beta != 0).
[[nodiscard]] Workload make_workload(const Problem& problem);

}  // namespace kw
