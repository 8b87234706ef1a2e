#include <cstdio>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "loop/arena.h"

namespace kw {
namespace {

struct ArenaOptions {
  std::string table, device, proposer = "evolve";
  int seeds = 20;
  bool json = false;
};

Result<ArenaOutcome> run(const ArenaOptions& options) {
  KW_TRY(const RecordedTable table, RecordedTable::load(options.table));
  KW_TRY(const DeviceFacts device, load_recorded_device(options.table));
  ArenaPlan plan;
  plan.proposers = {options.proposer};
  plan.seeds = options.seeds;
  return run_arena(table, device, plan);
}

int run_arena_command(const ArenaOptions& options) {
  const auto outcome = run(options);
  if (!outcome) return explain(outcome.error());
  Table table({"shape", "schedules", "within 3 %", options.proposer, "random", "ratio"});
  Json json;
  json["proposer"] = options.proposer;
  json["seeds"] = options.seeds;
  json["ratio"] = outcome->comparison.ratio;
  json["tables"] = Json::array();
  for (size_t i = 0; i < outcome->problems.size(); ++i) {
    const SearchComparison::Table& row = outcome->comparison.tables[i];
    const auto problem = parse_problem(outcome->problems[i]);
    table.add({problem ? describe_problem(*problem) : outcome->problems[i], fmt::format("{}", row.rows),
               fmt::format("{}", row.arrivals), fmt::format("{:.1f}", row.evaluations),
               fmt::format("{:.1f}", row.random_evaluations), fmt::format("{:.3f}", row.ratio)});
    json["tables"].push_back({{"problem", outcome->problems[i]},
                              {"rows", row.rows},
                              {"arrivals", row.arrivals},
                              {"evaluations", row.evaluations},
                              {"random_evaluations", row.random_evaluations},
                              {"ratio", row.ratio}});
  }
  if (options.json) {
    std::printf("%s\n", print_json(json, 2).c_str());
    return kExitOk;
  }
  std::printf(
      "%s\nEvaluations needed to come within 3 %% of the table's best, mean over %d seeds; random is exact.\n"
      "Median ratio over shapes: %.3f\n",
      table.print().c_str(), options.seeds, outcome->comparison.ratio);
  return kExitOk;
}

}  // namespace

void add_arena(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("arena", "compare search methods on recorded measurements");
  auto options = std::make_shared<ArenaOptions>();
  command->add_option("--table", options->table, "table written by store export, its device beside it")
      ->required();
  command->add_option("--proposer", options->proposer, "evolve, seed or random")->capture_default_str();
  command->add_option("--seeds", options->seeds, "runs per shape")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_flag("--json", options->json, "one JSON document");
  command->callback([options, &exit_code] { exit_code = run_arena_command(*options); });
}

}  // namespace kw
