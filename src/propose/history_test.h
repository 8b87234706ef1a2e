// Histories for tests of propose: evaluations of a FakeSpace with the landscape's true times. Used by
// *_test.cc here.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "propose/proposer.h"
#include "schedule/fake_space_test.h"

namespace kw {

// As the loop would record it; the schedule stands in for the binary's hash. No time means a failed
// candidate.
inline Evaluation make_evaluation(Proposal proposal, std::optional<double> median_us) {
  Evaluation evaluation;
  evaluation.binary_hash = "hash of " + proposal.schedule;
  evaluation.proposal = std::move(proposal);
  evaluation.verdict.klass = median_us ? VerdictClass::kPass : VerdictClass::kWrongResult;
  if (median_us) {
    Timing timing;
    timing.median_us = *median_us;
    evaluation.timing = timing;
  }
  return evaluation;
}

inline Evaluation make_evaluation(const std::string& proposer, const std::string& schedule,
                                  std::optional<double> median_us, std::vector<std::string> parents = {}) {
  Proposal proposal;
  proposal.proposer = proposer;
  proposal.family = "fake";
  proposal.schedule = schedule;
  proposal.parents = std::move(parents);
  return make_evaluation(std::move(proposal), median_us);
}

// A search without hardware: proposes in batches and "measures" the landscape's times at once.
class SimulatedSearch {
 public:
  explicit SimulatedSearch(const FakeSpace& space) : space_(space) {}
  ProposeContext context(const Regressor* regressor = nullptr) const {
    return {problem_, space_, history, taken, {}, regressor};
  }
  std::vector<Proposal> step(Proposer& proposer, int count, const Regressor* regressor = nullptr) {
    std::vector<Proposal> proposals = proposer.propose(context(regressor), count);
    for (const Proposal& proposal : proposals) {
      taken.insert(proposal.schedule);
      history.push_back(make_evaluation(proposal, space_.time_us(proposal.schedule)));
    }
    return proposals;
  }
  double best_us() const {
    double best = INFINITY;
    for (const auto& evaluation : history) best = std::min(best, evaluation.timing->median_us);
    return best;
  }

  std::vector<Evaluation> history;
  std::set<std::string> taken;

 private:
  const FakeSpace& space_;
  Problem problem_;
};

}  // namespace kw
