// Problem -> Workload: operands as stored, sizes, scalars, flops and bytes. The only place that knows what a
// GEMM's operands are.
#pragma once

#include "record/launch.h"
#include "record/workload.h"

namespace kw {

// The problem must have passed check_problem. flops = 2 m n k; bytes = A + B + C (C twice when beta != 0).
[[nodiscard]] Workload make_workload(const Problem& problem);

// The variables of launch expressions: the workload's sizes and "threads".
[[nodiscard]] Variables make_variables(const Workload& workload, int threads);

}  // namespace kw
