#include "loop/tune.h"

#include <algorithm>

#include "loop/round.h"
#include "loop/session.h"

namespace kw {
namespace {

constexpr double kDefaultShapeBudgetS = 20;

double budget_of(const Session& session, size_t index) {
  const TunePlan& plan = session.plan;
  if (plan.shape_budget_s > 0) return plan.shape_budget_s;
  if (plan.budget_s > 0)
    return std::max(1.0, plan.budget_s - seconds_since(session.start)) /  // never 0: that is no limit
           static_cast<double>(plan.uses.size() - index);
  return plan.trials > 0 ? 0 : kDefaultShapeBudgetS;
}

Status tune_all(Session& session, TuneOutcome& outcome) {
  ProgressState state;
  state.problems = session.plan.uses.size();
  state.budget_s = session.plan.budget_s > 0
                       ? session.plan.budget_s
                       : session.plan.shape_budget_s * static_cast<double>(state.problems);
  for (size_t i = 0; i < session.plan.uses.size() && !session.should_stop(); ++i) {
    state.problem_index = i;
    const ProblemUse& use = session.plan.uses[i];
    auto result = tune_problem(session, use, state, budget_of(session, i));
    if (!result) return with_context(result.error(), describe_problem(use.problem));
    if (!result->schedule.empty()) session.neighbours.insert(session.neighbours.begin(), result->schedule);
    outcome.results.push_back(std::move(*result));
  }
  return {};
}

}  // namespace

Result<TuneOutcome> run_tune(const TunePlan& plan, Progress& progress,
                             const std::function<bool()>& should_stop) {
  if (plan.uses.empty()) return fail_user("no shape to tune; give --m --n --k, --model or --shapes");
  for (const ProblemUse& use : plan.uses) KW_TRY_VOID(check_problem(use.problem));
  for (const std::string& name : plan.proposers)
    if (auto proposer = make_proposer(name, plan.seed); !proposer) return tl::unexpected(proposer.error());
  KW_TRY(Session session, open_session(plan, progress, should_stop));

  TuneOutcome outcome;
  const Status status = tune_all(session, outcome);
  outcome.interrupted = should_stop();
  const std::string how = !status               ? "failed: " + status.error().message
                          : outcome.interrupted ? "interrupted"
                                                : "done";
  KW_TRY_VOID(session.store.finish_run(session.run, how));
  if (!status) return tl::unexpected(status.error());
  outcome.device = session.device_facts;
  outcome.secret_seed = session.secret_seed;
  outcome.compiler_runs = session.compiler ? session.compiler->runs() : 0;
  outcome.elapsed_s = seconds_since(session.start);
  return outcome;
}

}  // namespace kw
