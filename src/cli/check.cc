#include <cstdio>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/kernel_options.h"
#include "cli/progress_line.h"
#include "cli/table.h"

namespace kw {
namespace {

struct CheckOptions {
  KernelOptions kernel;
  std::string store, out;
  bool json = false, quiet = false;
};

std::string print_outcome(const CheckOutcome& outcome) {
  const Evaluation& evaluation = outcome.evaluation;
  std::string text = fmt::format("verdict   {}\n", evaluation.verdict.code());
  if (!evaluation.binary_hash.empty()) text += fmt::format("kernel    {}\n", evaluation.binary_hash);
  if (!evaluation.verdict.passed())
    text += fmt::format("evidence  {}\n", print_json(evaluation.verdict.evidence, 2));
  if (!outcome.timing) return text;
  text += "\n" + print_families(evaluation.verdict.evidence) + "\n";
  const Timing& timing = *outcome.timing;
  text += fmt::format("time      {} a call ({:.1f} GFLOP/s), {} takes {}\n", print_time(timing.median_us),
                      outcome.flops / timing.median_us * 1e-3, timing.baseline,
                      print_time(timing.baseline_median_us));
  text += fmt::format("speedup   {:.3f}, 99.5 % interval [{:.3f}, {:.3f}]{}\n", timing.ratio,
                      timing.ratio_low, timing.ratio_high, timing.disturbed ? " (machine was busy)" : "");
  return text;
}

int run_check_command(const CheckOptions& options, const CLI::App& command) {
  auto request = options.kernel.make_request(command);
  if (!request) return explain(request.error());
  request->store_path = options.store;
  catch_interrupts();
  ProgressLine progress(options.quiet || options.json);
  const auto outcome = run_check(*request, progress, [] { return was_interrupted(); });
  if (!outcome) return explain(outcome.error());
  if (outcome->certificate && !options.out.empty())
    if (const auto written = write_file_atomically(options.out, print_certificate(*outcome->certificate));
        !written)
      return explain(written.error());
  if (options.json) {
    Json json = outcome->certificate ? print_certificate_json(*outcome->certificate) : Json::object();
    json["verdict"] = outcome->evaluation.verdict.code();
    json["evidence"] = outcome->evaluation.verdict.evidence;
    std::printf("%s\n", print_json(json, 2).c_str());
  } else {
    std::printf("%s", print_outcome(*outcome).c_str());
    if (outcome->certificate && !options.out.empty()) std::printf("written   %s\n", options.out.c_str());
  }
  return outcome->evaluation.verdict.passed() ? kExitOk : kExitRefused;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("check", "your own kernel: is it right, is it honest, how fast is it?");
  auto options = std::make_shared<CheckOptions>();
  options->kernel.add_to(*command, true);
  command->add_option("--out", options->out, "write the certificate there when the kernel passes");
  command->add_flag("--json", options->json, "verdict and certificate as one JSON document");
  command->add_flag("--quiet", options->quiet, "no progress");
  add_store_option(*command, options->store);
  command->callback([options, command, &exit_code] { exit_code = run_check_command(*options, *command); });
}

}  // namespace kw
