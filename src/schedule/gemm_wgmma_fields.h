// GemmWgmmaSchedule as the values of a field list: between gemm_wgmma.cc (key) and gemm_wgmma_rank.cc
// (space).
#pragma once

#include "schedule/field_space.h"
#include "schedule/gemm_wgmma.h"

namespace kw {

[[nodiscard]] const FieldList& get_gemm_wgmma_fields();
[[nodiscard]] FieldValues to_field_values(const GemmWgmmaSchedule& schedule);
[[nodiscard]] GemmWgmmaSchedule to_gemm_wgmma(const FieldValues& values);

}  // namespace kw
