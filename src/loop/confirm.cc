#include "loop/confirm.h"

#include "base/random.h"
#include "loop/live_lab.h"
#include "loop/session.h"
#include "measure/selection.h"
#include "store/query.h"

namespace kw {
namespace {

constexpr double kComparisonUs = 3e6;
constexpr double kFamilyWiseError = 0.05;

Status measure_again(Session& session, ConfirmCase& entry, Random& random) {
  KW_TRY(const Problem problem, parse_problem(entry.decision.problem));
  const LabPlan lab_plan{random.next(), session.compile_cpus, session.measure_cpus,
                         session.device_facts.peak_gflops};
  auto spaces = make_spaces(problem, session.device_facts);
  if (spaces.empty()) return fail("no kernel family computes {} here", describe_problem(problem));
  KW_TRY(auto lab,
         LiveLab::open(*session.device, *session.compiler, problem, std::move(spaces.front()), lab_plan));
  KW_TRY(std::vector<Evaluation> known, find_kernel(session.store, entry.decision.binary_hash));
  Candidate candidate;
  candidate.evaluation.problem = entry.decision.problem;
  candidate.evaluation.proposal = known.front().proposal;
  Batch batch = {candidate};
  lab->emit(batch);
  lab->start_compile(batch);
  KW_TRY_VOID(lab->finish_compile(batch));
  if (batch[0].evaluation.binary_hash != entry.decision.binary_hash) {
    entry.problem_found =
        "its source compiles to another binary now (compiler or generator changed); tune again";
    return {};
  }
  KW_TRY(auto timing, lab->compare_fresh(*batch[0].binary, LiveLab::Workers::kNewForEveryPair,
                                         kConfirmingPairs, kConfirmingPairs, kComparisonUs, random.next()));
  if (timing)
    entry.now = std::move(*timing);
  else
    entry.problem_found = timing.error().code();
  return {};
}

void mark_losses(std::vector<ConfirmCase>& cases, uint64_t seed) {
  std::vector<Timing> timings;
  for (const ConfirmCase& entry : cases)
    if (entry.now) timings.push_back(*entry.now);
  const std::vector<bool> losses = find_significant_losses(timings, kFamilyWiseError, seed);
  size_t next = 0;
  for (ConfirmCase& entry : cases)
    if (entry.now) entry.loss = losses[next++];
}

}  // namespace

Result<ConfirmOutcome> run_confirm(const TunePlan& plan, Progress& progress,
                                   const std::function<bool()>& should_stop) {
  KW_TRY(Session session, open_session(plan, progress, should_stop));
  KW_TRY(const std::vector<DecisionRow> rows, find_decisions(session.store));
  ConfirmOutcome outcome;
  outcome.device = session.device_facts;
  Random random(session.secret_seed, 9);
  for (const DecisionRow& row : rows) {
    if (row.device.key() != session.device_facts.key()) continue;
    if ((outcome.interrupted = should_stop())) break;
    ConfirmCase& entry =
        outcome.cases.emplace_back(ConfirmCase{.decision = row.decision, .schedule = row.schedule});
    if (entry.decision.binary_hash.empty()) continue;
    ProgressState state;
    state.problem = row.decision.problem;
    state.problem_index = outcome.cases.size() - 1;
    state.problems = rows.size();
    state.phase = "measuring again";
    state.elapsed_s = seconds_since(session.start);
    progress.update(state);
    if (const Status status = measure_again(session, entry, random); !status)
      return with_context(status.error(), row.decision.problem);
  }
  mark_losses(outcome.cases, random.next());
  KW_TRY_VOID(session.store.finish_run(session.run, outcome.interrupted ? "interrupted" : "done"));
  return outcome;
}

}  // namespace kw
