#include "loop/promotion.h"

#include <algorithm>

#include "base/random.h"
#include "loop/live_lab.h"
#include "measure/selection.h"

namespace kw {
namespace {

constexpr size_t kFinalists = 4;
constexpr double kWorthConfirming = 0.97;  // screening ratio below which no finalist can win
constexpr double kLeastComparisonUs = 3e5, kMostComparisonUs = 3e6;
constexpr int kChoosingPairs = 12;

// The best distinct kernels measured so far, best first.
Batch find_finalists(const std::vector<Evaluation>& history) {
  std::vector<const Evaluation*> passed;
  for (const Evaluation& evaluation : history)
    if (evaluation.verdict.passed() && evaluation.timing && evaluation.timing->ratio >= kWorthConfirming)
      passed.push_back(&evaluation);
  std::stable_sort(passed.begin(), passed.end(), [](const Evaluation* a, const Evaluation* b) {
    return a->timing->ratio > b->timing->ratio;
  });
  Batch finalists;
  for (const Evaluation* evaluation : passed) {
    if (finalists.size() == kFinalists) break;
    Candidate candidate;
    candidate.evaluation.problem = evaluation->problem;
    candidate.evaluation.proposal = evaluation->proposal;
    candidate.evaluation.finished_s = evaluation->finished_s;
    finalists.push_back(std::move(candidate));
  }
  return finalists;
}

struct Confirmed {
  Timing timing;
  Candidate candidate;
};

// Longer comparison of every finalist; order of merit by the fresh samples.
Result<std::vector<Confirmed>> choose(LiveLab& lab, Batch finalists, double comparison_us, Random& random) {
  std::vector<Confirmed> ranked;
  for (Candidate& finalist : finalists) {
    if (finalist.failed) continue;
    KW_TRY(auto timing, lab.compare_fresh(*finalist.binary, LiveLab::Workers::kOneASide, kChoosingPairs,
                                          kConfirmingPairs, comparison_us, random.next()));
    if (timing) ranked.push_back({std::move(*timing), std::move(finalist)});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Confirmed& a, const Confirmed& b) { return a.timing.ratio > b.timing.ratio; });
  return ranked;
}

// First of the ranking that is right over its domain and has a confirmed time; what fails is stored as such.
Result<std::optional<Confirmed>> confirm(Session& session, LiveLab& lab, std::vector<Confirmed> ranked,
                                         double comparison_us, Random& random) {
  for (Confirmed& choice : ranked) {
    Evaluation& evaluation = choice.candidate.evaluation;
    KW_TRY(evaluation.verdict,
           lab.verify_domain(*choice.candidate.binary, lab.space().tile(evaluation.proposal.schedule),
                             random.next()));
    if (evaluation.verdict.passed()) {
      KW_TRY(auto timing,
             lab.compare_fresh(*choice.candidate.binary, LiveLab::Workers::kNewForEveryPair, kConfirmingPairs,
                               kConfirmingPairs, 2 * comparison_us, random.next()));
      if (timing) {
        timing->confirmed = true;
        choice.timing = std::move(*timing);
        KW_TRY_VOID(session.store.add_evaluations(session.run, {evaluation}));
        return std::optional(std::move(choice));
      }
      evaluation.verdict = timing.error();
    }
    KW_TRY_VOID(session.store.add_evaluations(session.run, {evaluation}));
    session.progress.say(
        fmt::format("{} was refused on promotion: {}", evaluation.kernel_name, evaluation.verdict.code()));
  }
  return std::optional<Confirmed>();
}

}  // namespace

Status confirm_and_decide(Session& session, Lab& lab, Search& search, Clock::time_point begin,
                          double budget_s, ProblemResult& result) {
  auto* live = dynamic_cast<LiveLab*>(&lab);
  result.decision.problem = print_problem(search.problem);
  result.decision.baseline = lab.bar().baseline;
  result.decision.baseline_median_us = lab.bar().median_us;
  result.decision.median_us = lab.bar().median_us;
  if (live == nullptr || session.should_stop()) {
    result.decision.reason =
        live == nullptr ? "recorded measurements decide nothing" : "interrupted before confirmation";
    return {};
  }
  Random random(session.secret_seed, 77);
  const double left_s = budget_s > 0 ? std::max(0.0, budget_s - seconds_since(begin)) : 10;
  const double comparison_us =
      std::clamp(left_s * 1e6 / (kFinalists + 3), kLeastComparisonUs, kMostComparisonUs);

  Batch finalists = find_finalists(search.history);
  live->emit(finalists);
  live->start_compile(finalists);
  KW_TRY_VOID(live->finish_compile(finalists));
  KW_TRY(std::vector<Confirmed> ranked, choose(*live, std::move(finalists), comparison_us, random));
  KW_TRY(std::optional<Confirmed> confirmed,
         confirm(session, *live, std::move(ranked), comparison_us, random));

  std::optional<Timing> timing;
  if (confirmed) timing = confirmed->timing;
  result.decision = decide(result.decision.problem, lab.bar().baseline, lab.bar().median_us, timing);
  if (!result.decision.binary_hash.empty()) {
    result.confirmation = timing;
    result.kernel_name = confirmed->candidate.evaluation.kernel_name;
    result.schedule = confirmed->candidate.evaluation.proposal.schedule;
  }
  return session.store.add_decision(session.run, result.decision, timing);
}

}  // namespace kw
