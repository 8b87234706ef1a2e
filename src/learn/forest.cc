// Growing and asking extremely randomised trees: each split is the best of one random threshold per feature.
#include "learn/forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/random.h"

namespace kw {

struct Forest::Growth {
  const std::vector<std::vector<double>>& rows;
  std::span<const double> targets;
  const ForestShape& shape;
  Random random;
  std::vector<Node> nodes;

  struct Split {
    int feature = -1;
    double threshold = 0, gain = 0;
  };

  // Reduction of the squared error by the split, as sum of n * mean^2 over both sides (larger is better).
  double judge(std::span<const size_t> members, size_t feature, double threshold) const {
    double sum[2] = {0, 0}, count[2] = {0, 0};
    for (size_t i : members) {
      const int side = rows[i][feature] <= threshold ? 0 : 1;
      sum[side] += targets[i];
      ++count[side];
    }
    if (count[0] == 0 || count[1] == 0) return -1;
    const double total = sum[0] + sum[1];
    return sum[0] * sum[0] / count[0] + sum[1] * sum[1] / count[1] - total * total / (count[0] + count[1]);
  }

  Split choose_split(std::span<const size_t> members) {
    Split best;
    for (size_t feature = 0; feature < rows[0].size(); ++feature) {
      double low = INFINITY, high = -INFINITY;
      for (size_t i : members) {
        low = std::min(low, rows[i][feature]);
        high = std::max(high, rows[i][feature]);
      }
      if (!(low < high)) continue;
      const double threshold = low + (high - low) * random.uniform();
      const double gain = judge(members, feature, threshold);
      if (gain > best.gain) best = {static_cast<int>(feature), threshold, gain};
    }
    return best;
  }

  int grow(std::span<size_t> members) {
    const int self = static_cast<int>(nodes.size());
    nodes.emplace_back();
    double sum = 0;
    for (size_t i : members) sum += targets[i];
    nodes[self].value = sum / static_cast<double>(members.size());
    if (members.size() < 2 * shape.least_leaf_rows) return self;
    const Split split = choose_split(members);
    if (split.feature < 0) return self;
    const auto middle = std::stable_partition(members.begin(), members.end(), [&](size_t i) {
      return rows[i][static_cast<size_t>(split.feature)] <= split.threshold;
    });
    const size_t left_rows = static_cast<size_t>(middle - members.begin());
    const int left = grow(members.first(left_rows));
    const int right = grow(members.subspan(left_rows));
    nodes[self].feature = split.feature;
    nodes[self].threshold = split.threshold;
    nodes[self].left = left;
    nodes[self].right = right;
    return self;
  }
};

Forest Forest::fit(const std::vector<std::vector<double>>& rows, std::span<const double> targets,
                   const ForestShape& shape) {
  KW_CHECK(!rows.empty() && rows.size() == targets.size(), "{} rows, {} targets", rows.size(),
           targets.size());
  Forest forest;
  std::vector<size_t> members(rows.size());
  for (int tree = 0; tree < shape.trees; ++tree) {
    Growth growth{rows, targets, shape, Random(shape.seed, static_cast<uint64_t>(tree)), {}};
    std::iota(members.begin(), members.end(), size_t{0});
    growth.grow(members);
    forest.trees_.push_back(std::move(growth.nodes));
  }
  return forest;
}

Forest::Vote Forest::predict(std::span<const double> row) const {
  double sum = 0, squares = 0;
  for (const auto& nodes : trees_) {
    int at = 0;
    while (nodes[at].feature >= 0) {
      at = row[static_cast<size_t>(nodes[at].feature)] <= nodes[at].threshold ? nodes[at].left
                                                                              : nodes[at].right;
    }
    sum += nodes[at].value;
    squares += nodes[at].value * nodes[at].value;
  }
  const double count = static_cast<double>(trees_.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

}  // namespace kw
