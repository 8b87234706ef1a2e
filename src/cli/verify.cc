#include <cstdio>

#include "base/hash.h"
#include "base/random.h"
#include "cli/commands.h"
#include "cli/kernel_options.h"

namespace kw {
namespace {

constexpr size_t kMostCertificateBytes = size_t{16} << 20;

struct VerifyOptions {
  KernelOptions kernel;
  std::string certificate;
  uint64_t seed = 0;
  bool has_seed = false, json = false;
};

Json make_json(const VerifyOutcome& outcome) {
  const Evaluation& evaluation = outcome.evaluation;
  Json json = {{"verdict", evaluation.verdict.code()},
               {"kernel", evaluation.binary_hash.empty() ? Json() : Json(evaluation.binary_hash)},
               {"problem", evaluation.problem},
               {"compiler", evaluation.compiler},
               {"evidence", evaluation.verdict.evidence}};
  return json;
}

void print_verdict(const Verdict& verdict, const std::string& title) {
  std::printf("%s\n", title.c_str());
  const std::string families = verdict.passed() ? print_families(verdict.evidence) : "";
  if (!families.empty()) std::printf("%s", families.c_str());
  if (verdict.passed())
    std::printf("other shapes: %zu, seed %s\n\n", verdict.evidence["domain_shapes"].size(),
                verdict.evidence["seed"].dump().c_str());
  else
    std::printf("evidence  %s\n\n", print_json(verdict.evidence, 2).c_str());
}

void print_end(const Evaluation& evaluation) {
  if (!evaluation.binary_hash.empty()) std::printf("kernel    %s\n", evaluation.binary_hash.c_str());
  std::printf("verdict   %s\n", evaluation.verdict.code().c_str());
}

int run_source(const VerifyOptions& options, const CLI::App& command) {
  const auto request = options.kernel.make_request(command);
  if (!request) return explain(request.error());
  const uint64_t seeds[] = {options.has_seed ? options.seed : make_secret_seed()};
  const auto outcome = run_verify(*request, seeds);
  if (!outcome) return explain(outcome.error());
  const Evaluation& evaluation = outcome->evaluation;
  if (options.json) {
    std::printf("%s\n", print_json(make_json(*outcome), 2).c_str());
  } else {
    print_verdict(evaluation.verdict, describe_problem(request->problem));
    print_end(evaluation);
  }
  return evaluation.verdict.passed() ? kExitOk : kExitRefused;
}

std::string describe_build(const RecheckOutcome& outcome, const Certificate& certificate) {
  const Evaluation& evaluation = outcome.verified.evaluation;
  if (evaluation.binary_hash.empty()) return "no binary was built here";
  if (outcome.same_binary) return "the certified one, byte for byte";
  std::string why;
  if (!outcome.same_compiler)
    why =
        fmt::format("other compiler: {} here, {} there", evaluation.compiler, certificate.toolchain.compiler);
  else if (!outcome.same_flags)
    why = fmt::format("other flags in version {}", certificate.toolchain.kernelwright);
  else
    why = "same compiler and flags: not reproducible";
  return fmt::format("another one ({}); verified all the same", why);
}

int run_certificate(const VerifyOptions& options) {
  const auto text = read_file(options.certificate, kMostCertificateBytes);
  if (!text) return explain(text.error());
  const auto certificate = parse_certificate(*text, options.certificate);
  if (!certificate) return explain(certificate.error());
  const auto outcome = run_recheck(*certificate, options.certificate, find_cache_folder() / "objects");
  if (!outcome) return explain(outcome.error());
  const VerifyOutcome& verified = outcome->verified;
  if (options.json) {
    Json json = make_json(verified);
    json["certificate"] = options.certificate;
    json["certified_kernel"] = certificate->kernel;
    json["same_compiler"] = outcome->same_compiler;
    json["same_flags"] = outcome->same_flags;
    json["same_binary"] = outcome->same_binary;
    json["runs"] = Json::array();
    for (const Verdict& verdict : verified.verdicts)
      json["runs"].push_back({{"verdict", verdict.code()}, {"evidence", verdict.evidence}});
    std::printf("%s\n", print_json(json, 2).c_str());
  } else {
    std::printf("%s: %s, %s, certified %s; seal and source hash fit\n\n", options.certificate.c_str(),
                certificate->name.c_str(), describe_problem(certificate->problem).c_str(),
                certificate->date.c_str());
    const char* titles[] = {"with the recorded seed", "with a fresh seed"};
    for (size_t at = 0; at < verified.verdicts.size(); ++at) print_verdict(verified.verdicts[at], titles[at]);
    if (verified.verdicts.empty())
      std::printf("evidence  %s\n\n", print_json(verified.evaluation.verdict.evidence, 2).c_str());
    std::printf("binary    %s\n", describe_build(*outcome, *certificate).c_str());
    print_end(verified.evaluation);
  }
  return verified.evaluation.verdict.passed() ? kExitOk : kExitRefused;
}

int run_verify_command(const VerifyOptions& options, const CLI::App& command) {
  const bool by_source = !options.kernel.source.empty();
  if (by_source == !options.certificate.empty())
    return explain(Error{fmt::format("{}: give SOURCE with --launch FILE, or --certificate FILE",
                                     by_source ? "two kernels given" : "no kernel given"),
                         ErrorKind::kUser});
  if (!by_source) return run_certificate(options);
  if (options.kernel.launch.empty())
    return explain(
        Error{"--launch is needed: the kernel's launch record, see doc/kernel.md", ErrorKind::kUser});
  return run_source(options, command);
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "verify", "is a kernel right? errors beside bounds, no timing; or: does a certificate hold here?");
  auto options = std::make_shared<VerifyOptions>();
  options->kernel.add_to(*command, false);
  command->add_option("--certificate", options->certificate, "written by check --out or show --certificate");
  auto* seed =
      command->add_option("--seed", options->seed, "of the inputs, to repeat a run; secret when left out");
  command->add_flag("--json", options->json, "one JSON document");
  command->callback([options, command, seed, &exit_code] {
    options->has_seed = seed->count() > 0;
    exit_code = run_verify_command(*options, *command);
  });
}

}  // namespace kw
