#include <cstdio>

#include "base/hash.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress_line.h"
#include "cli/table.h"
#include "loop/confirm.h"

namespace kw {
namespace {

struct ConfirmOptions {
  std::string store, threads = "1";
  bool json = false, quiet = false;
};

Json make_json(const ConfirmOutcome& outcome) {
  Json json;
  int64_t losses = 0, chosen = 0, unmeasured = 0;
  json["cases"] = Json::array();
  for (const ConfirmCase& entry : outcome.cases) {
    const bool ours = !entry.decision.binary_hash.empty();
    chosen += ours;
    losses += entry.loss;
    unmeasured += !entry.problem_found.empty();
    Json row = {{"problem", entry.decision.problem},
                {"kernel", ours ? Json(entry.decision.binary_hash) : Json()},
                {"schedule", entry.schedule},
                {"decided_ratio", entry.decision.ratio},
                {"loss", entry.loss},
                {"found", entry.problem_found}};
    if (entry.now) {
      row["baseline"] = entry.now->baseline;
      row["ratio"] = entry.now->ratio;
      row["ratio_low"] = entry.now->ratio_low;
      row["ratio_high"] = entry.now->ratio_high;
      row["median_us"] = entry.now->median_us;
      row["baseline_median_us"] = entry.now->baseline_median_us;
    }
    json["cases"].push_back(std::move(row));
  }
  json["device"] = print_device(outcome.device);
  json["chosen"] = chosen;
  json["not_measured"] = unmeasured;
  json["significant_losses"] = losses;
  return json;
}

std::string print_text(const ConfirmOutcome& outcome) {
  Table table({"shape", "kernel", "decided", "now", "interval", "judgement"});
  int64_t losses = 0, chosen = 0;
  for (const ConfirmCase& entry : outcome.cases) {
    if (entry.decision.binary_hash.empty()) continue;
    ++chosen;
    losses += entry.loss;
    const auto problem = parse_problem(entry.decision.problem);
    table.add({problem ? describe_problem(*problem) : entry.decision.problem,
               short_hash(entry.decision.binary_hash), fmt::format("{:.3f}", entry.decision.ratio),
               entry.now ? fmt::format("{:.3f}", entry.now->ratio) : "-",
               entry.now ? fmt::format("[{:.3f}, {:.3f}]", entry.now->ratio_low, entry.now->ratio_high) : "-",
               !entry.problem_found.empty() ? entry.problem_found
               : entry.loss                 ? "SLOWER"
                                            : "not slower"});
  }
  return table.print() +
         fmt::format(
             "\n{} kernels chosen, {} significantly slower than the vendor ({} shapes stay with "
             "the vendor).\n",
             chosen, losses, static_cast<int64_t>(outcome.cases.size()) - chosen);
}

int run_confirm_command(const ConfirmOptions& options, const CLI::App& command) {
  const auto threads = parse_threads(options.threads);
  if (!threads) return explain(threads.error());
  TunePlan plan;
  plan.threads = *threads;
  plan.store_path = options.store;
  plan.cache_folder = find_cache_folder() / "objects";
  plan.command = print_command(command);
  catch_interrupts();
  ProgressLine progress(options.quiet);
  const auto outcome = run_confirm(plan, progress, [] { return was_interrupted(); });
  if (!outcome) return explain(outcome.error());
  std::printf("%s", options.json ? (print_json(make_json(*outcome), 2) + "\n").c_str()
                                 : print_text(*outcome).c_str());
  return outcome->interrupted ? kExitInterrupted : kExitOk;
}

}  // namespace

void add_confirm(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("confirm", "measure the chosen kernels again in fresh processes: never slower?");
  auto options = std::make_shared<ConfirmOptions>();
  command->add_option("--threads", options->threads, "decisions made for this many cores: a number or all")
      ->capture_default_str();
  command->add_flag("--json", options->json, "one JSON document");
  command->add_flag("--quiet", options->quiet, "no progress");
  add_store_option(*command, options->store);
  command->callback([options, command, &exit_code] { exit_code = run_confirm_command(*options, *command); });
}

}  // namespace kw
