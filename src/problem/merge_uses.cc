// Joins uses of one problem, so that it is tuned once. In and out: lists of uses.
#include <algorithm>
#include <map>

#include "problem/model.h"

namespace kw {
namespace {

// Adds the parts of `more` that `joined` does not name yet.
void join(std::string& joined, const std::string& more) {
  for (size_t begin = 0; begin <= more.size();) {
    const size_t end = std::min(more.find('+', begin), more.size());
    const std::string part = more.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || ("+" + joined + "+").find("+" + part + "+") != std::string::npos) continue;
    joined += joined.empty() ? part : "+" + part;
  }
}

}  // namespace

std::vector<ProblemUse> merge_uses(const std::vector<ProblemUse>& uses) {
  std::vector<ProblemUse> merged;
  std::map<std::string, size_t> place;
  for (const ProblemUse& use : uses) {
    const auto [found, is_new] = place.try_emplace(print_problem(use.problem), merged.size());
    if (is_new) {
      merged.push_back(use);
      continue;
    }
    ProblemUse& entry = merged[found->second];
    entry.count += use.count;
    join(entry.name, use.name);
    join(entry.phase, use.phase);
    if (entry.tokens != use.tokens) entry.tokens = 0;
  }
  return merged;
}

}  // namespace kw
