// Islands of MAP-Elites archives, rebuilt from a problem's history on every call, so that nothing is lost in
// a kill. In: space and history. Out: elites per cell and island, success of operators, failures per cell.
// Called by evolve.cc. Proposes nothing itself.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "record/candidate.h"
#include "schedule/space.h"

namespace kw {

inline constexpr int kIslands = 3;

// The fastest schedule of a cell.
struct Elite {
  std::string schedule, binary_hash;
  double log_us = 0;
};

// How often a cell was tried and how often it gave a kernel that passed.
struct CellRecord {
  int tried = 0, passed = 0;
  // Share of passes with two pseudo-passes, so that one failure does not close a cell.
  double pass_share() const { return (passed + 2.0) / (tried + 2.0); }
};

enum class Operator { kDraw, kMutate, kCross };
inline constexpr int kOperators = 3;
[[nodiscard]] std::string_view print_operator(Operator op);

class Archive {
 public:
  // Replays the history: a child belongs to the island of its first parent, one without parents to the
  // islands in turn; every kMigrationEvery evaluations each island's best goes to the next island.
  Archive(const Space& space, std::span<const Evaluation> history);

  bool empty() const { return evaluated_ == 0; }  // no schedule has passed yet
  // Fastest first; islands without any fall back to all islands' elites. Not empty unless empty().
  std::vector<Elite> rank_elites(int island) const;
  // Parent by softmax over the ranks of rank_elites, weighted by the pass share of its cell. Needs !empty().
  const Elite& choose_parent(const std::vector<Elite>& ranked, Random& random) const;
  // 1 for a cell never tried.
  double pass_share(const std::string& cell) const;
  // Operator in proportion to its recent success, with a floor for each.
  Operator choose_operator(Random& random) const;
  double operator_share(Operator op) const;

 private:
  using Cells = std::map<std::string, Elite>;
  void place(int island, const std::string& cell, const Elite& elite);
  void migrate();
  void credit(const Proposal& proposal, double success);

  const Space& space_;
  std::vector<Cells> islands_;
  std::map<std::string, CellRecord> records_;
  double earned_[kOperators] = {1, 1, 1}, used_[kOperators] = {2, 2, 2};
  int evaluated_ = 0;
};

}  // namespace kw
