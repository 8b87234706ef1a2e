// The list of families. In: problem, device. Out: their spaces. A new family is one more line in each
// function.
#include "schedule/space.h"

#include "schedule/gemm_cpu_space.h"

namespace kw {

std::vector<std::unique_ptr<Space>> make_spaces(const Problem& problem, const DeviceFacts& device) {
  std::vector<std::unique_ptr<Space>> spaces;
  if (!find_gemm_cpu_refusal(problem, device)) spaces.push_back(make_gemm_cpu_space(problem, device));
  return spaces;
}

Result<std::unique_ptr<Space>> make_space(std::string_view family, const Problem& problem,
                                          const DeviceFacts& device) {
  if (family != "gemm_cpu") return fail_user("kernel family \"{}\" is not known; families: gemm_cpu", family);
  if (const auto refusal = find_gemm_cpu_refusal(problem, device)) return fail_user("{}", *refusal);
  return make_gemm_cpu_space(problem, device);
}

}  // namespace kw
