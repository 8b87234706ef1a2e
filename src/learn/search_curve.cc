// Counting of evaluations until a search arrives; see search_curve.h.
#include "learn/search_curve.h"

#include <algorithm>

#include "base/check.h"

namespace kw {
namespace {

Result<double> find_best_us(std::span<const std::optional<double>> table_us) {
  std::optional<double> best;
  for (const auto& time : table_us) {
    if (time && *time > 0 && (!best || *time < *best)) best = time;
  }
  if (!best) return fail("a table of {} rows has no time; nothing to arrive at", table_us.size());
  return *best;
}

}  // namespace

Result<double> find_arrival_us(std::span<const std::optional<double>> table_us, double margin) {
  KW_TRY(const double best, find_best_us(table_us));
  return best * (1 + margin);
}

Result<size_t> count_arrivals(std::span<const std::optional<double>> table_us, double margin) {
  KW_TRY(const double enough, find_arrival_us(table_us, margin));
  return static_cast<size_t>(std::count_if(table_us.begin(), table_us.end(), [&](const auto& time) {
    return time && *time > 0 && *time <= enough;
  }));
}

Result<size_t> count_evaluations(std::span<const std::optional<double>> table_us,
                                 std::span<const std::optional<double>> evaluated_us, double margin) {
  KW_TRY(const double enough, find_arrival_us(table_us, margin));
  for (size_t i = 0; i < evaluated_us.size(); ++i) {
    const auto& time = evaluated_us[i];
    if (time && *time > 0 && *time <= enough) return std::min(i + 1, table_us.size());
  }
  return table_us.size();
}

double expect_random_evaluations(size_t rows, size_t arrivals) {
  KW_CHECK(arrivals >= 1 && arrivals <= rows, "{} of {} rows", arrivals, rows);
  return static_cast<double>(rows + 1) / static_cast<double>(arrivals + 1);
}

double find_median(std::vector<double> values) {
  KW_CHECK(!values.empty(), "median of nothing");
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Result<SearchComparison> compare_with_random(std::span<const SearchRuns> searches, double margin) {
  SearchComparison comparison;
  std::vector<double> ratios;
  for (const SearchRuns& search : searches) {
    if (search.runs_us.empty())
      return fail("table {} has no search run to compare", comparison.tables.size());
    SearchComparison::Table table;
    table.rows = search.table_us.size();
    KW_TRY(table.arrivals, count_arrivals(search.table_us, margin));
    for (const auto& run : search.runs_us) {
      KW_TRY(const size_t evaluations, count_evaluations(search.table_us, run, margin));
      table.evaluations += static_cast<double>(evaluations) / static_cast<double>(search.runs_us.size());
    }
    table.random_evaluations = expect_random_evaluations(table.rows, table.arrivals);
    table.ratio = table.evaluations / table.random_evaluations;
    ratios.push_back(table.ratio);
    comparison.tables.push_back(table);
  }
  if (ratios.empty()) return fail("no table to compare on");
  comparison.ratio = find_median(ratios);
  return comparison;
}

}  // namespace kw
