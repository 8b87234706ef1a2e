#include "loop/calibrate.h"

#include <cstdio>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress_line.h"

namespace kw {
namespace {

struct CalibrateOptions {
  std::string target = "cpu", threads = "1", store;
  bool json = false;
};

int run_calibrate_command(const CalibrateOptions& options, const CLI::App& command) {
  TunePlan plan;
  plan.target = options.target;
  const auto threads = parse_threads(options.threads);
  if (!threads) return explain(threads.error());
  plan.threads = *threads;
  plan.store_path = options.store;
  plan.cache_folder = find_cache_folder() / "objects";
  plan.command = print_command(command);
  catch_interrupts();
  ProgressLine progress(true);
  const auto facts = run_calibrate(plan, progress, [] { return was_interrupted(); });
  if (!facts) return explain(facts.error());
  if (options.json) {
    std::printf("%s\n", print_json(print_device(*facts), 2).c_str());
    return kExitOk;
  }
  std::printf("%s, %s, %d %s, %s\n", facts->name.c_str(), facts->isa.c_str(), facts->cores,
              facts->target == "cuda" ? "SMs" : "cores", facts->compiler.c_str());
  std::printf("  product (%s)    %.0f GFLOP/s\n", facts->target == "cuda" ? "f16" : "f32",
              facts->peak_gflops);
  std::printf("  copy             %.0f GB/s read + written\n", facts->bandwidth_gbs);
  std::printf("  launch           %.3f us\n", facts->launch_floor_us);
  return kExitOk;
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("calibrate", "measure what this device can do at most; kept in the store");
  auto options = std::make_shared<CalibrateOptions>();
  command->add_option("--target", options->target, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "cores, on the CPU: a number or all")
      ->capture_default_str();
  command->add_flag("--json", options->json, "one JSON document");
  add_store_option(*command, options->store);
  command->callback(
      [options, command, &exit_code] { exit_code = run_calibrate_command(*options, *command); });
}

}  // namespace kw
