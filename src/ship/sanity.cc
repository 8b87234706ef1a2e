#include "ship/sanity.h"

#include <cmath>
#include <tuple>

namespace kw {
namespace {

constexpr double kLongerForLess = 1.25;

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

auto kind_of(const PublishedTime& time) {
  const Problem& p = time.problem;
  return std::tuple(time.who, p.layout, p.dtype, p.alpha, p.beta);
}

bool is_within(const Problem& small, const Problem& large) {
  return small.m <= large.m && small.n <= large.n && small.k <= large.k;
}

std::string describe(const PublishedTime& time) {
  const std::string us =
      std::isfinite(time.median_us) ? fmt::format("{:.4g} us", time.median_us) : "no number";
  return fmt::format("{} ({}): {}", describe_problem(time.problem), time.who, us);
}

}  // namespace

std::vector<Oddity> find_oddities(const DeviceFacts& device, const std::vector<PublishedTime>& times) {
  std::vector<Oddity> oddities;
  for (const PublishedTime& time : times) {
    const double floor_us = device.peak_gflops > 0 ? time.flops / device.peak_gflops * 1e-3 : 0;
    const bool ok = is_positive(time.median_us) && time.median_us >= kPeakTolerance * floor_us;
    if (!ok)
      oddities.push_back(
          {true, fmt::format("{}; its arithmetic alone takes {:.4g} us at the measured peak of "
                             "{:.4g} GFLOP/s",
                             describe(time), floor_us, device.peak_gflops)});
  }
  for (const PublishedTime& small : times) {
    const PublishedTime* fastest = nullptr;
    for (const PublishedTime& large : times) {
      if (&large == &small || kind_of(large) != kind_of(small) || !is_within(small.problem, large.problem))
        continue;
      const bool longer = small.median_us > kLongerForLess * large.median_us;
      if (longer && (fastest == nullptr || large.median_us < fastest->median_us)) fastest = &large;
    }
    if (fastest != nullptr)
      oddities.push_back(
          {false, fmt::format("{}, longer than the larger {}", describe(small), describe(*fastest))});
  }
  return oddities;
}

void add_times(const Decision& decision, double flops, std::vector<PublishedTime>& times) {
  const auto problem = parse_problem(decision.problem);
  if (!problem) return;  // a problem this version cannot read makes no claim here
  if (!decision.binary_hash.empty()) times.push_back({*problem, "ours", decision.median_us, flops});
  if (!decision.baseline.empty())
    times.push_back({*problem, decision.baseline, decision.baseline_median_us, flops});
}

}  // namespace kw
