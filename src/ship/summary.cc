#include "ship/summary.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"

namespace kw {
namespace {

constexpr size_t kWorstCases = 10;

double counted_ratio(const Decision& decision) { return decision.binary_hash.empty() ? 1.0 : decision.ratio; }

double share(int part, size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

GridBand summarize_band(int log2_flops, const std::vector<const GridCase*>& members) {
  GridBand band;
  band.log2_flops = log2_flops;
  band.cases = static_cast<int>(members.size());
  std::vector<double> ratios;
  int below = 0, vendor = 0;
  for (const GridCase* member : members) {
    ratios.push_back(counted_ratio(member->decision));
    if (ratios.back() < 1) ++below;
    if (member->decision.binary_hash.empty()) ++vendor;
  }
  band.geomean = geometric_mean(ratios);
  band.share_below_one = share(below, members.size());
  band.vendor_share = share(vendor, members.size());
  return band;
}

}  // namespace

std::optional<GridSummary> summarize(const std::vector<GridCase>& cases, uint64_t seed) {
  if (cases.empty()) return std::nullopt;
  std::vector<const GridCase*> order;
  std::map<int, std::vector<const GridCase*>> bands;
  std::vector<double> ratios;
  for (const GridCase& one : cases) {
    const double ratio = counted_ratio(one.decision);
    KW_CHECK(ratio > 0, "ratio {} of {}", ratio, one.decision.problem);
    ratios.push_back(ratio);
    order.push_back(&one);
    bands[one.flops >= 1 ? std::ilogb(one.flops) : -1].push_back(&one);
  }
  std::stable_sort(order.begin(), order.end(), [](const GridCase* a, const GridCase* b) {
    return counted_ratio(a->decision) < counted_ratio(b->decision);
  });
  const GridBand all = summarize_band(0, order);
  GridSummary summary;
  summary.cases = all.cases;
  summary.geomean = all.geomean;
  summary.geomean_interval = bootstrap_geomean_interval(ratios, 0.95, 10000, seed);
  summary.median = median(ratios);
  summary.share_below_one = all.share_below_one;
  summary.vendor_share = all.vendor_share;
  for (size_t i = 0; i < std::min(kWorstCases, order.size()); ++i)
    summary.worst.push_back(order[i]->decision);
  for (const auto& [log2_flops, members] : bands)
    summary.bands.push_back(summarize_band(log2_flops, members));
  return summary;
}

}  // namespace kw
