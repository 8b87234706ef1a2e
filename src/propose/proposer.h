// Who suggests the next kernel. One interface; seed, evolve and later policy, llm and replay stand behind it.
// A proposer sees records only: the problem's space and the history of evaluations.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "record/candidate.h"
#include "schedule/predictor.h"
#include "schedule/space.h"

namespace kw {

struct ProposeContext {
  const Problem& problem;
  const Space& space;
  std::span<const Evaluation> history;  // of this problem and device, oldest first
  const std::set<std::string>& taken;   // schedule keys already proposed or measured: never proposed again
  std::vector<std::string> neighbours = {};  // schedule keys that won on similar problems, nearest first
  const Regressor* regressor = nullptr;      // cost model for evolve; without one its archive alone decides
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;
  // Up to `count` new, legal, distinct proposals; fewer or none when it has no idea left. Deterministic for
  // its seed and the context.
  virtual std::vector<Proposal> propose(const ProposeContext& context, int count) = 0;
};

[[nodiscard]] std::unique_ptr<Proposer> make_seed_proposer(uint64_t seed);
[[nodiscard]] std::unique_ptr<Proposer> make_evolve_proposer(uint64_t seed);
[[nodiscard]] std::unique_ptr<Proposer> make_random_proposer(
    uint64_t seed);  // the control arm of comparisons

// Splits a round's proposals among proposers by what they have earned (improvements of the best per proposal,
// a floor for each so that none starves). Deterministic.
class BudgetSplitter {
 public:
  [[nodiscard]] std::vector<int> split(const std::vector<std::string>& proposers,
                                       std::span<const Evaluation> history, int total) const;
};

}  // namespace kw
