#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress_line.h"
#include "cli/results.h"
#include "loop/tune.h"

namespace kw {
namespace {

struct TuneOptions {
  ShapeOptions shapes;
  std::string store, budget, shape_budget, threads = "1", proposers = "seed,evolve", target = "cpu", table,
                                           cache, trace;
  int64_t trials = 0, cache_mb = 512;
  uint64_t seed = 1;
  bool json = false, quiet = false, no_wait = false;
};

Result<TunePlan> make_plan(const TuneOptions& options, const CLI::App& command) {
  TunePlan plan;
  KW_TRY(plan.uses, options.shapes.find_uses());
  KW_TRY(plan.threads, parse_threads(options.threads));
  if (!options.budget.empty()) {
    KW_TRY(plan.budget_s, parse_duration(options.budget));
  }
  if (!options.shape_budget.empty()) {
    KW_TRY(plan.shape_budget_s, parse_duration(options.shape_budget));
  }
  if (options.trials < 0) return fail_user("--trials {}: use 1 or more", options.trials);
  plan.trials = options.trials;
  plan.seed = options.seed;
  plan.proposers.clear();
  for (size_t at = 0; at <= options.proposers.size();) {
    const size_t comma = std::min(options.proposers.find(',', at), options.proposers.size());
    plan.proposers.push_back(options.proposers.substr(at, comma - at));
    at = comma + 1;
  }
  plan.store_path = options.store;
  plan.cache_folder = options.cache.empty() ? find_cache_folder() / "objects" : fs::path(options.cache);
  plan.max_cache_bytes = options.cache_mb << 20;
  plan.wait_for_device = !options.no_wait;
  plan.command = print_command(command);
  if (options.target == "recorded" && options.table.empty())
    return fail_user("--target recorded needs --table FILE, a table written by `kernelwright store export`");
  if (options.target != "recorded" && !options.table.empty())
    return fail_user("--table {} goes with --target recorded", options.table);
  if (options.target == "cuda" && plan.threads != 1)
    return fail_user("--threads {}: a GPU's kernels have none; leave it out", options.threads);
  plan.target = options.target;
  plan.recorded_table = options.table;
  return plan;
}

int run_tune_command(const TuneOptions& options, const CLI::App& command) {
  const auto plan = make_plan(options, command);
  if (!plan) return explain(plan.error());
  catch_interrupts();
  ProgressLine progress(options.quiet, options.trace);
  const auto outcome = run_tune(*plan, progress, [] { return was_interrupted(); });
  if (!outcome) return explain(outcome.error());
  if (options.json)
    std::printf("%s\n", print_json(print_results_json(*plan, *outcome), 2).c_str());
  else
    std::printf("%s", print_results(*outcome).c_str());
  if (!outcome->interrupted)
    return std::any_of(outcome->results.begin(), outcome->results.end(),
                       [](const ProblemResult& result) { return !result.failure.empty(); })
               ? kExitWorld
               : kExitOk;
  progress.say("interrupted: what was measured is in the store; the same command goes on from it");
  return kExitInterrupted;
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("tune", "search kernels for shapes: write, prove, measure, keep the winners");
  auto options = std::make_shared<TuneOptions>();
  options->shapes.add_to(*command);
  command->add_option("--budget", options->budget, "time for the whole command, such as 60s or 10m");
  command->add_option("--shape-budget", options->shape_budget,
                      "time for each shape (default 20s without --trials)");
  command->add_option("--trials", options->trials, "kernels to try per shape, those in the store included");
  command->add_option("--threads", options->threads, "cores a kernel uses: a number or all")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the search; inputs always come from a fresh secret seed")
      ->capture_default_str();
  command->add_option("--proposers", options->proposers, "who suggests kernels: seed, evolve, random")
      ->capture_default_str();
  command->add_option("--target", options->target, "cpu, cuda, or recorded to replay --table")
      ->check(CLI::IsMember({"cpu", "cuda", "recorded"}))
      ->capture_default_str();
  command->add_option("--table", options->table, "with --target recorded: table of measurements");
  command->add_option("--cache", options->cache,
                      "folder of compiled kernels (default: the user's cache folder)");
  command->add_option("--cache-mb", options->cache_mb, "its size limit")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command->add_flag("--no-wait", options->no_wait,
                    "fail when another run uses the device, instead of waiting");
  command->add_option("--trace", options->trace, "append one line of JSON per evaluation to this file");
  command->add_flag("--json", options->json, "one JSON document on standard output");
  command->add_flag("--quiet", options->quiet, "no progress");
  add_store_option(*command, options->store);
  command->callback([options, command, &exit_code] { exit_code = run_tune_command(*options, *command); });
}

}  // namespace kw
