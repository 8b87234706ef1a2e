// Vendor routines on the CPU: OpenBLAS, oneDNN, LIBXSMM, loaded with dlopen at run time. Only trusted code of
// ours calls them, in a worker process that never sees a candidate.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/workload.h"

namespace kw {

// A routine prepared for one workload: library loaded, threads set, primitive or kernel created, memory
// objects made for every operand set. call() does nothing but the user's call.
class VendorRoutine {
 public:
  virtual ~VendorRoutine() = default;
  virtual void call(int set) = 0;
  // What the library chose, for people and records: "brg:avx512_core", "cblas_sgemm, core SkylakeX"; may be
  // empty.
  virtual std::string algorithm() const { return {}; }
};

struct VendorInfo {
  std::string name;     // "openblas", "onednn", "libxsmm"
  std::string version;  // empty when not found
  std::string path;     // of the loaded library
  std::string missing;  // why it cannot be used and how to get it; empty = present
};
// Loads what is there into this process for good (OpenBLAS starts its threads then, which wait idle); a
// missing or broken library is told in `missing`.
[[nodiscard]] std::vector<VendorInfo> find_vendors();

// Whether the routine can compute this workload at all (layout, dtype, strides, scalars); reason when not.
// Loads no library and does not say whether one is here.
[[nodiscard]] std::optional<std::string> find_vendor_refusal(const std::string& name,
                                                             const Workload& workload);

// operand_sets[s][i]: pointer to operand i of set s. Sets the library's number of threads for this process;
// call() must then come from the thread that opened (OpenMP keeps the number per thread). Errors: a refused
// workload, a missing library, a library that cannot use so many threads.
[[nodiscard]] Result<std::unique_ptr<VendorRoutine>> open_vendor(
    const std::string& name, const Workload& workload, int threads,
    std::span<const std::vector<void*>> operand_sets);

}  // namespace kw
