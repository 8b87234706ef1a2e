#include "loop/bench.h"

#include <set>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "problem/workload.h"
#include "store/bench_table.h"

namespace kw {
namespace {

constexpr int kMostFailuresInARow = 3;

using CaseKey = std::pair<std::string, BenchMode>;

// Rows of this device under this protocol count; others stay in the file untouched.
bool belongs(const BenchRow& row, const DeviceFacts& device) {
  return row.device_key == device.key() && row.protocol_version == kProtocolVersion;
}

std::set<CaseKey> find_finished(const BenchTable& table, const DeviceFacts& device) {
  std::set<CaseKey> finished;
  for (const BenchRow& row : table.rows())
    if (belongs(row, device)) finished.insert({row.problem, row.mode});
  return finished;
}

std::vector<BenchMode> list_missing(const std::set<CaseKey>& finished, const BenchPlan& plan,
                                    const Problem& problem) {
  std::vector<BenchMode> missing;
  for (const BenchMode mode : plan.modes)
    if (!finished.contains({print_problem(problem), mode})) missing.push_back(mode);
  return missing;
}

std::vector<BenchCase> select_cases(const BenchTable& table, const DeviceFacts& device,
                                    const BenchPlan& plan) {
  std::set<CaseKey> wanted;
  for (const ProblemUse& use : plan.uses)
    for (const BenchMode mode : plan.modes) wanted.insert({print_problem(use.problem), mode});
  std::vector<BenchCase> cases;
  for (const BenchRow& row : table.rows()) {
    if (!belongs(row, device) || wanted.erase({row.problem, row.mode}) == 0) continue;
    const auto problem = parse_problem(row.problem);
    if (!problem) continue;  // a table is read with its problems checked
    const std::string shape =
        fmt::format("{}x{}x{} {}", problem->m, problem->n, problem->k, print_dtype(problem->dtype));
    cases.push_back({row, make_workload(*problem).flops, shape});
  }
  return cases;
}

class BenchRun {
 public:
  BenchRun(Device& device, const BenchPlan& plan, const BenchWatcher& watcher, BenchTable table)
      : device_(device),
        plan_(plan),
        watcher_(watcher),
        table_(std::move(table)),
        finished_(find_finished(table_, device.facts())),
        random_(plan.seed) {}

  Result<BenchOutcome> run() {
    if (table_.repaired())
      watcher_.say(fmt::format("{}: a torn last line was cut off", plan_.table.string()));
    for (const ProblemUse& use : plan_.uses)
      if (list_missing(finished_, plan_, use.problem).empty()) ++progress_.done;
    outcome_.known = static_cast<int64_t>(select_cases(table_, device_.facts(), plan_).size());
    progress_.total = plan_.uses.size();
    for (const ProblemUse& use : plan_.uses) {
      const std::vector<BenchMode> missing = list_missing(finished_, plan_, use.problem);
      if (missing.empty()) continue;
      if ((outcome_.interrupted = watcher_.should_stop())) break;
      show(use);
      KW_TRY_VOID(run_case(use, missing));
    }
    outcome_.cases = select_cases(table_, device_.facts(), plan_);
    return std::move(outcome_);
  }

 private:
  void show(const ProblemUse& use) {
    progress_.problem = describe_problem(use.problem);
    progress_.elapsed_s = seconds_since(start_);
    if (tried_ > 0)
      progress_.left_s = progress_.elapsed_s / tried_ * static_cast<double>(progress_.total - progress_.done);
    watcher_.show(progress_);
  }

  Status run_case(const ProblemUse& use, const std::vector<BenchMode>& modes) {
    const auto rows = run_bench_case(device_, use, modes, plan_.settings, random_.next());
    ++tried_;
    ++progress_.done;
    if (!rows) return note_failure(use, rows.error());
    failures_in_a_row_ = 0;
    for (const BenchRow& row : *rows) {
      KW_TRY_VOID(table_.append(row));
      finished_.insert({row.problem, row.mode});
      ++outcome_.measured;
      if (!row.refused.empty())
        watcher_.say(
            fmt::format("{} {}: refused {}", progress_.problem, print_bench_mode(row.mode), row.refused));
    }
    return {};
  }

  Status note_failure(const ProblemUse& use, const Error& error) {
    const auto told = with_context(error, describe_problem(use.problem));
    if (error.kind == ErrorKind::kUser || ++failures_in_a_row_ == kMostFailuresInARow) return told;
    ++outcome_.failed;
    watcher_.say("not measured: " + told.value().message);
    return {};
  }

  Device& device_;
  const BenchPlan& plan_;
  const BenchWatcher& watcher_;
  BenchTable table_;
  std::set<CaseKey> finished_;
  Random random_;
  BenchProgress progress_;
  BenchOutcome outcome_;
  Clock::time_point start_ = Clock::now();
  double tried_ = 0;  // cases of this run
  int failures_in_a_row_ = 0;
};

}  // namespace

Result<BenchOutcome> run_bench(Device& device, const BenchPlan& plan, const BenchWatcher& watcher) {
  KW_TRY(BenchTable table, BenchTable::open(plan.table));
  return BenchRun(device, plan, watcher, std::move(table)).run();
}

}  // namespace kw
