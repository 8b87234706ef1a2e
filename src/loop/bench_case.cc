#include "loop/bench_case.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/random.h"
#include "base/statistics.h"
#include "loop/baselines.h"
#include "measure/measure.h"
#include "problem/check.h"
#include "problem/spot.h"
#include "problem/workload.h"
#include "verify/verify.h"

namespace kw {
namespace {

constexpr const char *kCublas = "cublas", *kHeuristic = "cublaslt_heuristic", *kLtPrefix = "cublaslt",
                     *kTorch = "torch";
const std::vector<std::string> kAlways = {kCublas, kHeuristic, kTorch};
constexpr int kRankingSamples = 3;  // server mode: to choose whom to serve
constexpr int kWatchedRuns = 8;     // by which a routine is judged where no family is run

Contract make_contract(Dtype dtype) {
  return {dtype, dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32, dtype};
}

BenchCheck choose_check(const BenchSettings& settings, const Workload& workload) {
  double bytes = 0;
  for (const Operand& operand : workload.operands) bytes += static_cast<double>(operand.span_bytes());
  for (const BenchClass& one : settings.classes)
    if (bytes <= one.up_to_bytes) return one.check;
  return settings.classes.empty() ? BenchCheck::kSpots : settings.classes.back().check;
}

// What all modes of one problem share.
class CaseRun {
 public:
  CaseRun(Device& device, const ProblemUse& use, const BenchSettings& settings, uint64_t seed)
      : device_(device),
        use_(use),
        settings_(settings),
        random_(seed),
        workload_(make_workload(use.problem)),
        check_(choose_check(settings, workload_)) {}

  Status open();
  Result<BenchRow> run(BenchMode mode);

 private:
  Status choose();
  Result<std::optional<std::string>> find_fault(const std::string& name, const std::vector<Check>& checks);
  [[nodiscard]] MeasurePlan make_plan(BenchMode mode, int samples);
  [[nodiscard]] MeasurePlan make_watched_plan(BenchMode mode, int samples);
  Result<std::vector<BaselineRow>> measure(BenchMode mode);
  Result<std::vector<BaselineRow>> serve_fastest(std::vector<BaselineRow> rows);
  Result<std::optional<double>> measure_agreement(BenchMode mode, const BaselineRow& first);
  Result<std::optional<BenchOurs>> measure_ours(BenchMode mode, const BaselineRow& bar);
  Result<std::optional<BenchOurs>> serve_ours(const Binary& binary, const BaselineRow& bar);
  void log_refused(const std::string& name, const std::string& why);

  Device& device_;
  const ProblemUse& use_;
  const BenchSettings& settings_;
  Random random_;
  Workload workload_;
  BenchCheck check_;
  std::unique_ptr<Buffers> buffers_;
  int64_t found_ = 0;
  std::vector<std::string> chosen_;  // routines that are right and worth measuring
  std::string refused_;
  std::map<std::string, std::vector<ServerCall>> served_;  // by routine, in server mode
};

void CaseRun::log_refused(const std::string& name, const std::string& why) {
  refused_ += fmt::format("{}{} {}", refused_.empty() ? "" : "; ", name, why);
}

Status CaseRun::open() {
  KW_TRY(buffers_, device_.make_buffers(workload_, {.sets = plan_sets(workload_, device_.facts())}));
  fill_for_timing(*buffers_, random_.next());
  return choose();
}

Status CaseRun::choose() {
  KW_TRY(const std::vector<std::string> names, device_.find_baselines(workload_));
  found_ = static_cast<int64_t>(names.size());
  std::vector<Check> checks;
  if (check_ == BenchCheck::kFamilies) {
    const CheckPlan plan{.contract = make_contract(use_.problem.dtype),
                         .families = settings_.families,
                         .max_reference_flops = settings_.max_reference_flops};
    KW_TRY(checks, make_checks(use_.problem, plan, random_.next()));
  }
  const BaselineChoice choice{
      .most = settings_.finalists,
      .always = kAlways,
      .run_limit = settings_.run_limit,
      .find_fault = [&](const std::string& name) { return find_fault(name, checks); }};
  KW_TRY(ChosenBaselines chosen, choose_baselines(device_, *buffers_, names, choice));
  chosen_ = std::move(chosen.names);
  for (const BaselineRow& row : chosen.refused) log_refused(row.name, row.refused);
  return {};
}

// On the families that were made; without any by hidden spots; by nothing where that is wanted.
Result<std::optional<std::string>> CaseRun::find_fault(const std::string& name,
                                                       const std::vector<Check>& checks) {
  using Fault = std::optional<std::string>;
  if (check_ == BenchCheck::kNone) return Fault();
  if (check_ == BenchCheck::kFamilies) {
    KW_TRY(const Verdict verdict,
           check_baseline(device_, name, checks, {.limit = settings_.run_limit, .seed = random_.next()}));
    return verdict.passed() ? Fault() : Fault(verdict.code());
  }
  MeasurePlan plan = make_watched_plan(BenchMode::kOffline, kWatchedRuns);
  plan.sample_us = 0;  // the shortest: what counts is how often inputs change and outputs are looked at
  KW_TRY(const auto rows, measure_baselines(device_, *buffers_, {name}, plan));
  return rows[0].refused.empty() ? Fault() : Fault(rows[0].refused);
}

MeasurePlan CaseRun::make_plan(BenchMode mode, int samples) {
  MeasurePlan plan;
  plan.sample_us = mode == BenchMode::kCudaL2 ? 0 : settings_.sample_us;  // 0: one call a sample
  plan.min_pairs = plan.max_pairs = samples;
  plan.seed = random_.next();
  plan.run_limit = settings_.run_limit;
  plan.cores = settings_.cores;
  plan.threads = device_.facts().threads;
  plan.watch_load = false;
  return plan;
}

MeasurePlan CaseRun::make_watched_plan(BenchMode mode, int samples) {
  MeasurePlan plan = make_plan(mode, samples);
  if (check_ != BenchCheck::kNone)
    plan.reference = make_spot_reference(workload_, make_contract(use_.problem.dtype));
  return plan;
}

std::vector<double> list_rates(const std::vector<double>& latency_us) {
  std::vector<double> rates;
  for (const double us : latency_us) rates.push_back(1 / us);
  return rates;
}

// Time of the mode from samples: cuda-l2's is that of the mean rate, the others' the median.
double summarize_samples(BenchMode mode, const std::vector<double>& latency_us) {
  return mode == BenchMode::kCudaL2 ? 1 / mean(list_rates(latency_us)) : median(latency_us);
}

void sort_by_time(std::vector<BaselineRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const BaselineRow& a, const BaselineRow& b) { return a.median_us < b.median_us; });
}

