#include "measure/selection.h"

#include "base/check.h"
#include "base/statistics.h"

namespace kw {
namespace {

constexpr double kNeverSlower = 0.99;
constexpr int kSignFlips = 100000;  // least p-value 1e-5: Holm can reject among 5,000 cases

// Why the confirmation does not carry a kernel; empty when it does.
std::string find_objection(const Timing& timing) {
  if (!timing.confirmed) return "best kernel was not re-measured in a fresh process";
  const bool wins = timing.ratio_low > 1 && timing.ratio >= timing.ratio_low;
  if (!wins)
    return fmt::format("interval [{:.3f}, {:.3f}] does not exclude 1", timing.ratio_low, timing.ratio_high);
  return "";
}

}  // namespace

Decision decide(const std::string& problem, const std::string& baseline, double baseline_median_us,
                const std::optional<Timing>& confirmation) {
  Decision decision;
  decision.problem = problem;
  decision.baseline = baseline;
  decision.median_us = decision.baseline_median_us = baseline_median_us;
  if (!confirmation) {
    decision.reason = "no kernel beat " + baseline;
    return decision;
  }
  decision.reason = find_objection(*confirmation);
  if (!decision.reason.empty()) return decision;
  decision.binary_hash = confirmation->binary_hash;
  decision.baseline = confirmation->baseline;
  decision.ratio = confirmation->ratio;
  decision.ratio_low = confirmation->ratio_low;
  decision.ratio_high = confirmation->ratio_high;
  decision.median_us = confirmation->median_us;
  decision.baseline_median_us = confirmation->baseline_median_us;
  decision.reason =
      fmt::format("interval [{:.3f}, {:.3f}] excludes 1", decision.ratio_low, decision.ratio_high);
  if (confirmation->disturbed) decision.reason += ", measured on a busy machine";
  return decision;
}

std::vector<bool> find_significant_losses(const std::vector<Timing>& confirmations, double alpha,
                                          uint64_t seed) {
  std::vector<double> p_values;
  for (const Timing& timing : confirmations) {
    KW_CHECK(!timing.latency_us.empty() && timing.latency_us.size() == timing.baseline_latency_us.size(),
             "{} and {} samples", timing.latency_us.size(), timing.baseline_latency_us.size());
    std::vector<double> ratios;
    for (size_t i = 0; i < timing.latency_us.size(); ++i)
      ratios.push_back(timing.baseline_latency_us[i] / timing.latency_us[i]);
    const bool not_slower = median(ratios) >= kNeverSlower;
    p_values.push_back(not_slower ? 1 : sign_flip_p_value(ratios, kNeverSlower, kSignFlips, seed));
  }
  return holm_rejections(p_values, alpha);
}

}  // namespace kw
