#include "loop/check_kernel.h"

#include "base/random.h"
#include "loop/live_lab.h"
#include "loop/session.h"
#include "ship/certificate.h"

namespace kw {
namespace {

constexpr int kPairs = 40;
constexpr double kComparisonUs = 2e6;

Candidate make_candidate(const CheckRequest& request) {
  Candidate candidate;
  Proposal& proposal = candidate.evaluation.proposal;
  proposal.proposer = "user";
  proposal.family = "free";
  proposal.free_text = request.text;
  proposal.free_language = request.language;
  proposal.free_launch = request.launch;
  proposal.note = request.name;
  candidate.evaluation.problem = print_problem(request.problem);
  return candidate;
}

// Right over its domain, then timed in fresh processes; fills verdict and timing.
Status promote(LiveLab& lab, Candidate& candidate, uint64_t seed) {
  Evaluation& evaluation = candidate.evaluation;
  Random random(seed);
  KW_TRY(evaluation.verdict, lab.verify_domain(*candidate.binary, {}, random.next()));
  if (!evaluation.verdict.passed()) return {};
  KW_TRY(auto timing, lab.compare_fresh(*candidate.binary, kPairs, kPairs, kComparisonUs, random.next()));
  if (!timing) {
    evaluation.verdict = timing.error();
    return {};
  }
  timing->confirmed = true;
  evaluation.timing = std::move(*timing);
  return {};
}

}  // namespace

Result<CheckOutcome> run_check(const CheckRequest& request, Progress& progress,
                               const std::function<bool()>& should_stop) {
  KW_TRY_VOID(check_problem(request.problem));
  TunePlan plan;
  plan.uses = {{.problem = request.problem}};
  plan.threads = request.threads;
  plan.store_path = request.store_path;
  plan.cache_folder = request.cache_folder;
  plan.command = request.command;
  KW_TRY(Session session, open_session(plan, progress, should_stop));
  const LabPlan lab_plan{session.secret_seed, session.compile_cpus, session.measure_cpus,
                         session.device_facts.peak_gflops};
  KW_TRY(auto lab, LiveLab::open(*session.device, *session.compiler, request.problem, nullptr, lab_plan));

  Batch batch = {make_candidate(request)};
  lab->emit(batch);
  lab->start_compile(batch);
  KW_TRY_VOID(lab->finish_compile(batch));
  Candidate& candidate = batch.front();
  KW_TRY_VOID(lab->verify(candidate));
  if (!candidate.failed) KW_TRY_VOID(promote(*lab, candidate, session.secret_seed));
  candidate.evaluation.finished_s = seconds_since(session.start);
  KW_TRY_VOID(session.store.add_evaluations(session.run, {candidate.evaluation}));
  KW_TRY_VOID(session.store.finish_run(session.run, "done"));

  CheckOutcome outcome;
  outcome.evaluation = candidate.evaluation;
  outcome.timing = candidate.evaluation.timing;
  outcome.baselines = lab->baselines();
  outcome.device = session.device_facts;
  outcome.flops = lab->workload().flops;
  if (outcome.timing)
    outcome.certificate =
        make_certificate(outcome.evaluation, request.launch, *outcome.timing, outcome.device);
  return outcome;
}

}  // namespace kw
