#include "loop/certify.h"

#include <fmt/chrono.h>

#include <ctime>

#include "base/hash.h"
#include "compile/compile.h"
#include "emit/gemm_cpu.h"

namespace kw {
namespace {

std::string print_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string find_lack(const Evaluation& evaluation, const Timing& timing) {
  if (!evaluation.verdict.passed() || !evaluation.verdict.promoted)
    return "it has not passed over its whole domain in fresh processes (only chosen kernels are verified so "
           "far)";
  if (evaluation.source_text.empty())
    return "its source text is not known here (it was imported from a table)";
  if (!evaluation.launch) return "its launch record is not known here";
  if (timing.latency_us.empty() || timing.latency_us.size() != timing.baseline_latency_us.size())
    return "its single samples were deleted (store clean --samples)";
  return "";
}

}  // namespace

Source make_certified_source(const std::string& text, const std::string& language,
                             const LaunchRecord& launch) {
  Source source;
  source.text = text;
  source.language = language;
  source.launch = launch;
  source.flags = get_cpu_flags(launch.isa == "avx512");
  return source;
}

Result<Certificate> certify(const Evaluation& evaluation, const Timing& timing, const DeviceFacts& device) {
  const std::string kernel = short_hash(evaluation.binary_hash);
  if (const std::string lack = find_lack(evaluation, timing); !lack.empty())
    return fail_user("kernel {} cannot be certified: {}", kernel, lack);
  Certificate certificate;
  auto verified = read_verification(evaluation.verdict.evidence);
  if (!verified)
    return fail_user("kernel {} cannot be certified: {}; it was verified by an earlier version, tune again",
                     kernel, verified.error().message);
  certificate.verified = std::move(*verified);
  certificate.kernel = evaluation.binary_hash;
  certificate.name = evaluation.kernel_name;
  certificate.family = evaluation.proposal.family;
  certificate.schedule = evaluation.proposal.schedule;
  certificate.source_hash = evaluation.source_hash;
  certificate.language = evaluation.proposal.free_language;
  certificate.source = evaluation.source_text;
  certificate.launch = *evaluation.launch;
  KW_TRY(certificate.problem, parse_problem(evaluation.problem));
  const Source source = make_certified_source(certificate.source, certificate.language, certificate.launch);
  certificate.toolchain = {evaluation.compiler, list_flags(source, evaluation.compiler), KW_VERSION};
  if (hash_source(source, certificate.toolchain.flags, evaluation.compiler) != evaluation.source_hash)
    return fail_user(
        "kernel {} cannot be certified: it was compiled with other flags than this version's; tune again",
        kernel);
  certificate.timing = timing;
  certificate.device = device;
  certificate.date = print_now();
  return certificate;
}

}  // namespace kw
