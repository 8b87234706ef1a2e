#include "ship/bench_summary.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"

namespace kw {
namespace {

constexpr size_t kWorstCases = 10;
constexpr int kResamples = 10000;

bool is_lost(double ratio, Loss loss) { return loss == Loss::kBelowOne ? ratio < 1 : ratio > 1; }

RatioBand summarize_band(int log2_flops, const std::vector<RatioCase>& members, Loss loss) {
  RatioBand band{.log2_flops = log2_flops, .cases = static_cast<int>(members.size())};
  std::vector<double> ratios;
  int lost = 0;
  for (const RatioCase& member : members) {
    ratios.push_back(member.ratio);
    lost += is_lost(member.ratio, loss) ? 1 : 0;
  }
  band.geomean = geometric_mean(ratios);
  band.share_lost = static_cast<double>(lost) / static_cast<double>(members.size());
  return band;
}

double bar_us(const BenchCase& one) { return one.row.bar->us; }
double ours_us(const BenchCase& one) { return one.row.ours ? one.row.ours->us : bar_us(one); }

std::vector<RatioCase> list_same_layout(const std::vector<const BenchCase*>& measured) {
  std::vector<RatioCase> ratios;
  for (const BenchCase* one : measured)
    ratios.push_back({one->row.problem, one->row.ours ? one->row.ours->ratio : 1.0, one->flops});
  return ratios;
}

// Shapes in order of first appearance.
std::vector<RatioCase> list_best_layout(const std::vector<const BenchCase*>& measured) {
  struct Least {
    double bar = 0, ours = 0, flops = 0;
  };
  std::map<std::string, Least> least;
  std::vector<std::string> order;
  for (const BenchCase* one : measured) {
    const auto [found, is_new] =
        least.try_emplace(one->shape, Least{bar_us(*one), ours_us(*one), one->flops});
    if (is_new) order.push_back(one->shape);
    found->second.bar = std::min(found->second.bar, bar_us(*one));
    found->second.ours = std::min(found->second.ours, ours_us(*one));
  }
  std::vector<RatioCase> ratios;
  for (const std::string& shape : order)
    ratios.push_back({shape, least[shape].bar / least[shape].ours, least[shape].flops});
  return ratios;
}

std::vector<RatioCase> list_over_best(const std::vector<const BenchCase*>& measured,
                                      std::optional<double> BenchRow::*figure) {
  std::vector<RatioCase> ratios;
  for (const BenchCase* one : measured)
    if (one->row.*figure)
      ratios.push_back({one->row.problem, *(one->row.*figure) / bar_us(*one), one->flops});
  return ratios;
}

BenchSummary summarize_mode(BenchMode mode, const std::vector<const BenchCase*>& cases, uint64_t seed) {
  BenchSummary summary{.mode = mode, .cases = static_cast<int>(cases.size())};
  std::vector<const BenchCase*> measured;
  std::vector<double> agreements;
  bool any_ours = false;
  for (const BenchCase* one : cases) {
    summary.with_refused += one->row.refused.empty() ? 0 : 1;
    if (!one->row.bar) {
      ++summary.unmeasured;
      continue;
    }
    measured.push_back(one);
    any_ours = any_ours || one->row.ours;
    if (one->row.agreement) agreements.push_back(*one->row.agreement);
  }
  if (!agreements.empty()) {
    summary.agreement_median = median(agreements);
    summary.agreement_worst = *std::max_element(agreements.begin(), agreements.end());
  }
  if (any_ours) {
    summary.same_layout = summarize_ratios(list_same_layout(measured), Loss::kBelowOne, seed);
    summary.best_layout = summarize_ratios(list_best_layout(measured), Loss::kBelowOne, seed);
  }
  summary.heuristic_over_best =
      summarize_ratios(list_over_best(measured, &BenchRow::heuristic_us), Loss::kAboveOne, seed);
  summary.cublas_over_best =
      summarize_ratios(list_over_best(measured, &BenchRow::cublas_us), Loss::kAboveOne, seed);
  return summary;
}

}  // namespace

std::optional<RatioSummary> summarize_ratios(const std::vector<RatioCase>& cases, Loss loss, uint64_t seed) {
  if (cases.empty()) return std::nullopt;
  std::map<int, std::vector<RatioCase>> bands;
  std::vector<double> ratios;
  for (const RatioCase& one : cases) {
    KW_CHECK(one.ratio > 0, "ratio {} of {}", one.ratio, one.name);
    ratios.push_back(one.ratio);
    bands[one.flops >= 1 ? std::ilogb(one.flops) : -1].push_back(one);
  }
  const RatioBand all = summarize_band(0, cases, loss);
  RatioSummary summary{.cases = all.cases, .geomean = all.geomean};
  summary.geomean_interval = bootstrap_geomean_interval(ratios, 0.95, kResamples, seed);
  summary.median = median(ratios);
  summary.share_lost = all.share_lost;
  summary.worst = cases;
  std::stable_sort(summary.worst.begin(), summary.worst.end(), [&](const RatioCase& a, const RatioCase& b) {
    return loss == Loss::kBelowOne ? a.ratio < b.ratio : a.ratio > b.ratio;
  });
  summary.worst.resize(std::min(kWorstCases, summary.worst.size()));
  for (const auto& [log2_flops, members] : bands)
    summary.bands.push_back(summarize_band(log2_flops, members, loss));
  return summary;
}

std::vector<BenchSummary> summarize_bench(const std::vector<BenchCase>& cases, uint64_t seed) {
  std::map<BenchMode, std::vector<const BenchCase*>> by_mode;
  for (const BenchCase& one : cases) by_mode[one.row.mode].push_back(&one);
  std::vector<BenchSummary> summaries;
  for (const auto& [mode, members] : by_mode) summaries.push_back(summarize_mode(mode, members, seed));
  return summaries;
}

}  // namespace kw
