// Evolutionary search over schedules. In: a problem's space and history. Out: proposals bred from elites of a
// MAP-Elites archive with islands, screened by a cost model when the loop gives one. Called by loop through
// proposer.h. Keeps nothing between calls: all follows from (seed, history, taken). doc/search.md says why.
#include "propose/archive.h"
#include "propose/offspring.h"
#include "propose/proposer.h"
#include "propose/screen.h"
#include "propose/untaken.h"

namespace kw {
namespace {

// Children bred per call when a model chooses among them. A model's judgement costs microseconds, a
// measurement fractions of a second.
constexpr size_t kBrood = 256;
constexpr size_t kBroodPerProposal = 16;

class Evolve : public Proposer {
 public:
  explicit Evolve(uint64_t seed) : seed_(seed) {}
  std::string_view name() const override { return "evolve"; }

  std::vector<Proposal> propose(const ProposeContext& context, int count) override {
    if (count <= 0) return {};
    Random random(seed_, find_stream(context));
    const Archive archive(context.space, context.history);
    Offspring offspring(context, archive, random);
    std::vector<Child> children;
    if (context.regressor) {
      offspring.breed(kBrood + kBroodPerProposal * static_cast<size_t>(count));
      children = screen_children(context, archive, offspring.take(), count);
    } else {
      offspring.breed(static_cast<size_t>(count));
      children = offspring.take();
    }
    std::vector<Proposal> proposals;
    for (Child& child : children) proposals.push_back(make_proposal(context, std::move(child)));
    return proposals;
  }

 private:
  Proposal make_proposal(const ProposeContext& context, Child child) const {
    Proposal proposal;
    proposal.proposer = "evolve";
    proposal.family = context.space.family();
    proposal.schedule = std::move(child.schedule);
    proposal.parents = std::move(child.parents);
    proposal.note = fmt::format("{} on island {}", print_operator(child.op), child.island);
    proposal.seed = seed_;
    return proposal;
  }

  uint64_t seed_;
};

}  // namespace

std::unique_ptr<Proposer> make_evolve_proposer(uint64_t seed) { return std::make_unique<Evolve>(seed); }

}  // namespace kw
