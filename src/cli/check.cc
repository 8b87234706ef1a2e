#include <cstdio>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress_line.h"
#include "cli/table.h"
#include "loop/check_kernel.h"

namespace kw {
namespace {

struct CheckOptions {
  ShapeOptions shapes;
  std::string source, launch, store, out, threads = "1";
  bool json = false, quiet = false;
};

Result<CheckRequest> make_request(const CheckOptions& options, const CLI::App& command) {
  CheckRequest request;
  KW_TRY(request.text, read_file(options.source, 1 << 20));
  request.language = fs::path(options.source).extension() == ".c" ? "c" : "c++";
  request.name = fs::path(options.source).filename().string();
  KW_TRY(const std::string launch_text, read_file(options.launch, 1 << 20));
  KW_TRY(const Json launch_json, parse_json(launch_text, options.launch));
  auto launch = parse_launch(launch_json);
  if (!launch) return with_context(launch.error(), options.launch);
  request.launch = std::move(*launch);
  ShapeOptions shapes = options.shapes;
  if (shapes.layout.empty()) shapes.layout = std::string(print_layout(request.launch.layout));
  KW_TRY(const auto uses, shapes.find_uses());
  if (uses.size() != 1) return fail_user("check takes one shape, {} were given", uses.size());
  request.problem = uses[0].problem;
  if (request.problem.layout != request.launch.layout)
    return fail_user("--layout {} but {} says {}", print_layout(request.problem.layout), options.launch,
                     print_layout(request.launch.layout));
  KW_TRY(request.threads, parse_threads(options.threads));
  request.store_path = options.store;
  request.cache_folder = find_cache_folder() / "objects";
  request.command = print_command(command) + " " + options.source;
  return request;
}

std::string print_outcome(const CheckOutcome& outcome) {
  const Evaluation& evaluation = outcome.evaluation;
  std::string text = fmt::format("verdict   {}\n", evaluation.verdict.code());
  if (!evaluation.binary_hash.empty()) text += fmt::format("kernel    {}\n", evaluation.binary_hash);
  text += fmt::format("evidence  {}\n", evaluation.verdict.evidence.dump(2));
  if (!outcome.timing) return text;
  const Timing& timing = *outcome.timing;
  text += fmt::format("time      {} a call ({:.1f} GFLOP/s), {} takes {}\n", print_time(timing.median_us),
                      outcome.flops / timing.median_us * 1e-3, timing.baseline,
                      print_time(timing.baseline_median_us));
  text += fmt::format("speedup   {:.3f}, 99.5 % interval [{:.3f}, {:.3f}]{}\n", timing.ratio,
                      timing.ratio_low, timing.ratio_high, timing.disturbed ? " (machine was busy)" : "");
  return text;
}

int run_check_command(const CheckOptions& options, const CLI::App& command) {
  const auto request = make_request(options, command);
  if (!request) return explain(request.error());
  catch_interrupts();
  ProgressLine progress(options.quiet || options.json);
  const auto outcome = run_check(*request, progress, [] { return was_interrupted(); });
  if (!outcome) return explain(outcome.error());
  if (outcome->certificate && !options.out.empty())
    if (const auto written = write_file_atomically(options.out, outcome->certificate->dump(2) + "\n");
        !written)
      return explain(written.error());
  if (options.json) {
    Json json = outcome->certificate.value_or(Json::object());
    json["verdict"] = outcome->evaluation.verdict.code();
    json["evidence"] = outcome->evaluation.verdict.evidence;
    std::printf("%s\n", json.dump(2).c_str());
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
  command->add_option("source", options->source, "C or C++ text of the kernel; see doc/kernel.md")
      ->required();
  command->add_option("--launch", options->launch, "its launch record, JSON")->required();
  options->shapes.add_to(*command);
  command->add_option("--threads", options->threads, "cores the kernel may use")->capture_default_str();
  command->add_option("--out", options->out, "write the certificate there when the kernel passes");
  command->add_flag("--json", options->json, "verdict and certificate as one JSON document");
  command->add_flag("--quiet", options->quiet, "no progress");
  add_store_option(*command, options->store);
  command->callback([options, command, &exit_code] { exit_code = run_check_command(*options, *command); });
}

}  // namespace kw
