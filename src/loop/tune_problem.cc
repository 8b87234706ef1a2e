// One problem from open to decision: open the lab, search in rounds, confirm the best, decide, store.
#include <algorithm>

#include "learn/cost_model.h"
#include "loop/live_lab.h"
#include "loop/promotion.h"
#include "loop/recorded_lab.h"
#include "loop/round.h"
#include "loop/session.h"
#include "problem/workload.h"
#include "store/query.h"

namespace kw {
namespace {

constexpr int kRoundSize = 8;
constexpr double kSearchShare = 0.8;  // of a problem's budget; the rest confirms

void count(ProgressState& state, const Evaluation& evaluation) {
  ++state.tried;
  state.proposer = evaluation.proposal.proposer;
  if (!evaluation.verdict.passed()) {
    ++state.failures[evaluation.verdict.code()];
    return;
  }
  ++state.passed;
  if (!evaluation.timing) return;
  state.disturbed = evaluation.timing->disturbed;
  if (!(state.best_ratio && *state.best_ratio >= evaluation.timing->ratio)) {
    state.best_ratio = evaluation.timing->ratio;
    state.best_us = evaluation.timing->median_us;
  }
}

Status run_search(Session& session, Search& search, ProgressState& state, Clock::time_point deadline) {
  const int64_t limit = session.plan.trials;
  const auto left = [&](int64_t started) {
    return limit == 0 ? kRoundSize : static_cast<int>(std::clamp<int64_t>(limit - started, 0, kRoundSize));
  };
  const bool timed = deadline != Clock::time_point::max();
  search.should_stop = [&] { return session.should_stop() || (timed && Clock::now() >= deadline); };
  search.store = [&](const Evaluation& evaluation) -> Status {
    KW_TRY_VOID(session.store.add_evaluations(session.run, {evaluation}));
    session.progress.record(evaluation);
    count(state, evaluation);
    state.elapsed_s = seconds_since(session.start);
    session.progress.update(state);
    return {};
  };
  auto started = static_cast<int64_t>(search.history.size());
  Batch batch = prepare_round(search, left(started));
  while (!batch.empty() && !search.should_stop()) {
    started += static_cast<int64_t>(batch.size());
    KW_TRY(batch, run_round(search, std::move(batch), left(started)));
  }
  return {};
}

Result<std::unique_ptr<Lab>> open_lab(Session& session, const Problem& problem) {
  if (session.table) return RecordedLab::open(*session.table, problem, session.device_facts);
  auto spaces = make_spaces(problem, session.device_facts);
  if (spaces.empty())
    return fail_user("no kernel family computes {} on {}", describe_problem(problem),
                     session.device_facts.isa);
  const LabPlan plan{session.secret_seed, session.compile_cpus, session.measure_cpus,
                     session.device_facts.peak_gflops};
  return LiveLab::open(*session.device, *session.compiler, problem, std::move(spaces.front()), plan);
}

Status store_baselines(Session& session, const std::string& problem, const std::vector<BaselineRow>& rows) {
  std::vector<BaselineRecord> records;
  for (const BaselineRow& row : rows)
    records.push_back({problem, row.name, row.identity,
                       row.refused.empty() ? std::optional(row.median_us) : std::nullopt, row.refused});
  return session.store.add_baselines(session.run, records);
}

// What an earlier run decided, when this run would add nothing to it.
Result<std::optional<DecisionRow>> find_earlier_decision(const Session& session, const std::string& problem) {
  KW_TRY(std::vector<DecisionRow> rows, find_decisions(session.store));
  for (DecisionRow& row : rows)
    if (row.decision.problem == problem && row.device.key() == session.device_facts.key())
      return std::optional(std::move(row));
  return std::optional<DecisionRow>();
}

std::optional<Evaluation> find_best(const std::vector<Evaluation>& history) {
  std::optional<Evaluation> best;
  for (const Evaluation& evaluation : history)
    if (evaluation.timing && (!best || evaluation.timing->ratio > best->timing->ratio)) best = evaluation;
  return best;
}

void adopt(ProblemResult& result, DecisionRow row) {
  result.decision = std::move(row.decision);
  result.confirmation = std::move(row.confirmation);
  result.kernel_name = std::move(row.kernel_name);
  result.schedule = std::move(row.schedule);
}

}  // namespace

Result<ProblemResult> tune_problem(Session& session, const ProblemUse& use, ProgressState state,
                                   double budget_s) {
  const auto begin = Clock::now();
  const std::string key = print_problem(use.problem);
  const Workload workload = make_workload(use.problem);
  ProblemResult result{.use = use, .flops = workload.flops, .bytes = workload.bytes};
  KW_TRY(std::vector<Evaluation> history, find_evaluations(session.store, key, session.device_facts.key()));
  state.problem = describe_problem(use.problem);
  state.trials = session.plan.trials;
  for (const Evaluation& evaluation : history) count(state, evaluation);
  result.evaluations = state.tried;
  result.passed = state.passed;
  result.best = find_best(history);
  KW_TRY(auto earlier, find_earlier_decision(session, key));
  if (session.plan.trials > 0 && state.tried >= session.plan.trials && earlier) {
    adopt(result, std::move(*earlier));
    return result;
  }

  state.phase = "preparing";
  session.progress.update(state);
  auto opened = open_lab(session, use.problem);
  if (!opened && session.plan.uses.size() > 1) {  // the other shapes of the list can still be tuned
    result.failure = opened.error().message;
    result.decision.problem = key;
    result.decision.reason = "not tuned: " + result.failure;
    session.progress.say(fmt::format("{} is left out: {}", describe_problem(use.problem), result.failure));
    return result;
  }
  if (!opened) return tl::unexpected(opened.error());
  const std::unique_ptr<Lab> lab = std::move(*opened);
  state.baseline = lab->bar().baseline;
  state.baseline_us = lab->bar().median_us;
  state.phase = "searching";
  if (auto* live = dynamic_cast<LiveLab*>(lab.get())) {
    result.baselines = live->baselines();
    KW_TRY_VOID(store_baselines(session, key, result.baselines));
  }

  const std::unique_ptr<Regressor> cost_model = make_cost_model();
  Search search{
      .problem = use.problem, .lab = *lab, .cost_model = *cost_model, .neighbours = session.neighbours};
  for (const std::string& name : session.plan.proposers) {
    KW_TRY(search.proposers.emplace_back(), make_proposer(name, session.plan.seed));
  }
  for (const Evaluation& evaluation : history) learn(search, evaluation);
  const auto deadline = budget_s > 0 ? begin + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(budget_s * kSearchShare))
                                     : Clock::time_point::max();
  KW_TRY_VOID(run_search(session, search, state, deadline));
  result.new_evaluations = state.tried - result.evaluations;
  result.evaluations = state.tried;
  result.passed = state.passed;
  result.best = find_best(search.history);
  state.phase = "confirming";
  session.progress.update(state);
  KW_TRY_VOID(confirm_and_decide(session, *lab, search, begin, budget_s, result));
  return result;
}

}  // namespace kw
