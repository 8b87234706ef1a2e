// See compare.h. Comparisons are written good-if, so a NaN that is not expected fails.
#include "verify/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "verify/element.h"

namespace kw {
namespace {

constexpr size_t kShownIndices = 8;

double get_ratio(double got, double want, double bound) {
  if (!std::isfinite(want)) return 0;
  const double difference = std::fabs(got - want);
  if (difference == 0) return 0;
  return bound > 0 && std::isfinite(difference) ? difference / bound : INFINITY;
}

void note_error(Comparison& comparison, double error, double bound) {
  const bool is_first = comparison.error == 0 && comparison.error_bound == 0;
  if (!std::isfinite(bound) || !(error > comparison.error || is_first)) return;
  comparison.error = error;
  comparison.error_bound = bound;
}

}  // namespace

bool is_right(double got, double want, double bound) {
  if (!std::isfinite(want) && std::isinf(bound)) return !std::isfinite(got);
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::fabs(got - want) <= bound;
}

Comparison compare_patches(const Check& check, std::span<const std::byte> output) {
  const Operand& operand = check.workload.operands[static_cast<size_t>(check.output)];
  KW_CHECK(static_cast<int64_t>(output.size()) == operand.span_bytes(), "{} bytes, operand {} has {}",
           output.size(), operand.name, operand.span_bytes());
  Comparison result;
  for (const Patch& patch : check.patches) {
    KW_CHECK(patch.row >= 0 && patch.col >= 0 && patch.row + patch.rows <= operand.rows &&
                 patch.col + patch.cols <= operand.cols,
             "patch {},{} {}x{} of {}x{}", patch.row, patch.col, patch.rows, patch.cols, operand.rows,
             operand.cols);
    for (int64_t i = 0; i < patch.rows; ++i) {
      for (int64_t j = 0; j < patch.cols; ++j) {
        const auto at = static_cast<size_t>(i * patch.cols + j);
        const int64_t row = patch.row + i, col = patch.col + j;
        const double got = load_element(operand.dtype, output, row * operand.ld + col);
        const double want = patch.value[at], bound = patch.bound[at];
        ++result.compared;
        if (is_right(got, want, bound)) {
          if (!std::isfinite(want) || !std::isfinite(bound)) continue;
          result.worst_ratio = std::max(result.worst_ratio, get_ratio(got, want, bound));
          note_error(result, std::fabs(got - want), bound);
          continue;
        }
        ++result.wrong;
        result.worst_ratio = std::max(result.worst_ratio, get_ratio(got, want, bound));
        if (!std::isfinite(got) || !std::isfinite(want)) result.worst_ratio = INFINITY;
        if (result.elements.size() < kMaxWrongElements)
          result.elements.push_back({row, col, got, want, bound});
      }
    }
  }
  return result;
}

Json print_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json print_comparison(const Comparison& comparison) {
  Json json = Json::object();
  json["worst_ratio"] = print_number(comparison.worst_ratio);
  json["wrong"] = comparison.wrong;
  json["compared"] = comparison.compared;
  json["wrong_share"] = comparison.compared == 0 ? 0.0
                                                 : static_cast<double>(comparison.wrong) /
                                                       static_cast<double>(comparison.compared);
  if (comparison.elements.empty()) return json;
  const auto is_less = [](const WrongElement& left, const WrongElement& right) {
    return get_ratio(left.got, left.want, left.bound) < get_ratio(right.got, right.want, right.bound);
  };
  const WrongElement& worst =
      *std::max_element(comparison.elements.begin(), comparison.elements.end(), is_less);
  json["element"] = {worst.row, worst.col};
  json["got"] = print_number(worst.got);
  json["want"] = print_number(worst.want);
  json["bound"] = print_number(worst.bound);
  std::set<int64_t> rows, cols;
  for (const WrongElement& element : comparison.elements) {
    rows.insert(element.row);
    cols.insert(element.col);
  }
  const auto print_first = [](const std::set<int64_t>& indices) {
    Json list = Json::array();
    for (const int64_t index : indices) {
      if (list.size() == kShownIndices) break;
      list.push_back(index);
    }
    return list;
  };
  json["wrong_rows"] = print_first(rows);
  json["wrong_cols"] = print_first(cols);
  return json;
}

}  // namespace kw
