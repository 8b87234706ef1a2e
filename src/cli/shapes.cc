#include <cstdio>
#include <set>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "problem/model.h"
#include "problem/workload.h"

namespace kw {
namespace {

struct ShapesOptions {
  ShapeOptions shapes;
  std::string model;
  bool csv = false;
};

std::string print_table(const std::vector<ProblemUse>& uses) {
  Table table({"name", "phase", "tokens", "m", "n", "k", "layout", "dtype", "calls", "MFLOP", "share"});
  double total = 0;
  for (const ProblemUse& use : uses)
    total += make_workload(use.problem).flops * static_cast<double>(use.count);
  for (const ProblemUse& use : uses) {
    const Problem& p = use.problem;
    const double flops = make_workload(p).flops;
    const double share = total > 0 ? flops * static_cast<double>(use.count) / total : 0;
    table.add({use.name, use.phase, use.tokens > 0 ? fmt::format("{}", use.tokens) : "",
               fmt::format("{}", p.m), fmt::format("{}", p.n), fmt::format("{}", p.k),
               std::string(print_layout(p.layout)), std::string(print_dtype(p.dtype)),
               fmt::format("{}", use.count), fmt::format("{:.2f}", flops * 1e-6),
               fmt::format("{:.1f} %", share * 100)});
  }
  return table.print();
}

int run_shapes(ShapesOptions options) {
  if (!options.model.empty()) options.shapes.model = options.model;
  const auto uses = options.shapes.find_uses();
  if (!uses) return explain(uses.error());
  std::printf("%s", (options.csv ? print_shapes_csv(*uses) : print_table(*uses)).c_str());
  return kExitOk;
}

}  // namespace

void add_shapes(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("shapes", "the matrix products a model needs, with names and counts");
  auto options = std::make_shared<ShapesOptions>();
  command->add_option("config", options->model, "model file (Hugging Face style config.json)");
  options->shapes.add_to(*command);
  command->add_flag("--csv", options->csv, "CSV instead of a table; tune --shapes reads it");
  command->callback([options, &exit_code] { exit_code = run_shapes(*options); });
}

}  // namespace kw
