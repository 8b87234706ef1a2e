#include <cstdio>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "store/query.h"

namespace kw {
namespace {

int run_ls(const std::string& path, bool runs) {
  const auto store = Store::open_read_only(path);
  if (!store) return explain(store.error());
  if (runs) {
    const auto rows = list_runs(*store);
    if (!rows) return explain(rows.error());
    Table table({"run", "started", "ended", "how", "threads", "command"});
    for (const RunRow& row : *rows)
      table.add({fmt::format("{}", row.id), row.started, row.ended.empty() ? "-" : row.ended,
                 row.how.empty() ? "running or killed" : row.how, fmt::format("{}", row.run.device.threads),
                 row.run.command});
    std::printf("%s", table.print().c_str());
    return kExitOk;
  }
  const auto rows = list_problems(*store);
  if (!rows) return explain(rows.error());
  Table table({"shape", "device", "tried", "right", "best speedup", "failures"});
  for (const ProblemSummary& row : *rows) {
    const auto problem = parse_problem(row.problem);
    std::string failures;
    for (const auto& [code, count] : row.failures)
      failures += fmt::format("{}{} {}", failures.empty() ? "" : ", ", count, code);
    table.add({problem ? describe_problem(*problem) : row.problem, row.device_key,
               fmt::format("{}", row.evaluations), fmt::format("{}", row.passed),
               row.best_ratio ? fmt::format("{:.3f}", *row.best_ratio) : "-",
               failures.empty() ? "-" : failures});
  }
  std::printf("%s", table.print().c_str());
  return kExitOk;
}

}  // namespace

void add_ls(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("ls", "what the store holds: shapes, or runs");
  auto path = std::make_shared<std::string>();
  auto runs = std::make_shared<bool>(false);
  command->add_flag("--runs", *runs, "list runs instead of shapes");
  add_store_option(*command, *path);
  command->callback([path, runs, &exit_code] { exit_code = run_ls(*path, *runs); });
}

}  // namespace kw
