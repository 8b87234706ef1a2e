// Proposal -> Source by family. In: problem, proposal, device. Out: text with launch record, or an
// illegal/... verdict. Called by the loop; a new family is one more branch. Compiles and runs nothing.
#include "emit/emit.h"

#include <fmt/format.h>

#include "emit/device_text.h"
#include "emit/gemm_async.h"
#include "emit/gemm_cpu.h"
#include "emit/gemm_direct.h"
#include "emit/gemm_wgmma.h"
#include "emit/source_rules.h"
#include "schedule/cuda_limits.h"
#include "schedule/joint_space.h"

namespace kw {
namespace {

tl::unexpected<Verdict> make_illegal(std::string reason, std::string message) {
  Verdict verdict;
  verdict.klass = VerdictClass::kIllegal;
  verdict.reason = std::move(reason);
  verdict.evidence["message"] = std::move(message);
  return tl::unexpected(std::move(verdict));
}

tl::expected<Source, Verdict> make_gemm_cpu_source(const Problem& problem, const Proposal& proposal,
                                                   const DeviceFacts& device) {
  const auto schedule = parse_gemm_cpu(proposal.schedule);
  if (!schedule) return make_illegal("schedule", schedule.error().message);
  if (const auto reason = find_gemm_cpu_illegality(*schedule, problem, device))
    return make_illegal("schedule", *reason);
  return print_gemm_cpu_kernel(*schedule, problem.layout);
}

template <class Schedule>
tl::expected<Source, Verdict> make_cuda_source(
    const Problem& problem, const Proposal& proposal, const DeviceFacts& device,
    Result<Schedule> (*parse)(std::string_view),
    std::optional<std::string> (*find_illegality)(const Schedule&, const Problem&, const DeviceFacts&),
    Source (*print)(const Schedule&, Layout, Dtype)) {
  const auto schedule = parse(proposal.schedule);
  if (!schedule) return make_illegal("schedule", schedule.error().message);
  if (const auto reason = find_illegality(*schedule, problem, device))
    return make_illegal("schedule", *reason);
  return print(*schedule, problem.layout, problem.dtype);
}

// The author's text with the ABI in front; line numbers stay the author's. What this has made once (or a
// printed kernel, with the ABI in its midst) is made into itself, so that the source of a certificate can be
// built again.
struct FreeText {
  std::string whole;
  std::string_view authored;  // what the source rules apply to
};
FreeText make_free_text(std::string_view text) {
  const std::string_view abi = get_device_text("cpu_abi.h");
  const std::string head = fmt::format("{}\n#line 1\n", abi);
  if (text.starts_with(head)) return {std::string(text), text.substr(head.size())};
  if (text.find(abi) != std::string_view::npos) return {std::string(text), text};
  return {head + std::string(text), text};
}

std::optional<Verdict> find_cpu_isa_problem(const LaunchRecord& launch, const DeviceFacts& device) {
  if (launch.isa != "avx512" && launch.isa != "avx2")
    return make_illegal("launch", fmt::format("isa \"{}\" is not known; use avx2 or avx512", launch.isa))
        .value();
  if (launch.isa == "avx512" && device.isa != "avx512")
    return make_illegal("isa", "the launch record needs avx512 and this CPU has none").value();
  return std::nullopt;
}

// Code for sm_80 is compiled for any newer GPU; what "sm_90a" adds no other generation has.
std::optional<Verdict> find_cuda_isa_problem(const LaunchRecord& launch, const DeviceFacts& device) {
  const int needed = get_sm_version(launch.isa), offered = get_sm_version(device.isa);
  if (needed == 0)
    return make_illegal("launch",
                        fmt::format("isa \"{}\" is not known; use sm_80, sm_90a and the like", launch.isa))
        .value();
  if (launch.isa.ends_with('a') ? launch.isa != device.isa : needed > offered)
    return make_illegal("isa",
                        fmt::format("the launch record needs {}; this GPU is {}", launch.isa, device.isa))
        .value();
  return std::nullopt;
}

// A user's or a model's own text: nothing is added but the ABI on a CPU.
tl::expected<Source, Verdict> make_free_source(const Problem& problem, const Proposal& proposal,
                                               const DeviceFacts& device) {
  if (!proposal.free_launch) return make_illegal("launch", "a free-form kernel needs a launch record");
  const LaunchRecord& launch = *proposal.free_launch;
  if (launch.target != device.target)
    return make_illegal("launch", fmt::format("the launch record is for target \"{}\"; this device is \"{}\"",
                                              launch.target, device.target));
  if (launch.op != problem.op)
    return make_illegal("launch", fmt::format("the launch record computes \"{}\"; the problem is \"{}\"",
                                              launch.op, problem.op));
  if (launch.layout != problem.layout)
    return make_illegal("launch", fmt::format("the launch record has layout {}; the problem has {}",
                                              print_layout(launch.layout), print_layout(problem.layout)));
  if (launch.contract.input != problem.dtype || launch.contract.output != problem.dtype)
    return make_illegal("launch",
                        fmt::format("the launch record reads {} and writes {}; the problem is {}",
                                    print_dtype(launch.contract.input), print_dtype(launch.contract.output),
                                    print_dtype(problem.dtype)));
  if (launch.kernels.empty()) return make_illegal("launch", "the launch record names no kernel");
  const bool cuda = launch.target == "cuda";
  if (auto verdict = cuda ? find_cuda_isa_problem(launch, device) : find_cpu_isa_problem(launch, device))
    return tl::unexpected(*std::move(verdict));
  Source source;
  source.name = launch.kernels.front().name;
  source.launch = launch;
  source.language = proposal.free_language;
  FreeText text =
      cuda ? FreeText{proposal.free_text, proposal.free_text} : make_free_text(proposal.free_text);
  if (auto violation = find_source_violation(text.authored, cuda ? SourceRules::kCuda : SourceRules::kCpu))
    return tl::unexpected(*std::move(violation));
  source.text = std::move(text.whole);
  if (!cuda) source.flags = get_cpu_flags(launch.isa == "avx512");
  return source;
}

}  // namespace

bool has_this_abi(std::string_view source) {
  return source.find(get_device_text("cpu_abi.h")) != std::string_view::npos;
}

tl::expected<Source, Verdict> make_source(const Problem& problem, const Proposal& proposal,
                                          const DeviceFacts& device) {
  if (proposal.family == "gemm_cuda") {
    const auto [family, schedule] = split_joint_key(proposal.schedule);
    Proposal inner = proposal;
    inner.family = family;
    inner.schedule = schedule;
    if (inner.family == proposal.family) return make_illegal("schedule", "gemm_cuda within gemm_cuda");
    return make_source(problem, inner, device);
  }
  if (proposal.family == "gemm_cpu") return make_gemm_cpu_source(problem, proposal, device);
  if (proposal.family == "gemm_wgmma")
    return make_cuda_source(problem, proposal, device, parse_gemm_wgmma, find_gemm_wgmma_illegality,
                            print_gemm_wgmma_kernel);
  if (proposal.family == "gemm_direct")
    return make_cuda_source(problem, proposal, device, parse_gemm_direct, find_gemm_direct_illegality,
                            print_gemm_direct_kernel);
  if (proposal.family == "gemm_async")
    return make_cuda_source(problem, proposal, device, parse_gemm_async, find_gemm_async_illegality,
                            print_gemm_async_kernel);
  if (proposal.family == "free") return make_free_source(problem, proposal, device);
  return make_illegal("family",
                      fmt::format("kernel family \"{}\" is not known; families: gemm_cpu, gemm_wgmma, "
                                  "gemm_direct, gemm_async, free",
                                  proposal.family));
}

}  // namespace kw
