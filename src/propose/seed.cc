// First guesses: schedules that won on similar problems, then the best by the analytic model, spread over
// behaviour cells. In: a context. Out: proposals. Called by loop through proposer.h. Ignores measured times.
#include <algorithm>
#include <cmath>
#include <map>

#include "propose/proposer.h"

namespace kw {
namespace {

// Predicted time counts this much longer for each schedule of the same cell already taken: the model cannot
// tell such schedules apart to a few percent, so the next guess should differ in kind.
constexpr double kRepeatPenalty = 0.10;
constexpr size_t kRankedPerProposal = 24;

class Seed : public Proposer {
 public:
  explicit Seed(uint64_t seed) : seed_(seed) {}
  std::string_view name() const override { return "seed"; }

  std::vector<Proposal> propose(const ProposeContext& context, int count) override {
    if (count <= 0) return {};
    std::vector<Proposal> proposals;
    std::set<std::string> seen = context.taken;
    std::map<std::string, int> cell_uses;
    for (const std::string& key : context.taken) {
      if (!context.space.find_illegality(key)) ++cell_uses[context.space.behaviour(key)];
    }
    const auto add = [&](const std::string& key, std::string note) {
      seen.insert(key);
      ++cell_uses[context.space.behaviour(key)];
      proposals.push_back(make_proposal(context.space, key, std::move(note)));
    };
    const size_t wanted = static_cast<size_t>(count);
    for (const std::string& key : context.neighbours) {
      if (proposals.size() == wanted) break;
      if (!seen.count(key) && !context.space.find_illegality(key)) add(key, "won on a similar problem");
    }
    if (proposals.size() == wanted) return proposals;
    std::vector<Ranked> free = rank_untaken(context.space, seen, wanted - proposals.size());
    while (proposals.size() < wanted && !free.empty()) {
      const auto best = std::min_element(free.begin(), free.end(), [&](const Ranked& a, const Ranked& b) {
        return weigh(a, cell_uses) < weigh(b, cell_uses);
      });
      add(best->key, fmt::format("analytic rank {}", best->rank));
      free.erase(best);
    }
    return proposals;
  }

 private:
  struct Ranked {
    std::string key, cell;
    double predicted_us;
    size_t rank;  // from 1, over the whole space
  };

  static double weigh(const Ranked& ranked, const std::map<std::string, int>& cell_uses) {
    const auto uses = cell_uses.find(ranked.cell);
    return ranked.predicted_us * (1 + kRepeatPenalty * (uses == cell_uses.end() ? 0 : uses->second));
  }

  static std::vector<Ranked> rank_untaken(const Space& space, const std::set<std::string>& seen,
                                          size_t wanted) {
    std::vector<Ranked> free;
    const std::vector<std::string> ranked = space.rank(seen.size() + kRankedPerProposal * wanted);
    for (size_t i = 0; i < ranked.size(); ++i) {
      if (seen.count(ranked[i])) continue;
      free.push_back({ranked[i], space.behaviour(ranked[i]), space.predict_us(ranked[i]), i + 1});
    }
    return free;
  }

  Proposal make_proposal(const Space& space, const std::string& key, std::string note) const {
    Proposal proposal;
    proposal.proposer = "seed";
    proposal.family = space.family();
    proposal.schedule = key;
    proposal.note = std::move(note);
    proposal.seed = seed_;
    return proposal;
  }

  uint64_t seed_;
};

}  // namespace

std::unique_ptr<Proposer> make_seed_proposer(uint64_t seed) { return std::make_unique<Seed>(seed); }

}  // namespace kw
