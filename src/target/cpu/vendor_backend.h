// What each vendor_*.cc provides to vendor.cc: find, refuse, open. Private to the vendors.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "target/cpu/vendor.h"

namespace kw {

using OperandSets = std::span<const std::vector<void*>>;

// Operands of one set of a GEMM: A, B, C in the order of the workload.
struct GemmPointers {
  const float* a = nullptr;  // as stored: (m,k), or (k,m) when A is transposed
  const float* b = nullptr;  // as stored: (k,n), or (n,k) when B is transposed
  float* c = nullptr;        // (m,n)
};
[[nodiscard]] std::vector<GemmPointers> make_gemm_pointers(OperandSets sets);

[[nodiscard]] inline bool is_a_transposed(Layout layout) {
  return layout == Layout::kTN || layout == Layout::kTT;
}
[[nodiscard]] inline bool is_b_transposed(Layout layout) {
  return layout == Layout::kNT || layout == Layout::kTT;
}

struct VendorBackend {
  const char* name;
  // Loads the library.
  VendorInfo (*find)();
  // For a checked f32 GEMM; loads nothing.
  std::optional<std::string> (*find_refusal)(const Problem& problem);
  // For a problem that is not refused.
  Result<std::unique_ptr<VendorRoutine>> (*open)(const Problem& problem, int threads, OperandSets sets);
};

extern const VendorBackend kOpenblas;
extern const VendorBackend kOnednn;
extern const VendorBackend kXsmm;

}  // namespace kw
