// The list of families. In: problem, device. Out: their spaces. A new family is one more line in the table.
#include "schedule/space.h"

#include <algorithm>

#include "schedule/gemm_async.h"
#include "schedule/gemm_cpu_space.h"
#include "schedule/gemm_direct.h"
#include "schedule/gemm_wgmma.h"
#include "schedule/joint_space.h"

namespace kw {
namespace {

struct Family {
  std::string_view name;
  std::optional<std::string> (*find_refusal)(const Problem&, const DeviceFacts&);
  std::unique_ptr<Space> (*make)(const Problem&, const DeviceFacts&);
};

constexpr Family kFamilies[] = {
    {"gemm_cpu", find_gemm_cpu_refusal, make_gemm_cpu_space},
    {"gemm_wgmma", find_gemm_wgmma_refusal, make_gemm_wgmma_space},
    {"gemm_direct", find_gemm_direct_refusal, make_gemm_direct_space},
    {"gemm_async", find_gemm_async_refusal, make_gemm_async_space},
};

constexpr std::string_view kJointName = "gemm_cuda";  // the GPU's families as one

}  // namespace

std::vector<std::unique_ptr<Space>> make_spaces(const Problem& problem, const DeviceFacts& device) {
  std::vector<std::unique_ptr<Space>> spaces;
  for (const Family& family : kFamilies)
    if (!family.find_refusal(problem, device)) spaces.push_back(family.make(problem, device));
  if (device.target != "cuda" || spaces.empty()) return spaces;
  std::vector<std::unique_ptr<Space>> joint;
  joint.push_back(make_joint_space(kJointName, std::move(spaces)));
  return joint;
}

Result<std::unique_ptr<Space>> make_space(std::string_view family, const Problem& problem,
                                          const DeviceFacts& device) {
  if (family == kJointName) {
    auto spaces = make_spaces(problem, device);
    if (spaces.empty() || spaces.front()->family() != kJointName)
      return fail_user("no family of {} computes {} on {}", kJointName, describe_problem(problem),
                       device.isa);
    return std::move(spaces.front());
  }
  const auto* known = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& one) { return one.name == family; });
  if (known == std::end(kFamilies)) {
    std::string names;
    for (const Family& one : kFamilies) names += fmt::format("{}, ", one.name);
    names += kJointName;
    return fail_user("kernel family \"{}\" is not known; families: {}", family, names);
  }
  if (const auto refusal = known->find_refusal(problem, device)) return fail_user("{}", *refusal);
  return known->make(problem, device);
}

}  // namespace kw
