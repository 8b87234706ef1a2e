// One round of the loop: problem -> propose -> emit -> compile -> verify -> measure -> store -> learn.
// A round's successor compiles in the background while the round itself is measured.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "loop/lab.h"
#include "propose/proposer.h"

namespace kw {

// What a search of one problem knows and uses. History and taken grow with every evaluation.
struct Search {
  const Problem& problem;
  Lab& lab;
  std::vector<std::unique_ptr<Proposer>> proposers;
  const Regressor& cost_model;
  std::vector<std::string> neighbours;  // schedules that won on similar problems
  std::vector<Evaluation> history;
  std::set<std::string> taken;  // schedule keys proposed or measured
  std::optional<double> best_ratio;
  std::function<bool()> should_stop;               // asked before each evaluation
  std::function<Status(const Evaluation&)> store;  // called after each evaluation
  Clock::time_point start = Clock::now();
};

// "seed", "evolve" or "random"; another name is a user error.
[[nodiscard]] Result<std::unique_ptr<Proposer>> make_proposer(const std::string& name, uint64_t seed);

// propose -> emit -> start compiling. Up to `count` candidates; empty when no proposer has an idea left.
[[nodiscard]] Batch prepare_round(Search& search, int count);

// Finishes compiling `batch`, starts the next round of up to `next_count`, then verify -> measure -> store ->
// learn for the batch; stops between evaluations when asked to. Returns the next round.
[[nodiscard]] Result<Batch> run_round(Search& search, Batch batch, int next_count);

// Takes an evaluation into the search's memory: history, taken keys, best ratio.
void learn(Search& search, const Evaluation& evaluation);

}  // namespace kw
