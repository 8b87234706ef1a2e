#include "loop/round.h"

namespace kw {
namespace {

Batch propose(Search& search, int count) {
  std::vector<std::string> names;
  for (const auto& proposer : search.proposers) names.emplace_back(proposer->name());
  const std::vector<int> shares = BudgetSplitter().split(names, search.history, count);
  Batch batch;
  for (size_t i = 0; i < search.proposers.size(); ++i) {
    const ProposeContext context{search.problem, search.lab.space(), search.history,
                                 search.taken,   search.neighbours,  &search.cost_model};
    for (Proposal& proposal : search.proposers[i]->propose(context, shares[i])) {
      search.taken.insert(proposal.schedule);
      Candidate& candidate = batch.emplace_back();
      candidate.evaluation.problem = print_problem(search.problem);
      candidate.evaluation.proposal = std::move(proposal);
    }
  }
  return batch;
}

}  // namespace

Result<std::unique_ptr<Proposer>> make_proposer(const std::string& name, uint64_t seed) {
  if (name == "seed") return make_seed_proposer(seed);
  if (name == "evolve") return make_evolve_proposer(seed);
  if (name == "random") return make_random_proposer(seed);
  return fail_user("proposer \"{}\" is not known; use seed, evolve or random", name);
}

Batch prepare_round(Search& search, int count) {
  Batch batch = propose(search, count);
  search.lab.emit(batch);
  search.lab.start_compile(batch);
  return batch;
}

Result<Batch> run_round(Search& search, Batch batch, int next_count) {
  KW_TRY_VOID(search.lab.finish_compile(batch));
  Batch next = prepare_round(search, next_count);
  for (Candidate& candidate : batch) {
    if (search.should_stop()) break;
    KW_TRY_VOID(search.lab.verify(candidate));
    KW_TRY_VOID(search.lab.measure(candidate, search.best_ratio));
    candidate.evaluation.finished_s = seconds_since(search.start);
    KW_TRY_VOID(search.store(candidate.evaluation));
    learn(search, candidate.evaluation);
  }
  return next;
}

void learn(Search& search, const Evaluation& evaluation) {
  search.taken.insert(evaluation.proposal.schedule);
  if (evaluation.timing && !(search.best_ratio && *search.best_ratio >= evaluation.timing->ratio))
    search.best_ratio = evaluation.timing->ratio;
  search.history.push_back(evaluation);
}

}  // namespace kw
