#include "problem/sampling.h"

#include <algorithm>

namespace kw {
namespace {

constexpr int64_t kMostBlocks = 8;

// Parts of a lines x length output, as (first line, lines, first position, positions).
struct Stretch {
  int64_t line, lines, position, positions;
};

// Random blocks of whole lines and the last lines, `budget` elements for each of the two.
std::vector<Stretch> plan_lines(int64_t lines, int64_t length, int64_t budget, Random& random) {
  std::vector<Stretch> plan;
  const int64_t affordable = std::min(budget / length, lines);
  if (affordable == 0) {
    const int64_t positions = std::clamp<int64_t>(budget / 2, 1, length);
    const int64_t line = random.between(0, lines - 1);
    plan.push_back({line, 1, random.between(0, length - positions), positions});
    plan.push_back({line, 1, length - positions, positions});
    plan.push_back({lines - 1, 1, random.between(0, length - positions), positions});
    plan.push_back({lines - 1, 1, length - positions, positions});
    return plan;
  }
  const int64_t blocks = std::min(affordable, kMostBlocks);
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t height = affordable * (block + 1) / blocks - affordable * block / blocks;
    plan.push_back({random.between(0, lines - height), height, 0, length});
  }
  plan.push_back({lines - affordable, affordable, 0, length});
  return plan;
}

}  // namespace

std::vector<Rectangle> plan_rectangles(int64_t m, int64_t n, int64_t k, double max_flops, Random& random) {
  if (m == 0 || n == 0) return {};
  const double affordable = max_flops / (2.0 * static_cast<double>(std::max<int64_t>(k, 1)));
  const auto most =
      static_cast<int64_t>(std::clamp(affordable, 1.0, static_cast<double>(kMaxReferenceElements)));
  if (static_cast<double>(m) * static_cast<double>(n) <= static_cast<double>(most)) return {{0, 0, m, n}};

  const int64_t budget = std::max<int64_t>(most / 4, 1);
  std::vector<Rectangle> plan;
  for (const Stretch& s : plan_lines(m, n, budget, random))
    plan.push_back({s.line, s.position, s.lines, s.positions});
  for (const Stretch& s : plan_lines(n, m, budget, random))
    plan.push_back({s.position, s.line, s.positions, s.lines});
  return plan;
}

}  // namespace kw
