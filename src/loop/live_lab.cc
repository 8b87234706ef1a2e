#include "loop/live_lab.h"

#include <algorithm>

#include "emit/emit.h"
#include "loop/baselines.h"
#include "loop/peaks.h"
#include "problem/spot.h"
#include "problem/workload.h"
#include "record/measured_family.h"
#include "target/cpu/affinity.h"

namespace kw {
namespace {

// Families a large problem is searched with; promotion uses all. They catch what goes wrong most: numbers,
// exact sums, the accumulator's type, and NaN handling.
const std::vector<std::string> kScreeningFamilies = {"normal", "exact_integers", "sticky", "nan_inf"};

constexpr double kGiveUpMargin = 0.9;  // of the best ratio so far: below it a candidate's timing stops early
constexpr double kNearBar = 1.10;     // baselines within 10 % of the best are measured again when confirming,
constexpr int kMostNearBar = 3;       // and no more than so many (cuBLASLt alone names some twenty)
constexpr size_t kMostBaselines = 4;  // vendor routines that are measured to the end and verified
constexpr double kScreeningBudgetUs = 400'000;
constexpr int kScreeningPairs = 24;  // enough to rank; what is chosen is measured again

void refuse(Candidate& candidate, Verdict verdict) {
  candidate.evaluation.verdict = std::move(verdict);
  candidate.failed = true;
}

// A verdict that may speak of the vendor's process, of a peak measured on a busy machine or of somebody who
// killed the worker, not of the candidate.
bool is_our_fault(const Verdict& verdict) {
  return verdict.reason == "baseline_failed" || verdict.reason == "faster_than_roofline" ||
         verdict.code() == "crash/killed";
}

// protocol.md A.5: a family that lets a null kernel pass, or does not see one wrong element, is not admitted.
// It happens at degenerate sizes only, where a family's results are all alike (k = 1). An error when fewer
// than two families are left.
Status keep_admitted_families(std::vector<Check>& checks) {
  Status last;
  const auto fooled = [&](const Check& check) {
    const Status status = check_families_are_admitted({&check, 1});
    if (!status) last = status;
    return !status;
  };
  const size_t before = checks.size();
  std::erase_if(checks, fooled);
  if (checks.size() < std::min<size_t>(2, before)) return last;
  return {};
}

}  // namespace

LiveLab::LiveLab(Device& device, const Compiler& compiler, const Problem& problem,
                 std::unique_ptr<Space> space, const LabPlan& plan)
    : device_(device),
      compiler_(compiler),
      problem_(problem),
      space_(std::move(space)),
      plan_(plan),
      draws_(plan.seed),
      workload_(make_workload(problem)) {}

Result<std::unique_ptr<LiveLab>> LiveLab::open(Device& device, const Compiler& compiler,
                                               const Problem& problem, std::unique_ptr<Space> space,
                                               const LabPlan& plan) {
  KW_TRY_VOID(check_problem(problem));
  std::unique_ptr<LiveLab> lab(new LiveLab(device, compiler, problem, std::move(space), plan));
  if (plan.verifies_only) return lab;
  CheckPlan checks = {.contract = get_usual_contract(problem)};
  if (lab->workload_.flops > plan.max_flops_of_all_families) checks.families = kScreeningFamilies;
  KW_TRY(lab->checks_, make_checks(problem, checks, lab->draws_.next()));
  KW_TRY_VOID(keep_admitted_families(lab->checks_));
  KW_TRY(lab->timing_buffers_,
         device.make_buffers(lab->workload_, {.sets = plan_sets(lab->workload_, device.facts())}));
  fill_for_timing(*lab->timing_buffers_, lab->draws_.next());
  KW_TRY_VOID(lab->open_baselines());
  return lab;
}

// What every comparison of this problem shares; the caller adds how long and how many.
MeasurePlan LiveLab::make_measure_plan(const Contract& contract, uint64_t seed) const {
  MeasurePlan plan;
  plan.reference = make_spot_reference(workload_, contract);
  plan.seed = seed;
  plan.threads = device_.facts().threads;
  plan.cores = plan_.measure_cpus;
  plan.watch_load = !plan_.measure_cpus.empty();
  plan.floor_us = plan_.peak_gflops > 0 ? workload_.flops / plan_.peak_gflops * 1e-3 : 0;
  return plan;
}

// The fastest routines that prove right, and why the others are not among them.
Status LiveLab::open_baselines() {
  const AwayFrom away(plan_.measure_cpus);
  BaselineChoice choice{.most = kMostBaselines};
  choice.find_fault = [&](const std::string& name) -> Result<std::optional<std::string>> {
    KW_TRY(const Verdict verdict, check_baseline(device_, name, checks_, {.seed = draws_.next()}));
    return verdict.passed() ? std::nullopt : std::optional(verdict.code());
  };
  KW_TRY(const std::vector<std::string> names, device_.find_baselines(workload_));
  KW_TRY(ChosenBaselines chosen, choose_baselines(device_, *timing_buffers_, names, choice));
  const MeasurePlan plan = make_measure_plan(get_usual_contract(problem_), draws_.next());
  KW_TRY(baselines_, measure_baselines(device_, *timing_buffers_, chosen.names, plan));
  baselines_.insert(baselines_.end(), chosen.refused.begin(), chosen.refused.end());
  const auto best = std::find_if(baselines_.begin(), baselines_.end(),
                                 [](const BaselineRow& row) { return row.refused.empty(); });
  if (best == baselines_.end())
    return fail("no vendor routine on this machine computes {}; `kernelwright doctor` says what to install",
                describe_problem(problem_));
  bar_ = {best->name, best->median_us};
  KW_TRY(bar_program_, device_.start_baseline(bar_.baseline, *timing_buffers_));
  return {};
}

void LiveLab::emit(Batch& batch) {
  for (Candidate& candidate : batch) {
    auto source = make_source(problem_, candidate.evaluation.proposal, device_.facts());
    if (!source) {
      refuse(candidate, source.error());
      continue;
    }
    candidate.evaluation.kernel_name = source->name;
    candidate.evaluation.source_text = source->text;
    candidate.evaluation.launch = source->launch;
    candidate.evaluation.source_hash = compiler_.source_hash(*source);
    candidate.source = std::move(*source);
  }
}

void LiveLab::start_compile(Batch& batch) {
  std::vector<Source> sources;
  for (const Candidate& candidate : batch)
    if (candidate.source) sources.push_back(*candidate.source);
  compiling_ = std::make_unique<CompileBatch>(compiler_, std::move(sources), plan_.compile_cpus);
}

Status LiveLab::finish_compile(Batch& batch) {
  KW_TRY(CompileBatch::Results results,
         compiling_->finish(plan_.measure_cpus.empty() ? -1 : plan_.measure_cpus.back()));
  compiling_.reset();
  auto next = results.begin();
  for (Candidate& candidate : batch) {
    if (!candidate.source) continue;
    tl::expected<Binary, Verdict>& result = *next++;
    candidate.evaluation.compiler = compiler_.version();
    if (!result) {
      refuse(candidate, result.error());
      continue;
    }
    candidate.evaluation.binary_hash = result->hash;
    candidate.evaluation.compile_us = result->compile_us;
    candidate.evaluation.from_cache = result->from_cache;
    candidate.binary = std::move(*result);
  }
  return {};
}

Status LiveLab::verify(Candidate& candidate) {
  if (candidate.failed) return {};
  const AwayFrom away(plan_.measure_cpus);
  KW_TRY(candidate.evaluation.verdict,
         check_binary(device_, *candidate.binary, checks_, {.seed = draws_.next()}));
  candidate.failed = !candidate.evaluation.verdict.passed();
  return {};
}

Status LiveLab::measure(Candidate& candidate, std::optional<double> best_ratio) {
  if (candidate.failed) return {};
  const AwayFrom away(plan_.measure_cpus);
  auto timing = compare_once(*candidate.binary, best_ratio);
  if (timing && !*timing && is_our_fault(timing->error())) {
    KW_TRY_VOID(repair(timing->error()));
    timing = compare_once(*candidate.binary, best_ratio);
  }
  if (!timing) return tl::unexpected(timing.error());
  if (!*timing)
    refuse(candidate, timing->error());
  else
    candidate.evaluation.timing = std::move(**timing);
  return {};
}

Result<tl::expected<Timing, Verdict>> LiveLab::compare_once(const Binary& binary,
                                                            std::optional<double> best_ratio) {
  using Outcome = tl::expected<Timing, Verdict>;
  KW_TRY(auto program, device_.start_candidate(binary, *timing_buffers_));
  if (!program) return Outcome(tl::unexpected(program.error()));
  MeasurePlan plan = make_measure_plan(binary.launch.contract, draws_.next());
  plan.baseline = bar_.baseline;
  plan.budget_us = kScreeningBudgetUs;
  plan.max_pairs = kScreeningPairs;
  plan.give_up_below = best_ratio ? *best_ratio * kGiveUpMargin : 0;
  return Outcome(run_comparison(**program, *bar_program_, *timing_buffers_, plan));
}

Status LiveLab::repair(const Verdict& verdict) {
  if (verdict.klass == VerdictClass::kCrash) return {};
  if (verdict.reason == "baseline_failed") {
    KW_TRY(bar_program_, device_.start_baseline(bar_.baseline, *timing_buffers_));
    return {};
  }
  DeviceFacts facts = device_.facts();
  KW_TRY_VOID(measure_peaks(device_, plan_.measure_cpus, facts));
  plan_.peak_gflops = std::max(plan_.peak_gflops, facts.peak_gflops);
  return {};
}

Result<tl::expected<Timing, Verdict>> LiveLab::compare_workers(const Binary& binary, Workers workers,
                                                               const MeasurePlan& plan) {
  using Started = tl::expected<std::unique_ptr<Program>, Verdict>;
  const auto start_candidate = [&] { return device_.start_candidate(binary, *timing_buffers_); };
  const auto start_baseline = [&]() -> Result<Started> {
    KW_TRY(auto program, device_.start_baseline(plan.baseline, *timing_buffers_));
    return Started(std::move(program));
  };
  if (workers == Workers::kNewForEveryPair)
    return run_fresh_comparison(start_candidate, start_baseline, *timing_buffers_, plan);
  KW_TRY(const auto baseline, start_baseline());
  KW_TRY(const auto program, start_candidate());
  if (!program) return tl::expected<Timing, Verdict>(tl::unexpected(program.error()));
  return run_comparison(**program, **baseline, *timing_buffers_, plan);
}

Result<tl::expected<Timing, Verdict>> LiveLab::compare_fresh(const Binary& binary, Workers workers,
                                                             int min_pairs, int max_pairs, double budget_us,
                                                             uint64_t seed) {
  using Outcome = tl::expected<Timing, Verdict>;
  const AwayFrom away(plan_.measure_cpus);
  std::optional<Timing> lowest;
  int compared = 0;
  for (const BaselineRow& row : baselines_) {  // the fastest first
    if (!row.refused.empty() || row.median_us > bar_.median_us * kNearBar) continue;
    if (++compared > kMostNearBar) break;
    MeasurePlan plan = make_measure_plan(binary.launch.contract, seed);
    plan.baseline = row.name;
    plan.min_pairs = min_pairs;
    plan.max_pairs = max_pairs;
    plan.budget_us = budget_us;
    KW_TRY(auto timing, compare_workers(binary, workers, plan));
    if (!timing) return Outcome(tl::unexpected(timing.error()));
    if (!lowest || timing->ratio_low < lowest->ratio_low) lowest = std::move(*timing);
  }
  if (!lowest) return fail("no baseline of {} could be started again", describe_problem(problem_));
  return Outcome(std::move(*lowest));
}

Result<Verdict> LiveLab::verify_domain(const Binary& binary, const std::vector<int64_t>& tile,
                                       uint64_t seed) {
  const AwayFrom away(plan_.measure_cpus);
  Random random(seed);
  const CheckPlan all = {.contract = binary.launch.contract};
  KW_TRY(std::vector<Check> checks, make_checks(problem_, all, random.next()));
  KW_TRY_VOID(keep_admitted_families(checks));
  KW_TRY(Verdict verdict, check_binary(device_, binary, checks, {.repeats = 3, .seed = random.next()}));
  std::vector<MeasuredFamily> elsewhere;
  Json shapes = Json::array();
  const auto check_here = [&](const std::vector<Check>& here, const std::string& shape) -> Status {
    KW_TRY(Verdict outcome, check_binary(device_, binary, here, {.seed = random.next()}));
    if (outcome.klass == VerdictClass::kSkipped) return {};
    shapes.push_back(shape);
    if (outcome.passed()) {
      KW_TRY(const auto families, parse_measured(outcome.evidence["families"], "families"));
      join_measured(elsewhere, families);
      return {};
    }
    outcome.evidence["shape"] = shape;
    verdict = std::move(outcome);
    return {};
  };
  const TileHint hint = tile.size() == 3 ? TileHint{tile[0], tile[1], tile[2]} : TileHint{};
  for (const Problem& shape : sample_domain(problem_, binary.launch, hint, kDomainShapes, random.next())) {
    if (!verdict.passed()) return verdict;
    const CheckPlan some = {.contract = binary.launch.contract, .families = kScreeningFamilies};
    KW_TRY(const std::vector<Check> here, make_checks(shape, some, random.next()));
    KW_TRY_VOID(check_here(here, describe_problem(shape)));
  }
  KW_TRY(const std::vector<Check> spread, make_spread_checks(problem_, binary.launch, random.next()));
  for (size_t at = 0; at < spread.size() && verdict.passed();) {
    const Problem& shape = spread[at].spread->problem;
    std::vector<Check> here;
    for (; at < spread.size() && spread[at].spread->problem == shape; ++at) here.push_back(spread[at]);
    KW_TRY_VOID(check_here(here, describe_problem(shape)));
  }
  if (!verdict.passed()) return verdict;
  verdict.promoted = true;
  verdict.evidence["domain_shapes"] = shapes;
  verdict.evidence["domain_families"] = print_measured(elsewhere);
  verdict.evidence["seed"] = seed;
  verdict.evidence["tile"] = tile;
  return verdict;
}

}  // namespace kw
