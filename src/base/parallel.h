// Splits [0, count) over a few threads of this process. In: a range and a function of (begin, end) whose
// result must not depend on the split. Used to fill operands and compute references; never by anything that
// is timed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace kw {

inline constexpr int64_t kMaxHelperThreads = 8;

// Runs the range on this thread alone when it has fewer than 2 * smallest_part elements.
template <class Function>
void for_ranges(int64_t count, int64_t smallest_part, const Function& function) {
  const int64_t cores = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, kMaxHelperThreads);
  const int64_t parts = std::clamp<int64_t>(count / std::max<int64_t>(smallest_part, 1), 1, cores);
  std::vector<std::jthread> threads;
  for (int64_t part = 1; part < parts; ++part)
    threads.emplace_back([&, part] { function(count * part / parts, count * (part + 1) / parts); });
  function(0, count / parts);
}

}  // namespace kw
