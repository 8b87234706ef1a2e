// Names why elements of a GEMM are wrong: a handful of them is recomputed in float64 with one change at a
// time (last products missing, alpha twice, inputs rounded to bf16, ...) until one change explains all.
// Called by pattern.cc after an output has failed. Only the naming, never pass or fail, depends on this file;
// nothing here knows other operations.
#pragma once

#include <optional>
#include <span>

#include "verify/compare.h"
#include "verify/reason.h"

namespace kw {

// Nothing when the workload is no GEMM or no change
// explains all sampled elements within a few bounds.
[[nodiscard]] std::optional<Named> find_gemm_explanation(const Check& check, const Comparison& comparison,
                                                         const Scene& scene);

// The same for elements that are not finite but should be: A and B that count although alpha is 0.
[[nodiscard]] std::optional<Named> find_gemm_special_explanation(const Check& check,
                                                                 const Comparison& comparison,
                                                                 const Scene& scene);

}  // namespace kw
