#include "loop/arena.h"

#include "learn/cost_model.h"
#include "loop/recorded_lab.h"
#include "loop/round.h"

namespace kw {
namespace {

using Times = std::vector<std::optional<double>>;

Times times_of(const std::vector<Evaluation>& history) {
  Times times;
  for (const Evaluation& evaluation : history)
    times.push_back(evaluation.timing ? std::optional(evaluation.timing->median_us) : std::nullopt);
  return times;
}

// One search until it comes within the margin of the table's best (or to the table's end), in the same rounds
// as a tune: a round is proposed before the one ahead of it is measured, as when it compiles meanwhile.
Result<Times> run_once(const RecordedTable& table, const Problem& problem, const DeviceFacts& device,
                       double arrival_us, const ArenaPlan& plan, uint64_t seed) {
  KW_TRY(const std::unique_ptr<Lab> lab, RecordedLab::open(table, problem, device));
  const std::unique_ptr<Regressor> cost_model = make_cost_model();
  Search search{.problem = problem, .lab = *lab, .cost_model = *cost_model};
  for (const std::string& name : plan.proposers) {
    KW_TRY(search.proposers.emplace_back(), make_proposer(name, seed));
  }
  bool arrived = false;
  search.should_stop = [&] { return arrived; };
  search.store = [&](const Evaluation& evaluation) {
    arrived = evaluation.timing && evaluation.timing->median_us <= arrival_us;
    return Status();
  };
  Batch batch = prepare_round(search, plan.round_size);
  while (!batch.empty() && !arrived) {
    KW_TRY(batch, run_round(search, std::move(batch), plan.round_size));
  }
  return times_of(search.history);
}

}  // namespace

Result<ArenaOutcome> run_arena(const RecordedTable& table, const DeviceFacts& device, const ArenaPlan& plan) {
  ArenaOutcome outcome;
  std::vector<SearchRuns> searches;
  for (const std::string& key : table.problems()) {
    KW_TRY(const Problem problem, parse_problem(key));
    SearchRuns runs;
    for (const RecordedRow* row : table.find_rows(key)) runs.table_us.push_back(row->median_us);
    KW_TRY(const double arrival_us, find_arrival_us(runs.table_us));
    for (int seed = 1; seed <= plan.seeds; ++seed) {
      KW_TRY(Times times, run_once(table, problem, device, arrival_us, plan, static_cast<uint64_t>(seed)));
      runs.runs_us.push_back(std::move(times));
    }
    outcome.problems.push_back(key);
    searches.push_back(std::move(runs));
  }
  KW_TRY(outcome.comparison, compare_with_random(searches));
  return outcome;
}

}  // namespace kw
