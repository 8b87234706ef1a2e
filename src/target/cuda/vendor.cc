// Which vendor routines there are for a workload, and which name is which.
#include "target/cuda/vendor.h"

#include <algorithm>

#include "target/cuda/vendor_cublas.h"
#include "target/cuda/vendor_cublaslt.h"
#include "target/cuda/vendor_gemm.h"

namespace kw::cuda {
namespace {

constexpr const char *kDefault = "cublas", *kHeuristic = "cublaslt_heuristic";

}  // namespace

std::vector<VendorLibrary> find_vendor_libraries() { return {find_cublas(), find_cublaslt()}; }

Result<std::vector<std::string>> list_vendor_routines(const Workload& workload) {
  std::vector<std::string> names;
  if (find_vendor_refusal(workload.problem)) return names;
  if (find_cublas().missing.empty()) names.push_back(kDefault);
  if (!find_cublaslt().missing.empty()) return names;
  KW_TRY(const std::vector<LtChoice> choices, list_cublaslt(workload.problem));
  if (!choices.empty()) names.push_back(kHeuristic);
  for (const LtChoice& choice : choices) names.push_back(choice.name);
  return names;
}

Result<std::unique_ptr<VendorRoutine>> open_vendor_routine(const std::string& name, const Workload& workload,
                                                           DevicePointer workspace, size_t workspace_bytes) {
  if (const auto refusal = find_vendor_refusal(workload.problem)) return fail("{}: {}", name, *refusal);
  if (name == kDefault) return open_cublas(workload.problem, workspace, workspace_bytes);
  KW_TRY(const std::vector<LtChoice> choices, list_cublaslt(workload.problem));
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const LtChoice& choice) {
    return name == kHeuristic || choice.name == name;
  });
  if (found == choices.end())
    return fail("{}: cuBLASLt names {} algorithms for {}, and none of them so", name, choices.size(),
                describe_problem(workload.problem));
  return open_cublaslt(*found, workload.problem, workspace, workspace_bytes);
}

}  // namespace kw::cuda
