// Breeding of children; see offspring.h.
#include "propose/offspring.h"

#include <algorithm>

#include "propose/untaken.h"

namespace kw {
namespace {
constexpr size_t kAttemptsPerChild = 3;
}

Child Offspring::make_child(int island, const std::vector<Elite>& elites) {
  Child child;
  child.island = island;
  child.op = elites.empty() ? Operator::kDraw : archive_.choose_operator(random_);
  if (child.op == Operator::kDraw) {
    child.schedule = context_.space.draw(random_);
    return child;
  }
  const Elite& first = archive_.choose_parent(elites, random_);
  child.parents = {first.binary_hash};
  if (child.op == Operator::kMutate) {
    child.schedule = context_.space.mutate(first.schedule, random_);
    return child;
  }
  const Elite& second = archive_.choose_parent(elites, random_);
  child.parents.push_back(second.binary_hash);
  child.schedule = context_.space.cross(first.schedule, second.schedule, random_);
  return child;
}

bool Offspring::add(Child child) {
  if (context_.taken.count(child.schedule) || !seen_.insert(child.schedule).second) return false;
  children_.push_back(std::move(child));
  return true;
}

void Offspring::breed(size_t count) {
  std::vector<std::vector<Elite>> elites(kIslands);
  if (!archive_.empty()) {
    for (int island = 0; island < kIslands; ++island)
      elites[static_cast<size_t>(island)] = archive_.rank_elites(island);
  }
  for (size_t attempt = 0; attempt < kAttemptsPerChild * count && children_.size() < count; ++attempt) {
    const int island = static_cast<int>((context_.history.size() + attempt) % kIslands);
    add(make_child(island, elites[static_cast<size_t>(island)]));
  }
  if (children_.size() * 4 >= count) return;
  for (std::string& key : find_untaken(context_.space, context_.taken, count))
    add({std::move(key), {}, Operator::kDraw, 0});
}

}  // namespace kw
