// run_comparison: calibrate, warm up, measure pairs in random order until sure, summarise. In: two loaded
// programs. Out: Timing or Verdict. The order of events is protocol.md B; the stopping rules' error rates are
// in doc/measurement.md and tested by simulation.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "base/statistics.h"
#include "measure/busy.h"
#include "measure/measure.h"
#include "measure/sampler.h"

namespace kw {
namespace {

constexpr double kNarrow = 0.01;         // half width, relative: more pairs would not change what is decided
constexpr double kSlowModeShare = 0.10;  // more slow samples than the baseline has: a median hides too much
constexpr size_t kBootstrapPairs = 8;    // below, the spread of so few ratios understates the error
constexpr int kFreshPairs = 5;
constexpr double kMostMemoryGain = 1.5;  // of the ratio, by running on inputs already seen; beyond it a cheat
constexpr uint64_t kStartStream = 0x7374617274;

struct Pairs {
  std::vector<double> candidate_us, baseline_us, ratio;
  size_t size() const { return ratio.size(); }
  void add(double candidate, double baseline) {
    candidate_us.push_back(candidate);
    baseline_us.push_back(baseline);
    ratio.push_back(baseline / candidate);
  }
};

Verdict blame_baseline(const Verdict& failure, const Program& candidate) {
  Verdict verdict;
  verdict.klass = VerdictClass::kSkipped;
  verdict.reason = "baseline_failed";
  verdict.evidence = failure.evidence;
  verdict.evidence["baseline"] = failure.binary_hash;
  verdict.evidence["failure"] = failure.code();
  verdict.binary_hash = candidate.identity();
  return verdict;
}

// Share of the candidate's samples in a slow mode of its own, less the baseline's share that far above its
// median: what the machine does to both is not the candidate's fault.
double find_own_slow_share(const Pairs& pairs) {
  const double share = find_slow_mode_share(pairs.candidate_us);
  if (share == 0) return 0;
  std::vector<double> order = pairs.candidate_us;
  std::sort(order.begin(), order.end());
  const double count = static_cast<double>(order.size());
  const double fastest_slow_us = order[static_cast<size_t>(std::lround(count * (1 - share)))];
  const double limit_us = median(pairs.baseline_us) * fastest_slow_us / median(order);
  const auto slow = std::count_if(pairs.baseline_us.begin(), pairs.baseline_us.end(),
                                  [limit_us](double latency_us) { return latency_us >= limit_us; });
  return share - static_cast<double>(slow) / count;
}

Interval join(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// The bootstrap's, widened to the ranks that hold for every distribution: of few pairs it is too narrow.
Interval find_median_interval(const Pairs& pairs, const MeasurePlan& plan) {
  return join(bootstrap_median_interval(pairs.ratio, plan.confidence, plan.resamples, plan.seed),
              median_order_interval(pairs.ratio, plan.confidence));
}

// Looks cost time and error: at min_pairs, then each half as many pairs later again.
bool is_look(int count, int min_pairs) {
  int look = min_pairs;
  while (look < count) look += std::max(1, look / 2);
  return look == count;
}

enum class Stop { kNo, kPairs, kBudget, kSure, kTooSlow };

Stop find_stop(const Pairs& pairs, double spent_us, const MeasurePlan& plan) {
  const int count = static_cast<int>(pairs.size());
  if (count >= plan.max_pairs) return Stop::kPairs;
  if (count < 2) return Stop::kNo;  // one pair says nothing about its own error
  if (spent_us >= 3 * plan.budget_us) return Stop::kBudget;
  if (count < plan.min_pairs) return Stop::kNo;
  if (spent_us >= plan.budget_us) return Stop::kBudget;
  if (!is_look(count, plan.min_pairs)) return Stop::kNo;
  if (median(pairs.ratio) < plan.give_up_below) {
    const auto look = bootstrap_median_interval(pairs.ratio, plan.look_confidence, plan.resamples, plan.seed);
    if (look.high < plan.give_up_below) return Stop::kTooSlow;
  }
  const Interval sure = find_median_interval(pairs, plan);
  const bool narrow = (sure.high - sure.low) / 2 < kNarrow * median(pairs.ratio);
  if (narrow && find_own_slow_share(pairs) < kSlowModeShare) return Stop::kSure;
  return Stop::kNo;
}

void add_note(Timing& timing, const std::string& text) {
  timing.note += (timing.note.empty() ? "" : "; ") + text;
}

// Medians, or means when the candidate is fast only most of the time.
void summarise_samples(Timing& timing, const Pairs& pairs, const MeasurePlan& plan) {
  timing.latency_us = pairs.candidate_us;
  timing.baseline_latency_us = pairs.baseline_us;
  timing.median_us = median(pairs.candidate_us);
  timing.baseline_median_us = median(pairs.baseline_us);
  timing.ratio = median(pairs.ratio);
  Interval interval = find_median_interval(pairs, plan);
  const double slow_share = find_own_slow_share(pairs), mean_us = mean(pairs.candidate_us);
  if (slow_share >= kSlowModeShare && mean_us > timing.median_us) {
    timing.median_us = mean_us;
    timing.baseline_median_us = mean(pairs.baseline_us);
    timing.ratio = timing.baseline_median_us / timing.median_us;
    interval = bootstrap_mean_ratio_interval(pairs.baseline_us, pairs.candidate_us, plan.confidence,
                                             plan.resamples, plan.seed);
    add_note(timing,
             fmt::format("two modes, {:.0f} % more slow samples than the baseline: means instead of medians",
                         100 * slow_share));
  }
  if (pairs.size() < kBootstrapPairs) {
    interval = join(interval, log_t_interval(pairs.ratio, plan.confidence));
    add_note(timing, fmt::format("only {} pairs: Student's t interval", pairs.size()));
  }
  timing.ratio_low = interval.low;
  timing.ratio_high = interval.high;
}

// A sample that meets an operand set twice could give the second call the first one's answer, found again by
// a digest of all inputs. So, where samples are that long, some more pairs run each set once, on inputs
// changed just before: nothing, or what the ratio is then when it falls far below the measured one.
tl::expected<std::optional<double>, Verdict> find_ratio_without_memory(Sampler& sampler, Side ours, Side base,
                                                                       int64_t sets, double ratio) {
  std::vector<double> ratios;
  for (Side* side : {&ours, &base}) {
    side->expected_us = side->latency_us() * static_cast<double>(std::min(side->calls, sets));
    side->calls = std::min(side->calls, sets);
  }
  for (int pair = 0; pair < kFreshPairs; ++pair) {
    const auto ours_us = sampler.sample(ours);
    if (!ours_us) return tl::unexpected(ours_us.error());
    const auto base_us = sampler.sample(base);
    if (!base_us) return tl::unexpected(blame_baseline(base_us.error(), *ours.program));
    ratios.push_back(*base_us / *ours_us);
  }
  const double fresh_ratio = median(ratios);
  const bool ok = fresh_ratio * kMostMemoryGain >= ratio;
  return ok ? std::nullopt : std::optional(fresh_ratio);
}

Verdict make_cheat(const char* reason, const Timing& timing) {
  Verdict verdict;
  verdict.klass = VerdictClass::kCheat;
  verdict.reason = reason;
  verdict.evidence["stage"] = "measure";
  verdict.evidence["median_us"] = timing.median_us;
  verdict.binary_hash = timing.binary_hash;
  return verdict;
}

// Puts new workers of the same programs into the sides.
using Renew = std::function<tl::expected<void, Verdict>(Side& ours, Side& base)>;

// Latency per call of our side and of the baseline.
tl::expected<std::pair<double, double>, Verdict> sample_pair(Sampler& sampler, Side& ours, Side& base,
                                                             bool ours_first) {
  double ours_us = 0, base_us = 0;
  for (const bool turn_is_ours : {ours_first, !ours_first}) {
    const auto latency_us = sampler.sample(turn_is_ours ? ours : base);
    if (!latency_us && turn_is_ours) return tl::unexpected(latency_us.error());
    if (!latency_us) return tl::unexpected(blame_baseline(latency_us.error(), *ours.program));
    (turn_is_ours ? ours_us : base_us) = *latency_us;
  }
  return std::pair(ours_us, base_us);
}

// Calibrated sides -> pairs until sure. `renew` is called before every pair; empty = the workers stay. Fresh
// workers, and the first pair of all, are warmed up by a pair that does not count.
tl::expected<Stop, Verdict> take_pairs(Sampler& sampler, Side& ours, Side& base, const MeasurePlan& plan,
                                       const Renew& renew, Pairs& pairs) {
  const auto start = Clock::now();
  const auto get_spent_us = [&] {  // starting workers takes its time too
    return renew ? std::max(sampler.spent_us(), microseconds_since(start)) : sampler.spent_us();
  };
  Random order(plan.seed);
  // Calls that eat the budget by themselves need no warm-up; their calibration is the first pair.
  if (sampler.spent_us() >= plan.budget_us) pairs.add(ours.latency_us(), base.latency_us());
  bool warm = pairs.size() > 0;
  for (Stop stop = Stop::kNo;;) {
    if (renew) {
      if (auto renewed = renew(ours, base); !renewed) return tl::unexpected(renewed.error());
      warm = false;
    }
    if (!warm) {
      if (auto unused = sample_pair(sampler, ours, base, order.chance(0.5)); !unused)
        return tl::unexpected(unused.error());
      warm = true;
    }
    const auto pair = sample_pair(sampler, ours, base, order.chance(0.5));
    if (!pair) return tl::unexpected(pair.error());
    pairs.add(pair->first, pair->second);
    stop = find_stop(pairs, get_spent_us(), plan);
    if (stop != Stop::kNo) return stop;
  }
}

// A time that cannot be, or that is the time of answers found again.
std::optional<Verdict> find_cheat(Sampler& sampler, const Side& ours, const Side& base,
                                  const Buffers& buffers, const MeasurePlan& plan, const Timing& timing) {
  const bool possible = timing.median_us >= kPeakTolerance * plan.floor_us;
  if (!possible) {
    Verdict verdict = make_cheat("faster_than_roofline", timing);
    verdict.evidence["floor_us"] = plan.floor_us;
    return verdict;
  }
  if (!plan.reference || ours.calls <= buffers.sets()) return std::nullopt;
  const auto fresh_ratio = find_ratio_without_memory(sampler, ours, base, buffers.sets(), timing.ratio);
  if (!fresh_ratio) return fresh_ratio.error();
  if (!*fresh_ratio) return std::nullopt;
  Verdict verdict = make_cheat("cached_output", timing);
  verdict.evidence["ratio"] = timing.ratio;
  verdict.evidence["ratio_on_fresh_inputs"] = **fresh_ratio;
  return verdict;
}

tl::expected<Timing, Verdict> compare(Program& candidate, Program& baseline, Buffers& buffers,
                                      const MeasurePlan& plan, const Renew& renew) {
  KW_CHECK(plan.min_pairs >= 1 && plan.max_pairs >= 2 && plan.max_pairs >= plan.min_pairs, "{} to {} pairs",
           plan.min_pairs, plan.max_pairs);
  Sampler sampler(buffers, plan);
  Side base{&baseline, plan.run_limit}, ours{&candidate, plan.run_limit};
  if (auto done = sampler.calibrate(base); !done)
    return tl::unexpected(blame_baseline(done.error(), candidate));
  ours.limit = std::max(ours.limit, Milliseconds{static_cast<int64_t>(20 * base.latency_us() / 1000)});
  if (auto done = sampler.calibrate(ours); !done) return tl::unexpected(done.error());
  Sampler::match_calls(ours, base);

  BusyWatch watch(plan.cores, plan.watch_load,
                  renew ? EndedChildren::kOnWatchedCores : EndedChildren::kElsewhere);
  Pairs pairs;
  const auto stop = take_pairs(sampler, ours, base, plan, renew, pairs);
  if (!stop) return tl::unexpected(stop.error());

  Timing timing;
  timing.binary_hash = ours.program->identity();
  timing.baseline = plan.baseline.empty() ? base.program->identity() : plan.baseline;
  timing.threads = plan.threads;
  if (buffers.sets() == 1) timing.cache = "one set larger than the caches";
  summarise_samples(timing, pairs, plan);
  if (*stop == Stop::kTooSlow)
    add_note(timing, fmt::format("stopped early: below {:.3g}", plan.give_up_below));
  const MachineLoad load = watch.read();
  timing.disturbed = load.disturbed();
  if (!load.text().empty()) add_note(timing, load.text());
  if (auto cheat = find_cheat(sampler, ours, base, buffers, plan, timing))
    return tl::unexpected(std::move(*cheat));
  return timing;
}

}  // namespace

tl::expected<Timing, Verdict> run_comparison(Program& candidate, Program& baseline, Buffers& buffers,
                                             const MeasurePlan& plan) {
  return compare(candidate, baseline, buffers, plan, nullptr);
}

Result<tl::expected<Timing, Verdict>> run_fresh_comparison(const StartProgram& start_candidate,
                                                           const StartProgram& start_baseline,
                                                           Buffers& buffers, const MeasurePlan& plan) {
  using Outcome = tl::expected<Timing, Verdict>;
  KW_TRY(auto baseline, start_baseline());
  if (!baseline) return Outcome(tl::unexpected(baseline.error()));
  KW_TRY(auto candidate, start_candidate());
  if (!candidate) return Outcome(tl::unexpected(candidate.error()));
  std::optional<Error> failure;
  const auto start_again = [&](const StartProgram& start, std::unique_ptr<Program>& program,
                               Side& side) -> tl::expected<void, Verdict> {
    program.reset();
    auto next = start();
    if (!next) failure = next.error();
    if (!next) return tl::unexpected(Verdict{});
    if (!*next) return tl::unexpected((*next).error());
    program = std::move(**next);
    side.program = program.get();
    return {};
  };
  Random order(plan.seed, kStartStream);  // nobody is always the younger one
  const auto renew = [&](Side& ours, Side& base) -> tl::expected<void, Verdict> {
    const bool ours_first = order.chance(0.5);
    for (const bool turn_is_ours : {ours_first, !ours_first}) {
      auto done = turn_is_ours ? start_again(start_candidate, *candidate, ours)
                               : start_again(start_baseline, *baseline, base);
      if (!done) return done;
    }
    return {};
  };
  auto timing = compare(**candidate, **baseline, buffers, plan, renew);
  if (failure) return tl::unexpected(*failure);
  return timing;
}

}  // namespace kw
