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
#include "verify/compare.h"
#include "verify/element.h"
#include "verify/poison.h"
#include "verify/verify.h"

namespace kw {
namespace {

using Bytes = std::vector<std::byte>;

const Operand& get_output(const Check& check) {
  return check.workload.operands[static_cast<size_t>(check.output)];
}

// Memory as a run finds it: C where the output is read too, else poison.
Bytes make_before(const Check& check) {
  Bytes bytes = check.contents[static_cast<size_t>(check.output)];
  const Operand& output = get_output(check);
  if (output.access == Access::kOut) poison_elements(output, bytes, PoisonKind::kFinite, check.seed);
  return bytes;
}

// The reference, rounded to the output format, on the patches; elsewhere what was there.
Bytes make_right_answer(const Check& check) {
  Bytes bytes = make_before(check);
  const Operand& output = get_output(check);
  for (const Patch& patch : check.patches) {
    for (int64_t at = 0; at < patch.rows * patch.cols; ++at) {
      const int64_t index = (patch.row + at / patch.cols) * output.ld + patch.col + at % patch.cols;
      store_element(output.dtype, bytes, index, patch.value[static_cast<size_t>(at)]);
    }
  }
  return bytes;
}

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

struct Place {
  int64_t index = 0;  // in the output, elements
  double value = 0, bound = 0;
};

// A random element with a finite reference and a finite bound.
std::optional<Place> draw_place(const Check& check) {
  std::vector<Place> places;
  const Operand& output = get_output(check);
  Random random(check.seed, 0x6e756c6c);
  for (const Patch& patch : check.patches) {
    for (int64_t at = 0; at < patch.rows * patch.cols; ++at) {
      const auto i = static_cast<size_t>(at);
      if (!std::isfinite(patch.value[i]) || !std::isfinite(patch.bound[i])) continue;
      const int64_t index = (patch.row + at / patch.cols) * output.ld + patch.col + at % patch.cols;
      places.push_back({index, patch.value[i], patch.bound[i]});
    }
  }
  if (places.empty()) return std::nullopt;
  return places[random.below(places.size())];
}

// Four bounds away, but at least to a neighbour that the output format can hold.
double move_away(Dtype dtype, const Place& place) {
  double distance = 4 * place.bound;
  if (distance == 0) distance = std::fabs(place.value) * 0x1p-6;
  if (distance == 0) distance = 1;
  const double moved = round_to_dtype(dtype, place.value + distance);
  return std::fabs(moved - place.value) > place.bound ? moved : place.value + 64 * distance;
}

int64_t count_patch_rows(const Check& check) {
  std::map<int64_t, bool> rows;
  for (const Patch& patch : check.patches) {
    for (int64_t row = 0; row < patch.rows && patch.cols > 0; ++row) rows[patch.row + row] = true;
  }
  return static_cast<int64_t>(rows.size());
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
      {"NaN in one element",
       [](const Check& check, const Bytes*) -> std::optional<Bytes> {
         const auto place = draw_place(check);
         if (!place) return std::nullopt;
         Bytes bytes = make_right_answer(check);
         store_element(get_output(check).dtype, bytes, place->index, std::nan(""));
         return bytes;
       }},
      {"one element off by four bounds",
       [](const Check& check, const Bytes*) -> std::optional<Bytes> {
         const auto place = draw_place(check);
         if (!place) return std::nullopt;
         Bytes bytes = make_right_answer(check);
         const Dtype dtype = get_output(check).dtype;
         store_element(dtype, bytes, place->index, move_away(dtype, *place));
         return bytes;
       }},
  };
  return kernels;
}

// Without products (no depth, or a first scalar of 0) the answer may be what lies there, or zero: null
// kernels that leave or clear the output are right.
bool has_products(const Workload& workload) {
  return workload.flops > 0 && (workload.scalars.empty() || workload.scalars.front() != 0);
}

bool has_output(const Check& check) {
  for (const Patch& patch : check.patches) {
    if (patch.rows * patch.cols > 0) return true;
  }
  return false;
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

Status check_families_refuse_null_kernels(std::span<const Check> checks) {
  KW_TRY([[maybe_unused]] const NullKernelCounts counts, count_null_refusals(checks));
  return {};
}

}  // namespace kw
