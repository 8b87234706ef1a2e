#include "ship/report_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace kw {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

double compute_gflops(double flops, double us) {
  return is_positive(flops) && is_positive(us) ? flops / us * 1e-3 : kNone;
}

const Evaluation* find_best(const std::vector<Evaluation>& evaluations) {
  const Evaluation* best = nullptr;
  for (const Evaluation& evaluation : evaluations)
    if (evaluation.timing && is_positive(evaluation.timing->ratio) &&
        (best == nullptr || evaluation.timing->ratio > best->timing->ratio))
      best = &evaluation;
  return best;
}

CaseView make_view(const ReportCase& source) {
  CaseView view;
  view.source = &source;
  const Decision& decision = source.row.decision;
  const auto problem = parse_problem(decision.problem);
  view.label = problem ? describe_problem(*problem) : decision.problem;
  view.short_label = view.label.substr(0, view.label.find(' '));
  view.ours = !decision.binary_hash.empty();
  view.valid = !view.ours || is_positive(decision.ratio);
  if (view.ours) {
    view.ratio = decision.ratio;
    view.low = decision.ratio_low;
    view.high = decision.ratio_high;
  }
  const bool wins = view.ours && view.valid && decision.ratio >= 1;
  view.loss = !wins;
  view.best = find_best(source.evaluations);
  if (!view.ours && source.row.confirmation)
    view.tried = &*source.row.confirmation;
  else if (!view.ours && view.best != nullptr)
    view.tried = &*view.best->timing;
  view.chosen_gflops = compute_gflops(source.flops, decision.median_us);
  view.vendor_gflops = compute_gflops(source.flops, decision.baseline_median_us);
  const DeviceFacts& device = source.row.device;
  const bool has_floor =
      device.peak_gflops > 0 && device.bandwidth_gbs > 0 && is_positive(decision.median_us);
  view.floor_share = has_floor ? roofline_us(device, source.flops, source.bytes) / decision.median_us : kNone;
  view.intensity = is_positive(source.bytes) ? source.flops / source.bytes : kNone;
  return view;
}

// How fast the best that we have is; 0 when nothing was right.
double rank_of(const CaseView& view) {
  if (view.ours) return view.valid ? view.ratio : 0;
  return view.tried != nullptr && is_positive(view.tried->ratio) ? view.tried->ratio : 0;
}

std::string name_of(const DeviceFacts& device) {
  return fmt::format("{}, {} thread{}", device.name, device.threads, device.threads == 1 ? "" : "s");
}

}  // namespace

std::vector<CaseGroup> group_cases(const std::vector<ReportCase>& cases) {
  std::vector<CaseGroup> groups;
  for (const ReportCase& source : cases) {
    const DeviceFacts& device = source.row.device;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const CaseGroup& each) { return each.device_key == device.key(); });
    if (group == groups.end()) {
      group = groups.insert(group,
                            CaseGroup{.device_key = device.key(), .name = name_of(device), .device = device});
      group->first_decided = group->last_decided = source.row.decided;
    }
    if (source.row.decided > group->last_decided) group->device = device;
    group->first_decided = std::min(group->first_decided, source.row.decided);
    group->last_decided = std::max(group->last_decided, source.row.decided);
    group->cases.push_back(make_view(source));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const CaseGroup& x, const CaseGroup& y) {
    return std::tie(x.device.name, x.device.threads) < std::tie(y.device.name, y.device.threads);
  });
  for (CaseGroup& group : groups)
    std::stable_sort(group.cases.begin(), group.cases.end(), [](const CaseView& a, const CaseView& b) {
      return a.loss != b.loss ? a.loss : rank_of(a) < rank_of(b);
    });
  return groups;
}

SearchTrace trace_search(const std::vector<Evaluation>& evaluations) {
  SearchTrace trace;
  double best = 0, last_s = evaluations.empty() ? 0 : evaluations.front().finished_s;
  for (const Evaluation& evaluation : evaluations) {
    const double step_s = evaluation.finished_s - last_s;
    last_s = evaluation.finished_s;
    if (step_s > 0 && step_s <= kLongestStepS) trace.total_s += step_s;
    if (!evaluation.timing || !is_positive(evaluation.timing->ratio) || evaluation.timing->ratio <= best)
      continue;
    best = evaluation.timing->ratio;
    trace.improvements.push_back({trace.total_s, best, &evaluation});
  }
  return trace;
}

double best_at(const SearchTrace& trace, double at_s) {
  double best = 0;
  for (const Improvement& improvement : trace.improvements)
    if (improvement.at_s <= at_s) best = improvement.ratio;
  return best;
}

}  // namespace kw
