// See pattern.h. From the most telling sign to the least: nothing written, special values, right values at
// wrong places, an explanation by recomputation, one factor, the place of the errors.
#include "verify/pattern.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "verify/diagnose_gemm.h"
#include "verify/element.h"

namespace kw {
namespace {

constexpr size_t kPlaced = 16;           // wrong elements whose value is looked for elsewhere
constexpr double kClear = 4;             // bounds by which a single element is wrong, not inaccurate
constexpr double kEverywhere = 0.95;     // share of wrong elements
constexpr double kLowAccuracy = 0x1p-7;  // relative rms error below which wrong values are called inaccurate

using Elements = std::vector<WrongElement>;

Named make_wrong(std::string reason, Json note = Json::object()) {
  return {VerdictClass::kWrongResult, std::move(reason), std::move(note)};
}

// "m_tail" etc. when the wrong elements fill the last rows or columns and nothing else is wrong; else "".
std::string find_tail(const Check& check, const Comparison& comparison) {
  const Operand& operand = check.workload.operands[static_cast<size_t>(check.output)];
  int64_t first_row = operand.rows, first_col = operand.cols;
  std::map<int64_t, int64_t> wrong_in_row, wrong_in_col;
  for (const WrongElement& element : comparison.elements) {
    ++wrong_in_row[element.row];
    ++wrong_in_col[element.col];
  }
  // A row (column) counts as wrong as a whole when most of it is; a tail element may be right by chance.
  const bool whole = check.patches.size() == 1 && check.patches[0].rows == operand.rows &&
                     check.patches[0].cols == operand.cols;
  if (!whole) return "";
  for (const auto& [row, count] : wrong_in_row) {
    if (count * 2 > operand.cols) first_row = std::min(first_row, row);
  }
  for (const auto& [col, count] : wrong_in_col) {
    if (count * 2 > operand.rows) first_col = std::min(first_col, col);
  }
  const bool row_tail = first_row > 0 && first_row < operand.rows;
  const bool col_tail = first_col > 0 && first_col < operand.cols;
  if (!row_tail && !col_tail) return "";
  const int64_t row_limit = row_tail ? first_row : operand.rows,
                col_limit = col_tail ? first_col : operand.cols;
  for (const WrongElement& element : comparison.elements) {
    if (element.row < row_limit && element.col < col_limit) return "";
  }
  const int64_t tail = operand.rows * operand.cols - row_limit * col_limit;
  if (comparison.wrong * 10 < tail * 9) return "";  // holes: not a tail
  if (row_limit == 1 && operand.rows > 2 && !col_tail) return "first_row_only";
  if (row_tail && col_tail) return "mn_tail";
  return row_tail ? "m_tail" : "n_tail";
}

std::optional<Named> find_unwritten(const Check& check, const Comparison& comparison,
                                    std::span<const std::byte> output, std::span<const std::byte> before) {
  const Operand& operand = check.workload.operands[static_cast<size_t>(check.output)];
  const auto is_unwritten = [&](const WrongElement& element) {
    const int64_t index = element.row * operand.ld + element.col;
    return read_bits(operand.dtype, output, index) == read_bits(operand.dtype, before, index);
  };
  const auto& elements = comparison.elements;
  const auto unwritten = std::count_if(elements.begin(), elements.end(), is_unwritten);
  if (unwritten == 0) return std::nullopt;
  if (static_cast<size_t>(unwritten) < elements.size()) return std::nullopt;
  const std::string tail = find_tail(check, comparison);
  return make_wrong(tail.empty() ? "unwritten" : tail, {{"unwritten", unwritten}});
}

std::optional<Named> find_special(const Comparison& comparison) {
  int64_t lost = 0, appeared = 0;
  for (const WrongElement& element : comparison.elements) {
    if (!std::isfinite(element.want)) ++lost;
    if (std::isfinite(element.want) && !std::isfinite(element.got)) ++appeared;
  }
  const auto wrong = static_cast<int64_t>(comparison.elements.size());
  if (appeared == wrong) return make_wrong("nan", {{"not_finite", appeared}});
  if (lost == wrong) return make_wrong("special_lost", {{"special_lost", lost}});
  return std::nullopt;
}

using Place = std::pair<int64_t, int64_t>;

// Places in the reference whose value is what the kernel put at `element`.
std::vector<Place> find_places(const Check& check, const WrongElement& element) {
  std::vector<Place> places;
  for (const Patch& patch : check.patches) {
    for (int64_t at = 0; at < patch.rows * patch.cols; ++at) {
      const auto index = static_cast<size_t>(at);
      if (!std::isfinite(patch.value[index]) ||
          !is_right(element.got, patch.value[index], patch.bound[index]))
        continue;
      places.emplace_back(patch.row + at / patch.cols, patch.col + at % patch.cols);
      if (places.size() > 4) return {};  // a common value tells nothing
    }
  }
  return places;
}

std::optional<Named> find_misplaced(const Check& check, const Comparison& comparison) {
  const Elements& elements = comparison.elements;
  std::set<Place> wrong;
  for (const WrongElement& element : elements) wrong.emplace(element.row, element.col);
  const size_t step = std::max<size_t>(1, elements.size() / kPlaced);
  std::map<Place, size_t> offsets;
  size_t seen = 0, found = 0, mirrored = 0, copied = 0;
  for (size_t at = 0; at < elements.size(); at += step, ++seen) {
    const WrongElement& element = elements[at];
    const std::vector<Place> places = find_places(check, element);
    const auto is_right_there = [&](const Place& place) { return !wrong.contains(place); };
    found += !places.empty();
    copied += std::any_of(places.begin(), places.end(), is_right_there);
    for (const auto& [row, col] : places) {
      ++offsets[{row - element.row, col - element.col}];
      if (row == element.col && col == element.row) ++mirrored;
    }
  }
  if (seen < 2 || offsets.empty()) return std::nullopt;
  if (mirrored >= seen) return make_wrong("transposed");
  if (copied == seen) return make_wrong("duplicated");
  const auto most = std::max_element(offsets.begin(), offsets.end(), [](const auto& left, const auto& right) {
    return left.second < right.second;
  });
  // Not all: at the rim a shifted kernel wraps around, or reads what is no operand.
  if (most->second * 4 >= seen * 3) {
    return make_wrong("shifted", {{"offset", {most->first.first, most->first.second}}});
  }
  if (found < seen) return std::nullopt;
  return make_wrong("swapped_tile");
}

std::optional<Named> find_factor(const Comparison& comparison) {
  std::vector<double> ratios;
  for (const WrongElement& element : comparison.elements) {
    if (!std::isfinite(element.got) || !std::isfinite(element.want)) return std::nullopt;
    if (std::fabs(element.want) > 16 * element.bound && element.want != 0)
      ratios.push_back(element.got / element.want);
  }
  if (ratios.size() < 4) return std::nullopt;
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                   ratios.end());
  const double factor = ratios[ratios.size() / 2];
  const bool constant =
      std::all_of(comparison.elements.begin(), comparison.elements.end(), [&](const WrongElement& element) {
        return std::fabs(element.got - factor * element.want) <=
               (4 * element.bound + 0x1p-20 * std::fabs(element.want)) * (1 + std::fabs(factor));
      });
  if (!constant) return std::nullopt;
  if (std::fabs(factor + 1) <= 1e-3) return make_wrong("sign");
  return make_wrong("scaled", {{"factor", factor}});
}

// Wrong values that are representable in a narrower format, or miss by little, come from too little
// precision.
std::optional<Named> find_low_accuracy(const Check& check, const Comparison& comparison) {
  double error = 0, size = 0;
  bool f16 = true, bf16 = true;
  for (const WrongElement& element : comparison.elements) {
    if (!std::isfinite(element.got) || !std::isfinite(element.want)) return std::nullopt;
    error += (element.got - element.want) * (element.got - element.want);
    size += element.want * element.want;
    f16 = f16 && round_to_dtype(Dtype::kF16, element.got) == element.got;
    bf16 = bf16 && round_to_dtype(Dtype::kBf16, element.got) == element.got;
  }
  if (!(error <= kLowAccuracy * kLowAccuracy * size)) return std::nullopt;
  const Operand& operand = check.workload.operands[static_cast<size_t>(check.output)];
  const bool wide = operand.dtype == Dtype::kF32 || operand.dtype == Dtype::kF64;
  const char* reason = "low_accuracy";
  if (wide && f16) reason = "f16_accumulator";
  if (wide && bf16 && !f16) reason = "bf16_accumulator";
  return Named{VerdictClass::kPrecisionDowngrade, reason, {{"relative_rms", std::sqrt(error / size)}}};
}

}  // namespace

