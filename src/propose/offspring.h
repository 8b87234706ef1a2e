// New candidate schedules bred from an archive: mutated, crossed and freshly drawn, legal, distinct, untaken.
// In: context, archive, random numbers. Out: children with their parents. Called by evolve.cc, which chooses
// among them. Does not judge them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "propose/archive.h"
#include "propose/proposer.h"

namespace kw {

struct Child {
  std::string schedule;
  std::vector<std::string> parents;  // binary hashes: none drawn, one mutated, two crossed
  Operator op = Operator::kDraw;
  int island = 0;
};

class Offspring {
 public:
  Offspring(const ProposeContext& context, const Archive& archive, Random& random)
      : context_(context), archive_(archive), random_(random) {}

  // Adds up to `count` children, islands in turn; fewer when the space has no more, found by enumeration when
  // random draws meet only taken ones.
  void breed(size_t count);
  std::vector<Child> take() { return std::move(children_); }

 private:
  Child make_child(int island, const std::vector<Elite>& elites);
  bool add(Child child);

  const ProposeContext& context_;
  const Archive& archive_;
  Random& random_;
  std::set<std::string> seen_;
  std::vector<Child> children_;
};

}  // namespace kw
