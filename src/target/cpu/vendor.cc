// Chooses the vendor by name and checks what all of them ask for. See vendor.h.
#include "target/cpu/vendor.h"

#include <array>
#include <climits>

#include "base/check.h"
#include "target/cpu/vendor_backend.h"

namespace kw {
namespace {

constexpr std::array<const VendorBackend*, 3> kBackends = {&kOpenblas, &kOnednn, &kXsmm};

const VendorBackend* find_backend(const std::string& name) {
  for (const VendorBackend* backend : kBackends) {
    if (name == backend->name) return backend;
  }
  return nullptr;
}

// What no CPU vendor routine of ours computes. All three take 32-bit sizes and strides.
std::optional<std::string> find_general_refusal(const Problem& problem) {
  if (problem.op != "gemm") return fmt::format("operation {}: only gemm", problem.op);
  if (problem.dtype != Dtype::kF32) return fmt::format("type {}: only f32", print_dtype(problem.dtype));
  if (auto checked = check_problem(problem); !checked) return checked.error().message;
  const std::array<std::pair<const char*, int64_t>, 6> sizes = {{{"m", problem.m},
                                                                 {"n", problem.n},
                                                                 {"k", problem.k},
                                                                 {"lda", problem.lda},
                                                                 {"ldb", problem.ldb},
                                                                 {"ldc", problem.ldc}}};
  for (const auto& [name, value] : sizes) {
    if (value > INT_MAX) return fmt::format("{} = {} is above {} (32-bit interface)", name, value, INT_MAX);
  }
  return std::nullopt;
}

}  // namespace

std::vector<GemmPointers> make_gemm_pointers(OperandSets sets) {
  std::vector<GemmPointers> pointers;
  for (const std::vector<void*>& set : sets) {
    KW_CHECK(set.size() == 3, "a GEMM has 3 operands, got {}", set.size());
    pointers.push_back(
        {static_cast<const float*>(set[0]), static_cast<const float*>(set[1]), static_cast<float*>(set[2])});
  }
  return pointers;
}

std::vector<VendorInfo> find_vendors() {
  std::vector<VendorInfo> vendors;
  for (const VendorBackend* backend : kBackends) vendors.push_back(backend->find());
  return vendors;
}

std::optional<std::string> find_vendor_refusal(const std::string& name, const Workload& workload) {
  const VendorBackend* backend = find_backend(name);
  if (backend == nullptr) return fmt::format("no baseline '{}': openblas, onednn or libxsmm", name);
  if (auto refusal = find_general_refusal(workload.problem)) return refusal;
  return backend->find_refusal(workload.problem);
}

Result<std::unique_ptr<VendorRoutine>> open_vendor(const std::string& name, const Workload& workload,
                                                   int threads,
                                                   std::span<const std::vector<void*>> operand_sets) {
  KW_CHECK(threads >= 1, "threads {}", threads);
  KW_CHECK(!operand_sets.empty(), "no operand sets for {}", name);
  if (auto refusal = find_vendor_refusal(name, workload)) {
    return fail("{} does not compute {}: {}", name, describe_problem(workload.problem), *refusal);
  }
  auto routine = find_backend(name)->open(workload.problem, threads, operand_sets);
  if (!routine) return with_context(routine.error(), name);
  return routine;
}

}  // namespace kw
