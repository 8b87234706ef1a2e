#include "loop/check_kernel.h"

#include "base/random.h"
#include "emit/emit.h"
#include "loop/certify.h"
#include "loop/live_lab.h"
#include "loop/session.h"
#include "target/cpu/device.h"
#include "target/cuda/device.h"

namespace kw {
namespace {

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

// Emitted and compiled, or refused by one of the two.
Result<Candidate> build(LiveLab& lab, const CheckRequest& request) {
  Batch batch = {make_candidate(request)};
  lab.emit(batch);
  lab.start_compile(batch);
  KW_TRY_VOID(lab.finish_compile(batch));
  return std::move(batch.front());
}

// Right over its domain, then timed in fresh processes; fills verdict and timing.
Status promote(LiveLab& lab, Candidate& candidate, const std::vector<int64_t>& tile, uint64_t seed) {
  Evaluation& evaluation = candidate.evaluation;
  Random random(seed);
  KW_TRY(evaluation.verdict, lab.verify_domain(*candidate.binary, tile, random.next()));
  if (!evaluation.verdict.passed()) return {};
  KW_TRY(auto timing, lab.compare_fresh(*candidate.binary, LiveLab::Workers::kNewForEveryPair,
                                        kConfirmingPairs, kConfirmingPairs, kComparisonUs, random.next()));
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
  plan.target = request.launch.target;
  plan.threads = request.threads;
  plan.store_path = request.store_path;
  plan.cache_folder = request.cache_folder;
  plan.command = request.command;
  KW_TRY(Session session, open_session(plan, progress, should_stop));
  const LabPlan lab_plan{session.secret_seed, session.compile_cpus, session.measure_cpus,
                         session.device_facts.peak_gflops};
  KW_TRY(auto lab, LiveLab::open(*session.device, *session.compiler, request.problem, nullptr, lab_plan));

  KW_TRY(Candidate candidate, build(*lab, request));
  KW_TRY_VOID(lab->verify(candidate));
  if (!candidate.failed) KW_TRY_VOID(promote(*lab, candidate, request.tile, session.secret_seed));
  candidate.evaluation.finished_s = seconds_since(session.start);
  KW_TRY_VOID(session.store.add_evaluations(session.run, {candidate.evaluation}));
  KW_TRY_VOID(session.store.finish_run(session.run, "done"));

  CheckOutcome outcome;
  outcome.evaluation = candidate.evaluation;
  outcome.timing = candidate.evaluation.timing;
  outcome.baselines = lab->baselines();
  outcome.device = session.device_facts;
  outcome.flops = lab->workload().flops;
  if (outcome.timing) {
    KW_TRY(outcome.certificate, certify(outcome.evaluation, *outcome.timing, outcome.device));
  }
  return outcome;
}

Result<VerifyOutcome> run_verify(const CheckRequest& request, std::span<const uint64_t> seeds) {
  KW_TRY_VOID(check_problem(request.problem));
  const bool on_gpu = request.launch.target == "cuda";
  KW_TRY(const auto device, on_gpu ? make_cuda_device({}) : make_cpu_device({.threads = request.threads}));
  KW_TRY(const Compiler compiler, Compiler::find({.architecture = on_gpu ? device->facts().isa : "",
                                                  .cache_folder = request.cache_folder}));
  const LabPlan plan = {.seed = make_secret_seed(), .verifies_only = true};
  KW_TRY(const auto lab, LiveLab::open(*device, compiler, request.problem, nullptr, plan));
  KW_TRY(Candidate candidate, build(*lab, request));
  VerifyOutcome outcome{std::move(candidate.evaluation), {}};
  for (const uint64_t seed : seeds) {
    if (candidate.failed) break;
    KW_TRY(outcome.evaluation.verdict, lab->verify_domain(*candidate.binary, request.tile, seed));
    outcome.verdicts.push_back(outcome.evaluation.verdict);
    candidate.failed = !outcome.evaluation.verdict.passed();
  }
  return outcome;
}

Result<RecheckOutcome> run_recheck(const Certificate& certificate, const std::string& origin,
                                   const fs::path& cache_folder) {
  const Toolchain& toolchain = certificate.toolchain;
  const Source source = make_certified_source(certificate.source, certificate.language, certificate.launch);
  if (hash_source(source, toolchain.flags, toolchain.compiler) != certificate.source_hash)
    return fail_user("{}: source_hash is not the hash of source, language, flags and compiler", origin);
  if (!has_this_abi(certificate.source))
    return fail_user("{}: the source holds another device/cpu_abi.h than this program's; made by version {}",
                     origin, toolchain.kernelwright);
  CheckRequest request;
  request.problem = certificate.problem;
  request.text = certificate.source;
  request.language = certificate.language;
  request.name = certificate.name;
  request.launch = certificate.launch;
  request.threads = static_cast<int>(certificate.verified.threads);
  request.tile = certificate.verified.tile;
  request.cache_folder = cache_folder;
  RecheckOutcome outcome;
  const uint64_t seeds[] = {certificate.verified.seed, make_secret_seed()};
  KW_TRY(outcome.verified, run_verify(request, seeds));
  const Evaluation& evaluation = outcome.verified.evaluation;
  outcome.same_compiler = evaluation.compiler == toolchain.compiler;
  outcome.same_flags = list_flags(source, evaluation.compiler) == toolchain.flags;
  outcome.same_binary = evaluation.binary_hash == certificate.kernel;
  return outcome;
}

}  // namespace kw
