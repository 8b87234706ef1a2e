// Names of the numbers by which cuBLASLt describes an algorithm, for people and records. In: ids. Out: text,
// "id 700" where the id is younger than this list. Used by vendor_cublaslt.cc.
#pragma once

#include <cstdint>
#include <string>

namespace kw::cuda {

[[nodiscard]] std::string print_lt_tile(uint32_t id);           // "128x256": rows x columns of C transposed
[[nodiscard]] std::string print_lt_stages(uint32_t id);         // "64x4": depth of a stage x stages
[[nodiscard]] std::string print_lt_cluster(uint32_t id);        // "2x1x1", "auto"
[[nodiscard]] std::string print_lt_reduction(uint32_t scheme);  // "none", "compute type"

}  // namespace kw::cuda
