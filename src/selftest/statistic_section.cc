// The section "statistics": comparisons on this machine whose right outcome is known by construction. Equal
// kernels, a planted win and loss, a kernel with two modes, a choice among equals, impossible times. Through
// measure's run_comparison, with the plans the loop uses.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/statistics.h"
#include "selftest/section.h"
#include "selftest/timed_bench.h"
#include "selftest/timed_kernels.h"
#include "target/cpu/peak.h"

namespace kw {
namespace {

constexpr int64_t kLength = 10'000, kThreePercentLonger = 10'300;
constexpr double kWin = 1.01;  // a win by more than 1 %
constexpr double kFalseShare = 0.01, kLeastPower = 0.9;
constexpr int64_t kLeastQuiet = 10;  // comparisons without other load, to speak of power
constexpr int kQuietAttempts = 6;
constexpr int kBarTrials = 1000;  // from here on the share itself is held against its bar
constexpr int kChoices = 20, kShortPairs = 16;
constexpr const char* kBusy = "others used the core all the time";

// Comparisons of one pair of binaries, counted.
struct Trials {
  int64_t count = 0, wins = 0, wins_above_1_percent = 0;
  int64_t disturbed = 0, quiet_wins = 0;  // while others used the core; wins while nobody did
  std::vector<double> ratios;
  std::string failure;  // first verdict but a timing

