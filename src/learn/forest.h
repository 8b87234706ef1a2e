// Ensemble of extremely randomised regression trees. In: rows and targets. Out: mean and disagreement of the
// trees. Called by cost_model.cc only. Method: Geurts, Ernst, Wehenkel, "Extremely randomized trees" (2006).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kw {

struct ForestShape {
  int trees = 64;
  size_t least_leaf_rows = 2;
  uint64_t seed = 0;
};

class Forest {
 public:
  // Needs at least one row; all rows of one length. Deterministic for the shape's seed.
  static Forest fit(const std::vector<std::vector<double>>& rows, std::span<const double> targets,
                    const ForestShape& shape);

  struct Vote {
    double mean = 0, deviation = 0;  // over trees
  };
  Vote predict(std::span<const double> row) const;

 private:
  struct Node {
    int feature = -1;      // -1: leaf
    double threshold = 0;  // left when value <= threshold
    int left = 0, right = 0;
    double value = 0;
  };
  struct Growth;
  std::vector<std::vector<Node>> trees_;
};

}  // namespace kw
