#include <cstdio>

#include "base/hash.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "store/query.h"

namespace kw {
namespace {

int run_best(const std::string& path, bool as_json) {
  const auto store = Store::open_read_only(path);
  if (!store) return explain(store.error());
  const auto rows = find_decisions(*store);
  if (!rows) return explain(rows.error());
  Table table({"shape", "threads", "choice", "speedup", "99.5 % interval", "time", "vendor", "vendor time",
               "kernel", "schedule"});
  Json json = Json::array();
  for (const DecisionRow& row : *rows) {
    const Decision& decision = row.decision;
    const bool ours = !decision.binary_hash.empty();
    const auto problem = parse_problem(decision.problem);
    table.add({problem ? describe_problem(*problem) : decision.problem, fmt::format("{}", row.device.threads),
               ours ? "ours" : "vendor", fmt::format("{:.3f}", decision.ratio),
               fmt::format("[{:.3f}, {:.3f}]", decision.ratio_low, decision.ratio_high),
               print_time(decision.median_us), decision.baseline, print_time(decision.baseline_median_us),
               ours ? short_hash(decision.binary_hash) : "-", row.schedule.empty() ? "-" : row.schedule});
    json.push_back({{"problem", decision.problem},
                    {"device", row.device.key()},
                    {"kernel", ours ? Json(decision.binary_hash) : Json()},
                    {"schedule", row.schedule},
                    {"baseline", decision.baseline},
                    {"ratio", decision.ratio},
                    {"ratio_low", decision.ratio_low},
                    {"ratio_high", decision.ratio_high},
                    {"median_us", decision.median_us},
                    {"baseline_median_us", decision.baseline_median_us},
                    {"reason", decision.reason}});
  }
  if (as_json)
    std::printf("%s\n", print_json(json, 2).c_str());
  else if (rows->empty())
    std::printf("%s holds no decision yet; run: kernelwright tune --m 64 --n 64 --k 64 --budget 10s\n",
                path.c_str());
  else
    std::printf("%s", table.print().c_str());
  return kExitOk;
}

}  // namespace

void add_best(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("best", "what was decided for each shape: our kernel or the vendor's");
  auto path = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "one JSON document");
  add_store_option(*command, *path);
  command->callback([path, as_json, &exit_code] { exit_code = run_best(*path, *as_json); });
}

}  // namespace kw
