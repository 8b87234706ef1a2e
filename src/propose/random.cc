// The control arm: schedules drawn uniformly from the space. In: a context. Out: proposals. Called by loop
// through proposer.h. Learns nothing from the history.
#include "propose/proposer.h"
#include "propose/untaken.h"

namespace kw {
namespace {

class RandomProposer : public Proposer {
 public:
  explicit RandomProposer(uint64_t seed) : seed_(seed) {}
  std::string_view name() const override { return "random"; }

  std::vector<Proposal> propose(const ProposeContext& context, int count) override {
    if (count <= 0) return {};
    const size_t wanted = static_cast<size_t>(count);
    Random random(seed_, find_stream(context));
    std::set<std::string> seen = context.taken;
    std::vector<std::string> keys;
    for (size_t attempt = 0; attempt < 64 * wanted && keys.size() < wanted; ++attempt) {
      std::string key = context.space.draw(random);
      if (seen.insert(key).second) keys.push_back(std::move(key));
    }
    if (keys.size() < wanted) add_rest(context.space, seen, wanted, random, keys);
    std::vector<Proposal> proposals;
    for (std::string& key : keys) {
      Proposal proposal;
      proposal.proposer = "random";
      proposal.family = context.space.family();
      proposal.schedule = std::move(key);
      proposal.note = "uniform draw";
      proposal.seed = seed_;
      proposals.push_back(std::move(proposal));
    }
    return proposals;
  }

 private:
  // When nearly all is taken, draws among what is left stay uniform.
  static void add_rest(const Space& space, const std::set<std::string>& seen, size_t wanted, Random& random,
                       std::vector<std::string>& keys) {
    std::vector<std::string> rest = find_untaken(space, seen, kMostRest);
    while (keys.size() < wanted && !rest.empty()) {
      std::swap(rest[random.below(rest.size())], rest.back());
      keys.push_back(std::move(rest.back()));
      rest.pop_back();
    }
  }

  static constexpr size_t kMostRest = 4096;
  uint64_t seed_;
};

}  // namespace

std::unique_ptr<Proposer> make_random_proposer(uint64_t seed) {
  return std::make_unique<RandomProposer>(seed);
}

}  // namespace kw
