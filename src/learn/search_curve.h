// How fast a search arrives. In: the times of a measured table and the sequence of times a search evaluated.
// Out: evaluations needed to come within a margin of the table's best, and what random sampling needs. Called
// by loop and bench for results/bars.json. Pure functions; runs no search.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace kw {

inline constexpr double kArrivalMargin = 0.03;

// The longest time in us that counts as arrived: (1 + margin) x the least. An Error when no row has a time.
[[nodiscard]] Result<double> find_arrival_us(std::span<const std::optional<double>> table_us,
                                             double margin = kArrivalMargin);

// Number of rows whose time is at most (1 + margin) x the least. Rows without a time (failed candidates) do
// not count as arrived. An Error when no row has a time.
[[nodiscard]] Result<size_t> count_arrivals(std::span<const std::optional<double>> table_us,
                                            double margin = kArrivalMargin);

// Evaluations until the first one within the margin of the table's best; the full table's size when none is.
// Failed evaluations (no time) count as evaluations. An Error when the table has no time.
[[nodiscard]] Result<size_t> count_evaluations(std::span<const std::optional<double>> table_us,
                                               std::span<const std::optional<double>> evaluated_us,
                                               double margin = kArrivalMargin);

// Expected evaluations of uniform sampling without replacement until one of `arrivals` good rows among `rows`
// comes: (rows + 1) / (arrivals + 1), the mean of the least order statistic. Needs 1 <= arrivals <= rows.
[[nodiscard]] double expect_random_evaluations(size_t rows, size_t arrivals);

// Middle value, or the mean of the two middle ones; needs at least one.
[[nodiscard]] double find_median(std::vector<double> values);

// What a search needed on one table, several runs with different seeds.
struct SearchRuns {
  std::vector<std::optional<double>> table_us;
  std::vector<std::vector<std::optional<double>>> runs_us;  // evaluated times of each run, in order
};

struct SearchComparison {
  struct Table {
    size_t rows = 0, arrivals = 0;
    double evaluations = 0;         // mean over runs, as the figure for random is a mean
    double random_evaluations = 0;  // exact expectation
    double ratio = 0;
  };
  std::vector<Table> tables;
  double ratio = 0;  // median over tables: the bar search.evolve.evaluations_ratio
};

[[nodiscard]] Result<SearchComparison> compare_with_random(std::span<const SearchRuns> searches,
                                                           double margin = kArrivalMargin);

}  // namespace kw
