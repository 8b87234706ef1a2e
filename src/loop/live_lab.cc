#include "loop/live_lab.h"

#include <sched.h>

#include <algorithm>

#include "emit/emit.h"
#include "problem/spot.h"
#include "problem/workload.h"
#include "target/cpu/peak.h"

namespace kw {
namespace {

// Families a large problem is searched with; promotion uses all. They catch what goes wrong most: numbers,
// exact sums, the accumulator's type, and NaN handling.
const std::vector<std::string> kScreeningFamilies = {"normal", "exact_integers", "sticky", "nan_inf"};

constexpr double kGiveUpMargin = 0.9;  // of the best ratio so far: below it a candidate's timing stops early
constexpr double kNearBar = 1.10;      // baselines within 10 % of the best are measured again when confirming
constexpr int kDomainShapes = 14;
constexpr double kScreeningBudgetUs = 400'000;
constexpr int kScreeningPairs = 24;  // enough to rank; what is chosen is measured again

void refuse(Candidate& candidate, Verdict verdict) {
  candidate.evaluation.verdict = std::move(verdict);
  candidate.failed = true;
}

// A verdict that may speak of the vendor's process or of a peak measured on a busy machine, not of the
// candidate.
bool is_our_fault(const Verdict& verdict) {
  return verdict.reason == "baseline_failed" || verdict.reason == "faster_than_roofline";
}

// protocol.md A.5: a family that lets a null kernel pass is not admitted. It happens at degenerate sizes
// only, where a family's results are all alike (k = 1). An error when fewer than two families are left.
Status keep_families_that_refuse_null_kernels(std::vector<Check>& checks) {
  Status last;
  const auto fooled = [&](const Check& check) {
    const Status status = check_families_refuse_null_kernels({&check, 1});
    if (!status) last = status;
    return !status;
  };
  const size_t before = checks.size();
  std::erase_if(checks, fooled);
  if (checks.size() < std::min<size_t>(2, before)) return last;
  return {};
}

// Keeps the calling thread off the measuring cores (where others are left) while a candidate runs there.
class AwayFrom {
 public:
  explicit AwayFrom(const std::vector<int>& cpus) {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t others = before_;
    for (int cpu : cpus) CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) > 0) ::sched_setaffinity(0, sizeof others, &others);
  }
  ~AwayFrom() { ::sched_setaffinity(0, sizeof before_, &before_); }
  AwayFrom(const AwayFrom&) = delete;
  AwayFrom& operator=(const AwayFrom&) = delete;

 private:
  cpu_set_t before_;
};

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
  CheckPlan checks;
  if (lab->workload_.flops > plan.max_flops_of_all_families) checks.families = kScreeningFamilies;
  KW_TRY(lab->checks_, make_checks(problem, checks, lab->draws_.next()));
  KW_TRY_VOID(keep_families_that_refuse_null_kernels(lab->checks_));
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
  plan.floor_us = plan_.peak_gflops > 0 ? workload_.flops / plan_.peak_gflops * 1e-3 : 0;
  return plan;
}

Status LiveLab::open_baselines() {
  const AwayFrom away(plan_.measure_cpus);
  std::vector<std::string> honest;
  for (const std::string& name : device_.find_baselines(workload_)) {
    KW_TRY(const Verdict verdict, check_baseline(device_, name, checks_, {.seed = draws_.next()}));
    if (verdict.passed())
      honest.push_back(name);
    else
      baselines_.push_back({.name = name, .refused = verdict.code()});
  }
  KW_TRY(std::vector<BaselineRow> rows,
         measure_baselines(device_, *timing_buffers_, honest, make_measure_plan({}, draws_.next())));
  baselines_.insert(baselines_.begin(), rows.begin(), rows.end());
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
  KW_TRY(CompileBatch::Results results, compiling_->finish(plan_.measure_cpus.back()));
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
  if (verdict.reason == "baseline_failed") {
    KW_TRY(bar_program_, device_.start_baseline(bar_.baseline, *timing_buffers_));
    return {};
  }
  KW_TRY(const Peaks peaks, measure_cpu_peaks(device_.facts().threads));
  plan_.peak_gflops = std::max(plan_.peak_gflops, peaks.peak_gflops);
  return {};
}

Result<tl::expected<Timing, Verdict>> LiveLab::compare_fresh(const Binary& binary, int min_pairs,
                                                             int max_pairs, double budget_us, uint64_t seed) {
  using Outcome = tl::expected<Timing, Verdict>;
  const AwayFrom away(plan_.measure_cpus);
  std::optional<Timing> lowest;
  for (const BaselineRow& row : baselines_) {
    if (!row.refused.empty() || row.median_us > bar_.median_us * kNearBar) continue;
    KW_TRY(auto baseline, device_.start_baseline(row.name, *timing_buffers_));
    KW_TRY(auto program, device_.start_candidate(binary, *timing_buffers_));
    if (!program) return Outcome(tl::unexpected(program.error()));
    MeasurePlan plan = make_measure_plan(binary.launch.contract, seed);
    plan.baseline = row.name;
    plan.min_pairs = min_pairs;
    plan.max_pairs = max_pairs;
    plan.budget_us = budget_us;
    auto timing = run_comparison(**program, *baseline, *timing_buffers_, plan);
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
  KW_TRY(const std::vector<Check> checks, make_checks(problem_, all, random.next()));
  KW_TRY(Verdict verdict, check_binary(device_, binary, checks, {.repeats = 3, .seed = random.next()}));
  const TileHint hint = tile.size() == 3 ? TileHint{tile[0], tile[1], tile[2]} : TileHint{};
  Json shapes = Json::array();
  for (const Problem& shape : sample_domain(problem_, binary.launch, hint, kDomainShapes, random.next())) {
    if (!verdict.passed()) return verdict;
    const CheckPlan some = {.contract = binary.launch.contract, .families = kScreeningFamilies};
    KW_TRY(const std::vector<Check> here, make_checks(shape, some, random.next()));
    KW_TRY(Verdict outcome, check_binary(device_, binary, here, {.seed = random.next()}));
    shapes.push_back(describe_problem(shape));
    if (!outcome.passed()) {
      outcome.evidence["shape"] = describe_problem(shape);
      verdict = std::move(outcome);
    }
  }
  if (!verdict.passed()) return verdict;
  verdict.promoted = true;
  verdict.evidence["domain_shapes"] = shapes;
  verdict.evidence["seed"] = seed;
  return verdict;
}

}  // namespace kw
