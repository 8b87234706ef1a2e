// See untaken.h.
#include "propose/untaken.h"

namespace kw {

uint64_t find_stream(const ProposeContext& context) {
  constexpr uint64_t kPrime = 1'000'003;
  return context.history.size() * kPrime + context.taken.size();
}

std::vector<std::string> find_untaken(const Space& space, const std::set<std::string>& taken, size_t count) {
  std::vector<std::string> untaken;
  for (std::string& key : space.enumerate(taken.size() + count)) {
    if (untaken.size() < count && !taken.count(key)) untaken.push_back(std::move(key));
  }
  return untaken;
}

}  // namespace kw
