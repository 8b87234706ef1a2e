// Vendor matrix products on the GPU: cuBLAS and cuBLASLt, loaded at run time. In: a workload whose operands
// lie in device memory. Out: routines that enqueue one call. Runs in the cuda worker, on its context; times
// nothing, verifies nothing.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/workload.h"
#include "target/cuda/driver.h"

namespace kw::cuda {

// One way of the vendor's to compute a workload, ready to be called. Capturable into a graph.
class VendorRoutine {
 public:
  virtual ~VendorRoutine() = default;
  // Enqueues one call; `operands`: addresses in the workload's order (a, b, c).
  [[nodiscard]] virtual Status enqueue(std::span<const DevicePointer> operands, Stream stream) = 0;
  // What runs: "cuBLASLt 13.1.0 algorithm 66 tile 128x128 stages 3 split-K 1 workspace 0".
  [[nodiscard]] virtual std::string identity() const = 0;
};

// What is there, or why not ("libcublasLt.so.13 cannot be loaded ..."). For doctor and facts.
struct VendorLibrary {
  std::string name;     // "cublas", "cublaslt"
  std::string version;  // empty when missing
  std::string missing;  // why
};
[[nodiscard]] std::vector<VendorLibrary> find_vendor_libraries();

// Names of all routines for a workload, the default ones first: "cublas", "cublaslt_heuristic", then
// "cublaslt_w32_0", "cublaslt_w32_1", ... (all algorithms that the heuristic returns with 32 MiB of
// workspace) and "cublaslt_w256_0", ... (those that come only with 256 MiB). Empty where no library can
// compute it. An error when a library that is there fails.
[[nodiscard]] Result<std::vector<std::string>> list_vendor_routines(const Workload& workload);

// Workspace that the named routine needs, at most 256 MiB; the worker owns it, 256-byte aligned.
inline constexpr size_t kVendorWorkspaceBytes = size_t{256} << 20;

// `name` as listed. The context must be current on this thread.
[[nodiscard]] Result<std::unique_ptr<VendorRoutine>> open_vendor_routine(const std::string& name,
                                                                         const Workload& workload,
                                                                         DevicePointer workspace,
                                                                         size_t workspace_bytes);

}  // namespace kw::cuda