// The chosen routines with the mode's time in median_us, the fastest first.
Result<std::vector<BaselineRow>> CaseRun::measure(BenchMode mode) {
  const int samples = mode == BenchMode::kServer   ? kRankingSamples
                      : mode == BenchMode::kCudaL2 ? settings_.single_calls
                                                   : settings_.pairs;
  KW_TRY(std::vector<BaselineRow> rows,
         measure_baselines(device_, *buffers_, chosen_, make_plan(mode, samples)));
  std::vector<BaselineRow> measured;
  for (BaselineRow& row : rows) {
    if (!row.refused.empty()) {
      log_refused(row.name, row.refused);
      continue;
    }
    row.median_us = summarize_samples(mode, row.latency_us);
    measured.push_back(std::move(row));
  }
  sort_by_time(measured);
  if (mode == BenchMode::kServer) return serve_fastest(std::move(measured));
  return measured;
}

std::vector<double> list_device_us(const std::vector<ServerCall>& calls) {
  std::vector<double> us;
  for (const ServerCall& call : calls) us.push_back(call.device_us);
  return us;
}

ServerTimes summarize_calls(const std::vector<ServerCall>& calls) {
  const std::vector<double> device_us = list_device_us(calls);
  std::vector<double> host_us;
  for (const ServerCall& call : calls) host_us.push_back(call.host_us);
  return {median(device_us), quantile(device_us, 0.99), median(host_us), quantile(host_us, 0.99)};
}

// In: rows of an offline ranking. Out: those served, by the median of their calls on the device.
Result<std::vector<BaselineRow>> CaseRun::serve_fastest(std::vector<BaselineRow> rows) {
  const uint64_t gaps = random_.next();
  served_.clear();
  std::vector<BaselineRow> served;
  for (size_t at = 0; at < rows.size(); ++at) {
    const bool always = std::find(kAlways.begin(), kAlways.end(), rows[at].name) != kAlways.end();
    if (at >= settings_.served && !always) continue;
    BaselineRow& row = served.emplace_back(std::move(rows[at]));
    KW_TRY(const auto program, device_.start_baseline(row.name, *buffers_));
    KW_TRY(served_[row.name], program->serve(settings_.server_calls, settings_.rate_hz, gaps));
    row.median_us = median(list_device_us(served_[row.name]));
  }
  sort_by_time(served);
  return served;
}

Result<std::optional<double>> CaseRun::measure_agreement(BenchMode mode, const BaselineRow& first) {
  double second_us = 0;
  if (mode == BenchMode::kServer) {
    KW_TRY(const auto program, device_.start_baseline(first.name, *buffers_));
    KW_TRY(const auto calls, program->serve(settings_.server_calls, settings_.rate_hz, random_.next()));
    second_us = median(list_device_us(calls));
  } else {
    const int samples = mode == BenchMode::kCudaL2 ? settings_.single_calls : settings_.pairs;
    KW_TRY(const auto again, measure_baselines(device_, *buffers_, {first.name}, make_plan(mode, samples)));
    if (!again[0].refused.empty()) return std::optional<double>();
    second_us = summarize_samples(mode, again[0].latency_us);
  }
  return std::optional(std::abs(second_us - first.median_us) / first.median_us);
}

