// Replay of a history into islands; parent and operator choice.
#include "propose/archive.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace kw {
namespace {

constexpr int kMigrationEvery = 24;     // evaluations
constexpr double kRankTemperature = 4;  // ranks over which a parent's chance falls by e
constexpr double kForget = 0.97;        // weight of an operator's record per later use of any operator
constexpr double kOperatorFloor = 0.1;  // least share of each operator
constexpr double kGoodShare = 0.2;      // a child among this fastest share so far is a success

}  // namespace

std::string_view print_operator(Operator op) {
  switch (op) {
    case Operator::kDraw:
      return "draw";
    case Operator::kMutate:
      return "mutate";
    case Operator::kCross:
      return "cross";
  }
  return "draw";
}

Archive::Archive(const Space& space, std::span<const Evaluation> history)
    : space_(space), islands_(kIslands) {
  std::map<std::string, int> island_of;  // binary hash -> island
  std::vector<double> times;             // sorted log us of all that passed
  int newcomers = 0;
  for (const Evaluation& evaluation : history) {
    const Proposal& proposal = evaluation.proposal;
    if (proposal.family != space.family() || space.find_illegality(proposal.schedule)) continue;
    const std::string cell = space.behaviour(proposal.schedule);
    ++records_[cell].tried;
    const bool timed = evaluation.verdict.passed() && evaluation.timing && evaluation.timing->median_us > 0;
    if (!timed) {
      credit(proposal, 0);
      continue;
    }
    ++records_[cell].passed;
    const double log_us = std::log(evaluation.timing->median_us);
    const auto place_in_order = std::lower_bound(times.begin(), times.end(), log_us);
    const double faster_share =
        static_cast<double>(place_in_order - times.begin()) / static_cast<double>(times.size() + 1);
    credit(proposal, faster_share <= kGoodShare ? 1 : 0);
    times.insert(place_in_order, log_us);
    const auto parent = proposal.parents.empty() ? island_of.end() : island_of.find(proposal.parents[0]);
    const int island = parent == island_of.end() ? newcomers++ % kIslands : parent->second;
    island_of.emplace(evaluation.binary_hash, island);
    place(island, cell, {proposal.schedule, evaluation.binary_hash, log_us});
    if (++evaluated_ % kMigrationEvery == 0) migrate();
  }
}

void Archive::place(int island, const std::string& cell, const Elite& elite) {
  const auto [at, is_new] = islands_[static_cast<size_t>(island)].emplace(cell, elite);
  if (!is_new && elite.log_us < at->second.log_us) at->second = elite;
}

void Archive::migrate() {
  std::vector<std::pair<std::string, Elite>> leaving(kIslands);
  for (size_t island = 0; island < kIslands; ++island) {
    const auto best = std::min_element(islands_[island].begin(), islands_[island].end(),
                                       [](auto& a, auto& b) { return a.second.log_us < b.second.log_us; });
    if (best != islands_[island].end()) leaving[island] = *best;
  }
  for (int island = 0; island < kIslands; ++island) {
    const auto& [cell, elite] = leaving[static_cast<size_t>(island)];
    if (!elite.schedule.empty()) place((island + 1) % kIslands, cell, elite);
  }
}

void Archive::credit(const Proposal& proposal, double success) {
  if (proposal.proposer != "evolve") return;
  const size_t op = std::min<size_t>(proposal.parents.size(), kOperators - 1);
  for (int i = 0; i < kOperators; ++i) earned_[i] *= kForget, used_[i] *= kForget;
  earned_[op] += success;
  used_[op] += 1;
}

std::vector<Elite> Archive::rank_elites(int island) const {
  std::vector<Elite> ranked;
  for (const auto& [cell, elite] : islands_[static_cast<size_t>(island)]) ranked.push_back(elite);
  if (ranked.empty()) {
    for (const auto& cells : islands_) {
      for (const auto& [cell, elite] : cells) ranked.push_back(elite);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](auto& a, auto& b) { return a.log_us < b.log_us; });
  return ranked;
}

const Elite& Archive::choose_parent(const std::vector<Elite>& ranked, Random& random) const {
  KW_CHECK(!ranked.empty(), "no elite to choose from");
  std::vector<double> reach;  // running sum of weights
  double sum = 0;
  for (size_t rank = 0; rank < ranked.size(); ++rank) {
    const double share = pass_share(space_.behaviour(ranked[rank].schedule));
    sum += std::exp(-static_cast<double>(rank) / kRankTemperature) * share;
    reach.push_back(sum);
  }
  const auto chosen = std::upper_bound(reach.begin(), reach.end(), random.uniform() * sum);
  return ranked[std::min<size_t>(static_cast<size_t>(chosen - reach.begin()), ranked.size() - 1)];
}

double Archive::pass_share(const std::string& cell) const {
  const auto record = records_.find(cell);
  return record == records_.end() ? 1 : record->second.pass_share();
}

double Archive::operator_share(Operator op) const {
  double sum = 0;
  for (int i = 0; i < kOperators; ++i) sum += earned_[i] / used_[i];
  const size_t i = static_cast<size_t>(op);
  const double share = sum > 0 ? earned_[i] / used_[i] / sum : 1.0 / kOperators;
  return kOperatorFloor + (1 - kOperators * kOperatorFloor) * share;
}

Operator Archive::choose_operator(Random& random) const {
  double at = random.uniform();
  for (Operator op : {Operator::kMutate, Operator::kCross}) {
    at -= operator_share(op);
    if (at < 0) return op;
  }
  return Operator::kDraw;
}

}  // namespace kw
