// How a round's proposals are shared among proposers; see BudgetSplitter in proposer.h.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "propose/proposer.h"

namespace kw {
namespace {

constexpr double kFirstSeedShare = 0.75;  // of the first round
constexpr double kLeastShare = 0.1;       // of later rounds, for each proposer (less when there are many)
constexpr double kForget = 0.985;         // weight of a proposal per later proposal: half after 46
constexpr double kPriorGain = 0.02;       // log units earned per proposal by a proposer without a record
constexpr double kPriorProposals = 4;

// Log improvement of the best time per proposal, recent ones weighing more; the first time of all earns
// nothing.
std::vector<double> earn_shares(const std::vector<std::string>& proposers,
                                std::span<const Evaluation> history) {
  std::vector<double> earned(proposers.size()), used(proposers.size());
  double best_log_us = INFINITY;
  for (const Evaluation& evaluation : history) {
    double gain = 0;
    if (evaluation.verdict.passed() && evaluation.timing && evaluation.timing->median_us > 0) {
      const double log_us = std::log(evaluation.timing->median_us);
      if (std::isfinite(best_log_us)) gain = std::max(0.0, best_log_us - log_us);
      best_log_us = std::min(best_log_us, log_us);
    }
    const auto who = std::find(proposers.begin(), proposers.end(), evaluation.proposal.proposer);
    if (who == proposers.end()) continue;
    for (double& value : earned) value *= kForget;
    for (double& value : used) value *= kForget;
    const size_t i = static_cast<size_t>(who - proposers.begin());
    earned[i] += gain;
    used[i] += 1;
  }
  std::vector<double> rates;
  for (size_t i = 0; i < proposers.size(); ++i) {
    rates.push_back((earned[i] + kPriorGain * kPriorProposals) / (used[i] + kPriorProposals));
  }
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);  // positive: each rate has the prior
  const double count = static_cast<double>(proposers.size());
  const double floor = std::min(kLeastShare, 0.5 / count);
  for (double& rate : rates) rate = floor + (1 - count * floor) * rate / sum;
  return rates;
}

std::vector<double> first_shares(const std::vector<std::string>& proposers) {
  const size_t count = proposers.size();
  const bool has_seed = std::find(proposers.begin(), proposers.end(), "seed") != proposers.end();
  if (!has_seed || count == 1) return std::vector<double>(count, 1.0 / static_cast<double>(count));
  std::vector<double> shares;
  for (const auto& name : proposers) {
    shares.push_back(name == "seed" ? kFirstSeedShare
                                    : (1 - kFirstSeedShare) / static_cast<double>(count - 1));
  }
  return shares;
}

}  // namespace

std::vector<int> BudgetSplitter::split(const std::vector<std::string>& proposers,
                                       std::span<const Evaluation> history, int total) const {
  KW_CHECK(!proposers.empty() && total >= 0, "{} proposers, {} proposals", proposers.size(), total);
  const std::vector<double> shares =
      history.empty() ? first_shares(proposers) : earn_shares(proposers, history);
  // Systematic sampling: proposer i gets the floor or the ceiling of its share of `total`, in expectation
  // exactly its share, so that small rounds starve nobody. The offset depends on the history's length only.
  const double offset = history.empty() ? 0.5 : Random(0x5eed, history.size()).uniform();
  std::vector<int> counts;
  double reach = 0;
  int given = 0;
  for (size_t i = 0; i < proposers.size(); ++i) {
    reach += shares[i] * total;
    const bool last = i + 1 == proposers.size();
    const int upto = last ? total : std::clamp(static_cast<int>(std::floor(reach + offset)), given, total);
    counts.push_back(upto - given);
    given = upto;
  }
  return counts;
}

}  // namespace kw