Named name_error(const Check& check, const Comparison& comparison, std::span<const std::byte> output,
                 const Scene& scene) {
  const Elements& elements = comparison.elements;
  if (auto named = find_unwritten(check, comparison, output, scene.before)) return *named;
  if (auto named = find_gemm_special_explanation(check, comparison, scene)) return *named;
  if (auto named = find_special(comparison)) return *named;
  const bool all_zero = std::all_of(elements.begin(), elements.end(),
                                    [](const WrongElement& element) { return element.got == 0; });
  const std::string tail = find_tail(check, comparison);
  if (all_zero) return make_wrong(tail.empty() ? "zeros" : tail, {{"zeros", comparison.wrong}});
  if (comparison.wrong == 1 && comparison.compared > 1 && !(comparison.worst_ratio < kClear))
    return make_wrong("single_element");
  if (auto named = find_misplaced(check, comparison)) return *named;
  if (auto named = find_gemm_explanation(check, comparison, scene)) return *named;
  if (auto named = find_factor(comparison)) return *named;
  if (auto named = find_low_accuracy(check, comparison)) return *named;
  if (!tail.empty()) return make_wrong(tail);
  const bool everywhere =
      static_cast<double>(comparison.wrong) > kEverywhere * static_cast<double>(comparison.compared);
  return make_wrong(everywhere ? "everywhere" : "scattered");
}

}  // namespace kw
