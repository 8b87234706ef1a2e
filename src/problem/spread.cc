// Checks of address arithmetic without gigabytes: a small problem as it is stored, and the same problem as
// the kernel sees it, with rows gigabytes apart. In: layout, dtype, domain. Out: checks whose `spread` is
// set. What the wide strides look like in memory is the target's business (BufferPlan::spread).
#include <algorithm>
#include <array>

#include "problem/check.h"
#include "problem/range.h"
#include "problem/workload.h"
#include "target/device.h"

namespace kw {
namespace {

// Rows of the first stride pass 2^30 elements (2^32 bytes of f32), 2^31 and 2^32 elements in their midst; the
// second stride itself does not fit into 32 bits.
struct Spread {
  int64_t ld, m, n, k;
  double beta;
};
constexpr std::array<Spread, 2> kSpreads = {
    {{(int64_t{1} << 30) - 1, 21, 37, 36, 1}, {(int64_t{1} << 32) + 5, 5, 7, 9, 0}}};
// A stride that the domain moves below this one reaches no such offset with so few rows.
constexpr int64_t kLeastWide = int64_t{1} << 29;
const std::vector<std::string> kFamilies = {"exact_integers", "normal"};

// The smallest stride that the rows can be stored with and that agrees with the wide one within a page.
int64_t find_stored_stride(int64_t wide, int64_t cols, Dtype dtype) {
  const int64_t step = kSpreadBytes / dtype_bytes(dtype), least = cols + 2 * step;
  return least + ((wide - least) % step + step) % step;
}

struct Pair {
  Problem stored, seen;
};

// Nothing when the domain allows none of this spread's sizes or no wide stride.
std::optional<Pair> find_pair(const Problem& problem, const LaunchRecord& launch, const Spread& spread) {
  const auto m = find_range(launch, "m").nearest(spread.m), n = find_range(launch, "n").nearest(spread.n),
             k = find_range(launch, "k").nearest(spread.k);
  if (!m || !n || !k || std::max({*m, *n, *k}) > 4 * std::max({spread.m, spread.n, spread.k}))
    return std::nullopt;
  Pair pair;
  pair.stored = problem;
  pair.stored.m = *m, pair.stored.n = *n, pair.stored.k = *k;
  pair.stored.alpha = 1, pair.stored.beta = spread.beta;
  pair.stored = pair.seen = with_tight_strides(pair.stored);
  bool any = false;
  const std::pair<const char*, int64_t Problem::*> strides[] = {
      {"lda", &Problem::lda}, {"ldb", &Problem::ldb}, {"ldc", &Problem::ldc}};
  for (const auto& [name, field] : strides) {
    const Range range = find_range(launch, name);
    const auto wide = range.at_most(spread.ld), close = range.nearest(pair.stored.*field);
    if (wide && *wide >= kLeastWide) {
      pair.seen.*field = *wide;
      pair.stored.*field = find_stored_stride(*wide, pair.stored.*field, problem.dtype);
      any = true;
    } else if (close) {
      pair.stored.*field = pair.seen.*field = *close;
    }
  }
  const bool legal = any && check_problem(pair.stored) && check_problem(pair.seen) &&
                     !find_domain_violation(launch, make_variables(make_workload(pair.seen), 1));
  return legal ? std::optional(pair) : std::nullopt;
}

}  // namespace

Result<std::vector<Check>> make_spread_checks(const Problem& problem, const LaunchRecord& launch,
                                              uint64_t seed) {
  std::vector<Check> all;
  for (const Spread& spread : kSpreads) {
    const auto pair = find_pair(problem, launch, spread);
    if (!pair) continue;
    const CheckPlan plan = {.contract = launch.contract, .families = kFamilies};
    KW_TRY(std::vector<Check> checks, make_checks(pair->stored, plan, seed + all.size()));
    for (Check& check : checks) {
      check.spread = make_workload(pair->seen);
      all.push_back(std::move(check));
    }
  }
  return all;
}

}  // namespace kw