// Rounding, or a lopsided draw, must not put the interval beside its ratio.
void include_ratio(BenchOurs& row) {
  row.low = std::min(row.low, row.ratio);
  row.high = std::max(row.high, row.ratio);
}

Result<std::optional<BenchOurs>> CaseRun::serve_ours(const Binary& binary, const BaselineRow& bar) {
  const uint64_t gaps = random_.next();
  KW_TRY(auto ours, device_.start_candidate(binary, *buffers_));
  if (!ours) return std::optional<BenchOurs>();
  KW_TRY(const auto vendor, device_.start_baseline(bar.name, *buffers_));
  KW_TRY(const auto our_calls, (*ours)->serve(settings_.server_calls, settings_.rate_hz, gaps));
  KW_TRY(const auto bar_calls, vendor->serve(settings_.server_calls, settings_.rate_hz, gaps));
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(our_calls.size(), bar_calls.size()); ++i)
    ratios.push_back(bar_calls[i].device_us / our_calls[i].device_us);
  const Interval interval =
      bootstrap_median_interval(ratios, kIntervalConfidence, MeasurePlan{}.resamples, gaps);
  const ServerTimes times = summarize_calls(our_calls);
  BenchOurs row{binary.hash, times.device_p50_us, median(ratios), interval.low, interval.high, times};
  include_ratio(row);
  return std::optional(row);
}

Result<std::optional<BenchOurs>> CaseRun::measure_ours(BenchMode mode, const BaselineRow& bar) {
  if (!settings_.find_ours) return std::optional<BenchOurs>();
  KW_TRY(const std::optional<Binary> binary, settings_.find_ours(use_.problem));
  if (!binary) return std::optional<BenchOurs>();
  if (mode == BenchMode::kServer) return serve_ours(*binary, bar);
  KW_TRY(auto ours, device_.start_candidate(*binary, *buffers_));
  if (!ours) {
    log_refused("ours " + binary->hash, ours.error().code());
    return std::optional<BenchOurs>();
  }
  KW_TRY(const auto vendor, device_.start_baseline(bar.name, *buffers_));
  const bool cuda_l2 = mode == BenchMode::kCudaL2;
  const MeasurePlan plan = make_watched_plan(mode, cuda_l2 ? settings_.single_calls : settings_.ours_pairs);
  const auto timing = run_comparison(**ours, *vendor, *buffers_, plan);
  if (!timing) {
    log_refused("ours " + binary->hash, timing.error().code());
    return std::optional<BenchOurs>();
  }
  BenchOurs row{binary->hash, timing->median_us, timing->ratio, timing->ratio_low, timing->ratio_high, {}};
  if (cuda_l2) {
    const auto our_rates = list_rates(timing->latency_us),
               bar_rates = list_rates(timing->baseline_latency_us);
    const Interval interval =
        bootstrap_mean_ratio_interval(our_rates, bar_rates, kIntervalConfidence, plan.resamples, plan.seed);
    row.us = 1 / mean(our_rates);
    row.ratio = mean(our_rates) / mean(bar_rates);
    row.low = interval.low;
    row.high = interval.high;
  }
  include_ratio(row);
  return std::optional(row);
}

BenchFigure make_figure(const BaselineRow& row) { return {row.name, row.identity, row.median_us}; }

Result<BenchRow> CaseRun::run(BenchMode mode) {
  const std::string refused_before = refused_;
  KW_TRY(const std::vector<BaselineRow> rows, measure(mode));
  BenchRow result{.problem = print_problem(use_.problem),
                  .name = use_.name,
                  .mode = mode,
                  .device_key = device_.facts().key(),
                  .protocol_version = kProtocolVersion,
                  .algorithms = found_,
                  .workspace_mib = settings_.workspace_mib};
  for (const BaselineRow& row : rows) {
    if (row.name == kCublas) result.cublas_us = row.median_us;
    if (row.name == kHeuristic) result.heuristic_us = row.median_us;
    if (row.name == kTorch) result.torch_us = row.median_us;
    if (row.name.starts_with(kLtPrefix) && !result.cublaslt) result.cublaslt = make_figure(row);
  }
  if (!rows.empty()) {
    const BaselineRow& bar = rows.front();
    result.bar = make_figure(bar);
    if (mode == BenchMode::kServer) {
      result.server = summarize_calls(served_[bar.name]);
      result.rate_hz = settings_.rate_hz;
    }
    KW_TRY(result.agreement, measure_agreement(mode, bar));
    KW_TRY(result.ours, measure_ours(mode, bar));
  }
  if (settings_.read_state) result.state = settings_.read_state();
  result.refused = std::exchange(refused_, refused_before);
  return result;
}

}  // namespace

Result<std::vector<BenchRow>> run_bench_case(Device& device, const ProblemUse& use,
                                             const std::vector<BenchMode>& modes,
                                             const BenchSettings& settings, uint64_t seed) {
  CaseRun one(device, use, settings, seed);
  KW_TRY_VOID(one.open());
  std::vector<BenchRow> rows;
  for (const BenchMode mode : modes) {
    KW_TRY(BenchRow row, one.run(mode));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kw
