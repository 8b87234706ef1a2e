// The null kernels of protocol.md A.5 as plain functions from a Check to output bytes, and the self-test that
// every family refuses them. Called by the loop and by tests before checks are trusted; runs nothing on a
// device.
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "verify/answer.h"
#include "verify/compare.h"
#include "verify/element.h"
#include "verify/verify.h"

namespace kw {
namespace {

using Bytes = std::vector<std::byte>;

void fill(const Check& check, Bytes& bytes, double value) {
  const Operand& output = get_output(check);
  for (int64_t row = 0; row < output.rows; ++row) {
    for (int64_t col = 0; col < output.cols; ++col)
      store_element(output.dtype, bytes, row * output.ld + col, value);
  }
}

double find_mean(const Check& check) {
  double sum = 0;
  int64_t count = 0;
  for (const Patch& patch : check.patches) {
    for (const double value : patch.value) {
      if (!std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

int64_t count_patch_rows(const Check& check) {
  std::map<int64_t, bool> rows;
  for (const Patch& patch : check.patches) {
    for (int64_t row = 0; row < patch.rows && patch.cols > 0; ++row) rows[patch.row + row] = true;
  }
  return static_cast<int64_t>(rows.size());
}

// The right first row (column) in place of every row (column): what a kernel gives that ignores one operand's
// outer index. Only where the whole output is known.
std::optional<Bytes> repeat_first(const Check& check, bool row) {
  const Operand& output = get_output(check);
  const bool whole = check.patches.size() == 1 && check.patches[0].rows == output.rows &&
                     check.patches[0].cols == output.cols;
  if (!whole || (row ? output.rows : output.cols) < 2) return std::nullopt;
  const Bytes right = make_right_answer(check);
  Bytes bytes = right;
  for (int64_t i = 0; i < output.rows; ++i)
    for (int64_t j = 0; j < output.cols; ++j)
      write_bits(output.dtype, bytes, i * output.ld + j,
                 read_bits(output.dtype, right, row ? j : i * output.ld));
  return bytes;
}

// What a null kernel leaves in the output; nothing where it does not apply, with `previous` the right answer
// to other inputs of the same workload.
struct NullKernel {
  const char* name;
  std::function<std::optional<Bytes>(const Check&, const Bytes* previous)> run;
};

const std::vector<NullKernel>& get_null_kernels() {
  static const std::vector<NullKernel> kernels = {
      {"does nothing", [](const Check& check, const Bytes*) { return std::optional(make_before(check)); }},
      {"zeros",
       [](const Check& check, const Bytes*) {
         Bytes bytes = make_before(check);
         fill(check, bytes, 0);
         return std::optional(bytes);
       }},
      {"copy of C",
       [](const Check& check, const Bytes*) {
         return std::optional(check.contents[static_cast<size_t>(check.output)]);
       }},
      {"previous answer",
       [](const Check&, const Bytes* previous) {
         return previous != nullptr ? std::optional(*previous) : std::nullopt;
       }},
      {"constant mean",
       [](const Check& check, const Bytes*) -> std::optional<Bytes> {
         if (get_output(check).rows * get_output(check).cols < 2) return std::nullopt;
         Bytes bytes = make_before(check);
         fill(check, bytes, find_mean(check));
         return bytes;
       }},
      {"first row only",
       [](const Check& check, const Bytes*) -> std::optional<Bytes> {
         if (count_patch_rows(check) < 2) return std::nullopt;
         const Bytes right = make_right_answer(check);
         Bytes bytes = make_before(check);
         Operand row = get_output(check);
         row.rows = 1;
         copy_elements(row, right, bytes);
         return bytes;
       }},
      {"first row everywhere", [](const Check& check, const Bytes*) { return repeat_first(check, true); }},
      {"first column everywhere",
       [](const Check& check, const Bytes*) { return repeat_first(check, false); }},
      {"NaN in one element",
       [](const Check& check, const Bytes*) -> std::optional<Bytes> {
         const std::vector<Place> places = list_places(check);
         if (places.empty()) return std::nullopt;
         const Place& place = places[Random(check.seed, 0x6e756c6c).below(places.size())];
         Bytes bytes = make_right_answer(check);
         const Operand& output = get_output(check);
         store_element(output.dtype, bytes, place.row * output.ld + place.col, std::nan(""));
         return bytes;
       }},
  };
  return kernels;
}

}  // namespace

Result<NullKernelCounts> count_null_refusals(std::span<const Check> checks) {
  NullKernelCounts counts;
  std::map<std::string, Bytes> previous;  // right answer of the check before, per workload
  for (const Check& check : checks) {
    const std::string problem = print_problem(check.workload.problem);
    if (!has_output(check)) {
      counts.not_applicable += static_cast<int64_t>(get_null_kernels().size());
      continue;
    }
    const Bytes right = make_right_answer(check);
    if (const Comparison comparison = compare_patches(check, right); comparison.wrong != 0) {
      return fail("family {} of {} refuses its own reference in {} of {} elements", check.family, problem,
                  comparison.wrong, comparison.compared);
    }
    const auto found = previous.find(problem);
    for (const NullKernel& kernel : get_null_kernels()) {
      const auto output = kernel.run(check, found == previous.end() ? nullptr : &found->second);
      if (!output) {
        ++counts.not_applicable;
      } else if (compare_patches(check, *output).wrong != 0) {
        ++counts.refused;
      } else if (!has_products(check.workload)) {
        ++counts.not_applicable;
      } else {
        return fail("family {} (seed {}) of {} lets the null kernel \"{}\" pass", check.family, check.seed,
                    problem, kernel.name);
      }
    }
    previous[problem] = right;
  }
  return counts;
}

}  // namespace kw
