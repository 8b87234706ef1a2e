#include <chrono>
#include <cstdio>
#include <map>

#include "cli/commands.h"
#include "cli/options.h"
#include "problem/workload.h"
#include "ship/report.h"

namespace kw {
namespace {

// What the words of a schedule key mean, in their order (schedule/gemm_cpu.h).
const std::map<std::string, std::vector<std::string>>& get_schedule_fields() {
  static const std::map<std::string, std::vector<std::string>> fields = {
      {"gemm_cpu",
       {"instruction set", "tile's vectors along", "tile rows (r)", "tile width (v)", "partial sums (s)",
        "unroll (u)", "A packed (pa)", "B packed (pb)", "block of m (mc)", "block of n (nc)",
        "block of k (kc)", "outer block loop", "outer tile loop", "prefetch distance (pf)",
        "splits of m (tm)", "splits of n (tn)", "splits of k (tk)"}}};
  return fields;
}

std::string print_utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Result<ReportCase> load_case(const Store& store, DecisionRow row) {
  ReportCase one;
  KW_TRY(const Problem problem, parse_problem(row.decision.problem));
  const Workload workload = make_workload(problem);
  one.flops = workload.flops;
  one.bytes = workload.bytes;
  const std::string device = row.device.key();
  KW_TRY(one.evaluations, find_evaluations(store, row.decision.problem, device));
  KW_TRY(one.baselines, find_baseline_rows(store, row.decision.problem, device));
  one.row = std::move(row);
  return one;
}

Result<ReportInput> load_input(const std::string& path, const std::string& command) {
  KW_TRY(const Store store, Store::open_read_only(path));
  ReportInput input;
  input.store = path;
  input.command = command;
  input.made = print_utc_now();
  input.version = KW_VERSION;
  input.schedule_fields = get_schedule_fields();
  KW_TRY(input.runs, list_runs(store));
  KW_TRY(std::vector<DecisionRow> rows, find_decisions(store));
  KW_TRY(const std::vector<ProblemSummary> problems, list_problems(store));
  for (const ProblemSummary& problem : problems) {
    const bool decided = std::any_of(rows.begin(), rows.end(), [&](const DecisionRow& row) {
      return row.decision.problem == problem.problem && row.device.key() == problem.device_key;
    });
    if (!decided) input.undecided.push_back(problem);
  }
  for (DecisionRow& row : rows) {
    KW_TRY(input.cases.emplace_back(), load_case(store, std::move(row)));
  }
  return input;
}

int run_report(const std::string& store, const std::string& out, const std::string& command) {
  const auto input = load_input(store, command);
  if (!input) return explain(input.error());
  const auto html = make_report(*input);
  if (!html) return explain(html.error());
  const Status written = write_file_atomically(out, *html);
  if (!written) return explain(written.error());
  std::printf("%s: report on %zu shape%s\n", out.c_str(), input->cases.size(),
              input->cases.size() == 1 ? "" : "s");
  return kExitOk;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("report", "everything the store knows as one HTML file, losses first");
  auto store = std::make_shared<std::string>();
  auto out = std::make_shared<std::string>("report.html");
  command->add_option("--out", *out, "file to write")->capture_default_str();
  add_store_option(*command, *store);
  command->callback(
      [store, out, command, &exit_code] { exit_code = run_report(*store, *out, print_command(*command)); });
}

}  // namespace kw