  void add(const tl::expected<Timing, Verdict>& outcome) {
    ++count;
    if (!outcome) {
      if (failure.empty()) failure = outcome.error().code();
      return;
    }
    ratios.push_back(outcome->ratio);
    const bool wins_this = outcome->ratio_low > 1;
    wins += wins_this;
    wins_above_1_percent += wins_this && outcome->ratio > kWin;
    disturbed += outcome->disturbed;
    quiet_wins += wins_this && !outcome->disturbed;
  }
  double share(int64_t part) const {
    return count == 0 ? 0 : static_cast<double>(part) / static_cast<double>(count);
  }
  Json print() const {
    return {{"trials", count},
            {"wins", wins},
            {"wins_above_1_percent", wins_above_1_percent},
            {"disturbed", disturbed},
            {"median_ratio", ratios.empty() ? Json() : Json(median(ratios))},
            {"failure", failure}};
  }
};

Result<Trials> run_trials(TimedBench& bench, SectionRun& run, const std::string& item,
                          const Binary& candidate, const Binary& baseline, int count,
                          const MeasurePlan& plan) {
  Trials trials;
  while (trials.count < count && run.wants(item)) {
    KW_TRY(const auto outcome, bench.compare_fresh(candidate, baseline, plan));
    trials.add(outcome);
  }
  return trials;
}

void add_row(SectionRun& run, const std::string& name, const std::string& expected, const std::string& got,
             bool ok, Json evidence, Clock::time_point start) {
  run.add({.name = name, .expected = expected, .got = got, .ok = ok, .evidence = std::move(evidence)}, start);
}

// Shorter than a promotion's: fewer pairs make it easier, not harder, to win by accident.
MeasurePlan make_short_plan() {
  MeasurePlan plan;
  plan.sample_us = 300;
  plan.min_pairs = plan.max_pairs = kShortPairs;
  return plan;
}

// Wins of equal kernels that are no more than chance explains; from kBarTrials on, no more than the bar.
int64_t most_false_wins(int64_t trials) {
  return trials >= kBarTrials ? static_cast<int64_t>(kFalseShare * static_cast<double>(trials))
                              : most_by_chance(trials, kFalseShare);
}

// Again while others use the core; nothing when they always do.
Result<std::optional<tl::expected<Timing, Verdict>>> compare_quietly(TimedBench& bench,
                                                                     const Binary& candidate,
                                                                     const Binary& baseline,
                                                                     const MeasurePlan& plan) {
  for (int attempt = 0; attempt < kQuietAttempts; ++attempt) {
    KW_TRY(auto timing, bench.compare(candidate, baseline, plan));
    if (!timing || !timing->disturbed) return std::optional(std::move(timing));
  }
  return std::optional<tl::expected<Timing, Verdict>>();
}

bool is_on_gpu(Battery& battery) { return battery.device().facts().target == "cuda"; }

Result<Binary> build_chain(Battery& battery, int64_t length) {
  if (!is_on_gpu(battery)) return build_timed(battery, make_chain(length));
  KW_TRY(const CorpusKernel kernel, make_cuda_chain(length));
  return build_timed(battery, kernel);
}

Problem make_chain_problem(Battery& battery) {
  return make_square(8, is_on_gpu(battery) ? Dtype::kF16 : Dtype::kF32);
}

struct EqualCase {
  std::string name;
  Problem problem;
  Binary binary;
  int sets;
};

// A launch-bound, a latency-bound and a cache-bound kernel of the families.
Result<std::vector<EqualCase>> make_cuda_equal_cases(Battery& battery) {
  KW_TRY(Binary chain, build_chain(battery, kLength));
  std::vector<EqualCase> cases = {{"equal_chain", make_chain_problem(battery), std::move(chain), 4}};
  for (const int64_t size : {64, 256, 512}) {
    const Problem problem = make_square(size, Dtype::kF16);
    KW_TRY(Binary ranked, build_ranked_first(battery, problem));
    cases.push_back({fmt::format("equal_ranked_{}", size), problem, std::move(ranked), 0});
  }
  return cases;
}

Result<std::vector<EqualCase>> make_equal_cases(Battery& battery) {
  if (is_on_gpu(battery)) return make_cuda_equal_cases(battery);
  const auto honest = make_honest_kernels();
  const auto packed = std::find_if(honest.begin(), honest.end(), [](const CorpusKernel& kernel) {
    return kernel.name == "packed_b_in_workspace";
  });
  KW_CHECK(packed != honest.end(), "no honest kernel packs B");
  KW_TRY(Binary chain, build_timed(battery, make_chain(kLength)));
  KW_TRY(Binary packs, build_timed(battery, *packed));
  KW_TRY(Binary ranked, build_ranked_first(battery, make_square(96)));
  return std::vector<EqualCase>{{"equal_chain", make_square(8), std::move(chain), 4},
                                {"equal_packed_gemm", make_square(64), std::move(packs), 0},
                                {"equal_ranked_gemm", make_square(96), std::move(ranked), 0}};
}

// A kernel against itself: how often does it win?
Status add_equal(Battery& battery, SectionRun& run) {
  KW_TRY(const std::vector<EqualCase> cases, make_equal_cases(battery));
  Trials all;
  const int total = run.depth().equal_pairs;
  for (size_t at = 0; at < cases.size(); ++at) {
    const EqualCase& equal = cases[at];
    if (!run.wants(equal.name)) continue;
    const auto start = Clock::now();
    const int left = total - static_cast<int>(all.count);
    const int count = left / static_cast<int>(cases.size() - at);
    KW_TRY(TimedBench bench, TimedBench::open(battery, equal.problem, equal.sets));
    KW_TRY(const Trials trials,
           run_trials(bench, run, equal.name, equal.binary, equal.binary, count, make_short_plan()));
    all.count += trials.count;
    all.wins += trials.wins;
    all.wins_above_1_percent += trials.wins_above_1_percent;
    const int64_t most = most_by_chance(trials.count, kFalseShare);
    add_row(run, equal.name, fmt::format("at most {} of {} win by 1 %", most, trials.count),
            fmt::format("{} of {}", trials.wins_above_1_percent, trials.count),
            trials.failure.empty() && trials.count > 0 && trials.wins_above_1_percent <= most, trials.print(),
            start);
  }
  if (all.count == 0) return {};
  run.measured()["equal_trials"] = all.count;
  run.measured()["false_win_share"] = all.share(all.wins_above_1_percent);
  run.measured()["any_win_share"] = all.share(all.wins);
  if (!run.wants("equal_all")) return {};
  const int64_t most = most_false_wins(all.count);
  add_row(run, "equal_all", fmt::format("at most {} of {} win by 1 %", most, all.count),
          fmt::format("{} of {}", all.wins_above_1_percent, all.count), all.wins_above_1_percent <= most,
          all.print(), Clock::now());
  return {};
}

// A chain 3 % shorter is found; one 3 % longer never wins.
Status add_planted(Battery& battery, SectionRun& run) {
  if (!run.wants("planted_win") && !run.wants("planted_loss")) return {};
  KW_TRY(const Binary quick, build_chain(battery, kLength));
  KW_TRY(const Binary slow, build_chain(battery, kThreePercentLonger));
  KW_TRY(TimedBench bench, TimedBench::open(battery, make_chain_problem(battery), 4));
  const MeasurePlan plan = make_confirming_plan();
  const int count = run.depth().planted_pairs;
  if (run.wants("planted_win")) {
    const auto start = Clock::now();
    KW_TRY(const Trials trials, run_trials(bench, run, "planted_win", quick, slow, count, plan));
    const int64_t quiet = trials.count - trials.disturbed;
    if (quiet < kLeastQuiet) {
      run.skip("planted_win", kBusy);
    } else {
      const double power = static_cast<double>(trials.quiet_wins) / static_cast<double>(quiet);
      run.measured()["power_3pct"] = power;
      run.measured()["planted_trials"] = quiet;
      add_row(run, "planted_win", fmt::format("at least {:.0f} % win", 100 * kLeastPower),
              fmt::format("{} of {}", trials.quiet_wins, quiet),
              power >= kLeastPower && trials.failure.empty(), trials.print(), start);
    }
  }
  if (run.wants("planted_loss")) {
    const auto start = Clock::now();
    KW_TRY(const Trials trials, run_trials(bench, run, "planted_loss", slow, quick, count, plan));
    run.measured()["planted_loss_wins"] = trials.wins;
    add_row(run, "planted_loss", "none wins", fmt::format("{} of {}", trials.wins, trials.count),
            trials.wins == 0 && trials.count > 0 && trials.failure.empty(), trials.print(), start);
  }
  return {};
}

// Slow in a quarter of all stretches of calls, or in every tenth call: against a baseline between its fast
// mode and its mean it must lose. By medians the first would win by 10 %.
Status add_two_modes(Battery& battery, SectionRun& run) {
  struct Case {
    const char* name;
    CorpusKernel kernel;
    bool needs_note;
  };
  const Case cases[] = {{"slow_stretches", make_slow_stretches(kLength), true},
                        {"slow_tenth_call", make_slow_tenth_call(kLength), false}};
  MeasurePlan plan;
  plan.sample_us = 2000;  // long enough in all to see whether others use the core
  plan.min_pairs = plan.max_pairs;
  KW_TRY(const Binary between, build_timed(battery, make_chain(kLength * 11 / 10)));
  KW_TRY(TimedBench bench, TimedBench::open(battery, make_square(8), 4));
  for (const Case& c : cases) {
    if (!run.wants(c.name)) continue;
    const auto start = Clock::now();
    KW_TRY(const Binary binary, build_timed(battery, c.kernel));
    KW_TRY(const auto quiet, compare_quietly(bench, binary, between, plan));
    if (!quiet) {
      run.skip(c.name, kBusy);
      continue;
    }
    const tl::expected<Timing, Verdict>& timing = *quiet;
    const bool noted = timing && timing->note.find("two modes") != std::string::npos;
    const bool by_means = noted && timing->median_us >= 0.97 * mean(timing->latency_us);
    const bool honest = timing && timing->ratio < 1 && (by_means || !c.needs_note);
    add_row(run, c.name, c.needs_note ? "below 1, by means, with a note" : "below 1",
            timing ? fmt::format("{:.3f}{}", timing->ratio, noted ? ", noted" : "") : timing.error().code(),
            honest, {{"note", timing ? timing->note : ""}}, start);
  }
  return {};
}

// The best of equal kernels by short samples looks faster than it is; what is reported afterwards does not.
Status add_choice(Battery& battery, SectionRun& run) {
  const std::string name = "choice_among_equals";
  if (!run.wants(name)) return {};
  const auto start = Clock::now();
  KW_TRY(const Binary binary, build_timed(battery, make_chain(kLength / 10)));
  KW_TRY(TimedBench bench, TimedBench::open(battery, make_square(8), 4));
  MeasurePlan search;
  search.sample_us = 20;
  search.min_pairs = 2, search.max_pairs = 3;
  const int rounds = std::max(5, run.depth().planted_pairs / 5);
  std::vector<double> chosen;
  Trials confirmed;
  for (int round = 0; round < rounds && run.wants(name); ++round) {
    double best = 0;
    for (int choice = 0; choice < kChoices; ++choice) {
      KW_TRY(const auto timing, bench.compare(binary, binary, search));
      if (timing) best = std::max(best, timing->ratio);
    }
    chosen.push_back(best);
    KW_TRY(const auto timing, bench.compare_fresh(binary, binary, make_confirming_plan()));
    confirmed.add(timing);
  }
  const int64_t most = most_by_chance(confirmed.count, kFalseShare);
  const double searched = median(chosen), reported = median(confirmed.ratios);
  run.measured()["chosen_search_ratio"] = searched;
  run.measured()["chosen_confirmed_ratio"] = reported;
  add_row(run, name, fmt::format("above {} when chosen, not when confirmed", kWin),
          fmt::format("{:.3f}, then {:.3f}", searched, reported),
          searched > kWin && reported < kWin && confirmed.wins_above_1_percent <= most, confirmed.print(),
          start);
  return {};
}

// A product in no time is an error, not a record; the same floor lets a real kernel through.
Status add_roofline(Battery& battery, SectionRun& run) {
  const Problem problem = make_square(128);
  if (!run.wants("noop_against_roofline") && !run.wants("real_against_roofline")) return {};
  KW_TRY(const Peaks peaks, measure_cpu_peaks(1));
  KW_TRY(const Binary noop, build_timed(battery, make_noop()));
  KW_TRY(const Binary real, build_ranked_first(battery, problem));
  KW_TRY(TimedBench bench, TimedBench::open(battery, problem));
  MeasurePlan plan;
  plan.floor_us = 2.0 * 128 * 128 * 128 / peaks.peak_gflops * 1e-3;
  const struct {
    const char *name, *expected;
    const Binary& binary;
  } cases[] = {{"noop_against_roofline", "cheat/faster_than_roofline", noop},
               {"real_against_roofline", "measured", real}};
  for (const auto& c : cases) {
    if (!run.wants(c.name)) continue;
    const auto start = Clock::now();
    KW_TRY(const auto timing, bench.compare(c.binary, real, plan));
    const std::string got = timing ? "measured" : timing.error().code();
    add_row(run, c.name, c.expected, got, got == c.expected, {{"floor_us", plan.floor_us}}, start);
  }
  return {};
}

// Twice the work takes twice the time, at every length: the clock sees the work and nothing else.
Status add_monotony(Battery& battery, SectionRun& run) {
  const std::string name = "time_follows_work";
  if (!run.wants(name)) return {};
  const auto start = Clock::now();
  KW_TRY(TimedBench bench, TimedBench::open(battery, make_square(8), 4));
  constexpr const char* kExpected = "twice the work takes 1.9 to 2.1 times as long";
  std::vector<double> ratios;
  for (int64_t length = kLength / 4; length <= 4 * kLength; length *= 2) {
    KW_TRY(const Binary once, build_timed(battery, make_chain(length)));
    KW_TRY(const Binary twice, build_timed(battery, make_chain(2 * length)));
    KW_TRY(const auto quiet, compare_quietly(bench, once, twice, {}));
    if (!quiet) continue;
    if (const auto& timing = *quiet; !timing) {
      add_row(run, name, kExpected, timing.error().code(), false, timing.error().evidence, start);
      return {};
    }
    ratios.push_back((*quiet)->ratio);
  }
  if (ratios.empty()) {
    run.skip(name, kBusy);
    return {};
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  add_row(run, name, kExpected, fmt::format("{:.3f} to {:.3f}", *least, *most), *least > 1.9 && *most < 2.1,
          {{"ratios", ratios}}, start);
  return {};
}

// Rotated operand sets come from beyond the second-level cache; a single set would flatter.
Status add_rotation(Battery& battery, SectionRun& run) {
  const std::string name = "rotated_operands_are_cold";
  constexpr const char* kExpected = "at least 1.1 times the time of one warm set";
  if (!run.wants(name)) return {};
  const auto start = Clock::now();
  Problem problem = make_square(8);
  problem.m = 128, problem.k = 1024;  // A is 512 KiB
  problem = with_tight_strides(problem);
  KW_TRY(const Binary reader, build_timed(battery, make_line_reader()));
  std::vector<double> median_us;  // of one set, of rotated ones
  for (const int sets : {1, 0}) {
    KW_TRY(TimedBench bench, TimedBench::open(battery, problem, sets));
    KW_TRY(const auto timing, bench.compare(reader, reader, {}));
    if (!timing) {
      add_row(run, name, kExpected, timing.error().code(), false, timing.error().evidence, start);
      return {};
    }
    median_us.push_back(timing->median_us);
  }
  const double slower = median_us[1] / median_us[0];
  run.measured()["cold_over_warm"] = slower;
  add_row(run, name, kExpected, fmt::format("{:.2f} times", slower), slower >= 1.1,
          {{"warm_us", median_us[0]}, {"cold_us", median_us[1]}}, start);
  return {};
}

}  // namespace

Status run_statistic_section(Battery& battery, SectionRun& run) {
  if (is_on_gpu(battery)) {  // what the other parts show does not depend on the target
    KW_TRY_VOID(add_equal(battery, run));
    return add_planted(battery, run);
  }
  for (const RunSection part :
       {add_equal, add_planted, add_two_modes, add_choice, add_roofline, add_monotony, add_rotation})
    KW_TRY_VOID(part(battery, run));
  return {};
}

}  // namespace kw
