// Values are drawn row by row as stored, one random stream a row, so the result does not depend on threads.
#include "problem/family.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/parallel.h"
#include "base/random.h"
#include "problem/integer_plan.h"
#include "problem/nan_inf.h"
#include "record/element.h"

namespace kw {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kSmallestPart = 1 << 15;  // elements below which a thread costs more than it saves

// Scales of a family for A, B; half = an f16 somewhere, whose 65504 must not overflow.
struct Scales {
  double a = 1, b = 1;
};

Scales find_scales(Family family, bool half, int64_t k) {
  const double depth = static_cast<double>(std::max<int64_t>(k, 1));
  switch (family) {
    case Family::kTinyScale:
      return {1e-4, half ? 1 : 1e-4};
    case Family::kLargeScale:
      return {1e3, half ? std::min(1.0, 4 / std::sqrt(depth)) : 1e3};
    case Family::kCancel:
      return {half ? std::min(1e3, 3e4 / depth) : 1e3, 1};
    default:
      return {};
  }
}

// What an operand's values depend on besides its position: fixed before rows are drawn.
struct Lines {
  Family family;
  bool is_a = false;             // else B
  bool depth_along_row = false;  // stored rows run along k
  int64_t k = 0, outers = 0;     // outers: rows of op(A), columns of op(B)
  double scale = 1;
  uint64_t seed = 0;
  IntegerPlan integers;
  std::vector<double> factor;     // per outer line, kOutlierRows
  std::vector<int64_t> position;  // per outer line: depth of the wide element or of the single 1; -1 = none
  bool selects = false;           // kPermutation: this operand is the selecting one
  bool whole = false;             // kPermutation: the other operand holds whole numbers
};

double draw_integer(Random& random, int64_t largest) {
  const auto size = static_cast<double>(random.between(1, largest));
  return random.chance(0.5) ? size : -size;
}

double draw_wide(Random& random, int64_t wide) {
  const int64_t size = random.between(wide / 2 + 1, wide) | 1;
  return static_cast<double>(random.chance(0.5) ? size : -size);
}

// One step of the permutation o -> (o step + shift) mod k with step coprime to k.
std::vector<int64_t> draw_permutation(int64_t outers, int64_t k, Random& random) {
  std::vector<int64_t> position(static_cast<size_t>(outers), -1);
  if (k == 0) return position;
  int64_t step = random.between(1, k);
  while (std::gcd(step, k) != 1) step = random.between(1, k);
  int64_t p = random.between(0, k - 1);
  for (int64_t& where : position) {
    where = p;
    p = (p + step) % k;
  }
  return position;
}

// Wide elements of A at even depths and of B at odd ones never meet, so no product exceeds wide * small.
std::vector<int64_t> draw_wide_positions(const Lines& lines, Random& random) {
  std::vector<int64_t> position(static_cast<size_t>(lines.outers), -1);
  const int64_t choices = lines.is_a ? (lines.k + 1) / 2 : lines.k / 2;
  if (choices == 0 || lines.integers.wide == 0) return position;
  for (int64_t& where : position) where = 2 * random.between(0, choices - 1) + (lines.is_a ? 0 : 1);
  return position;
}

void prepare(Lines& lines, bool half) {
  Random random(lines.seed, std::numeric_limits<uint64_t>::max());
  if (lines.family == Family::kOutlierRows) {
    lines.factor.assign(static_cast<size_t>(lines.outers), 1.0);
    for (double& factor : lines.factor)
      if (random.chance(0.125)) factor = half ? 8 : 1000;
    if (lines.outers > 0) lines.factor[random.below(lines.factor.size())] = half ? 8 : 1000;
  }
  if (lines.family == Family::kExactIntegers) lines.position = draw_wide_positions(lines, random);
  if (lines.family == Family::kPermutation && lines.selects)
    lines.position = draw_permutation(lines.outers, lines.k, random);
  lines.scale =
      lines.is_a ? find_scales(lines.family, half, lines.k).a : find_scales(lines.family, half, lines.k).b;
}

double draw_plain(const Lines& lines, Random& random) {
  switch (lines.family) {
    case Family::kUniform:
      return 2 * random.uniform() - 1;
    case Family::kPositive:
      return 1 - random.uniform();
    case Family::kSticky:
      return 0.25 + 0.5 * random.uniform();
    case Family::kCancel:
      return lines.scale * (0.5 + 0.5 * random.uniform());
    case Family::kExactIntegers:
      return draw_integer(random, lines.integers.small);
    case Family::kPermutation:
      if (lines.selects) return 0;
      return lines.whole ? draw_integer(random, std::max<int64_t>(lines.integers.wide, 1)) : random.normal();
    default:
      return lines.scale * random.normal();
  }
}

// Second half of k in kCancel: A with the opposite sign, B smaller by up to 1/32.
double cancel(const Lines& lines, double first_half, Random& random) {
  return lines.is_a ? -first_half : first_half * (1 - random.uniform() / 32);
}

// The value that belongs at (outer, p) instead of the plain draw.
double shape_value(const Lines& lines, int64_t outer, int64_t p, double plain, Random& random) {
  const auto line = static_cast<size_t>(outer);
  switch (lines.family) {
    case Family::kOutlierRows:
      return plain * lines.factor[line];
    case Family::kSticky:
      return p > 0 ? plain : (lines.is_a ? 64 : 32);
    case Family::kExactIntegers:
      return p == lines.position[line] ? draw_wide(random, lines.integers.wide) : plain;
    case Family::kPermutation:
      return lines.selects ? (p == lines.position[line] ? 1 : 0) : plain;
    default:
      return plain;
  }
}

void draw_row(const Lines& lines, int64_t row, std::span<double> out) {
  const int64_t half = lines.k / 2;
  const bool cancels = lines.family == Family::kCancel;
  const bool cancelled_row = cancels && !lines.depth_along_row && row >= half && row < 2 * half;
  Random random(lines.seed, static_cast<uint64_t>(cancelled_row ? row - half : row));
  Random noise(lines.seed, static_cast<uint64_t>(row) + (uint64_t{1} << 62));
  for (size_t c = 0; c < out.size(); ++c) {
    const auto col = static_cast<int64_t>(c);
    const int64_t outer = lines.depth_along_row ? row : col, p = lines.depth_along_row ? col : row;
    if (cancels && lines.depth_along_row && col >= half && col < 2 * half) {
      out[c] = cancel(lines, out[c - static_cast<size_t>(half)], noise);
      continue;
    }
    const double plain = draw_plain(lines, random);
    out[c] = cancelled_row ? cancel(lines, plain, noise) : shape_value(lines, outer, p, plain, noise);
  }
}

template <class DrawRow>
std::vector<std::byte> fill_operand(const Operand& operand, const DrawRow& draw) {
  std::vector<std::byte> contents(static_cast<size_t>(operand.span_bytes()));
  if (contents.empty()) return contents;
  for_ranges(operand.rows, kSmallestPart / operand.cols + 1, [&](int64_t begin, int64_t end) {
    std::vector<double> row(static_cast<size_t>(operand.cols));
    for (int64_t r = begin; r < end; ++r) {
      draw(r, std::span<double>(row));
      store_elements(operand.dtype, contents, r * operand.ld, row);
    }
  });
  return contents;
}

// C before the call. With beta 0 it must not be read: NaN in four families, in the others random, so that a
// kernel that leaves it alone is wrong in both.
std::vector<std::byte> fill_c(const Workload& workload, Family family, const IntegerPlan& integers,
                              bool whole, Scales scales, uint64_t seed) {
  const bool unread = workload.problem.beta == 0;
  const bool poisoned = unread && (family == Family::kUniform || family == Family::kExactIntegers ||
                                   family == Family::kOutlierRows || family == Family::kPermutation);
  const bool big = family == Family::kCancel;  // the sum that is left there is about 1 % of k scales
  const double depth = std::sqrt(static_cast<double>(std::max<int64_t>(workload.problem.k, 1)));
  const double size = scales.a * scales.b * (big ? 0.01 * depth : 1) * depth;
  return fill_operand(workload.operands[2], [&](int64_t row, std::span<double> out) {
    Random random(seed, static_cast<uint64_t>(row));
    for (double& value : out) {
      if (poisoned)
        value = kNan;
      else if (whole)
        value = draw_integer(random, std::max<int64_t>(integers.largest_c, 1));
      else
        value = size * random.normal();
    }
  });
}

Lines describe_operand(const Workload& workload, Family family, bool is_a, uint64_t seed) {
  const Problem& problem = workload.problem;
  const bool a_transposed = problem.layout == Layout::kTN || problem.layout == Layout::kTT;
  const bool b_transposed = problem.layout == Layout::kNT || problem.layout == Layout::kTT;
  Lines lines;
  lines.family = family;
  lines.is_a = is_a;
  lines.depth_along_row = is_a ? !a_transposed : b_transposed;
  lines.k = problem.k;
  lines.outers = is_a ? problem.m : problem.n;
  lines.seed = seed;
  return lines;
}

// alpha = 1, beta = 0: each output is one element of the other operand, whatever its value.
bool copies_elements(const Problem& problem, const Contract& contract) {
  const int input_bits = get_dtype_facts(contract.input).precision_bits;
  return problem.alpha == 1 && problem.beta == 0 &&
         get_dtype_facts(contract.accumulate).precision_bits >= input_bits &&
         get_dtype_facts(contract.output).precision_bits >= input_bits;
}

}  // namespace

const std::vector<FamilyName>& get_family_names() {
  static const std::vector<FamilyName> names = {
      {Family::kNormal, "normal"},
      {Family::kUniform, "uniform"},
      {Family::kPositive, "positive"},
      {Family::kExactIntegers, "exact_integers"},
      {Family::kSticky, "sticky"},
      {Family::kCancel, "cancel"},
      {Family::kTinyScale, "tiny_scale"},
      {Family::kLargeScale, "large_scale"},
      {Family::kOutlierRows, "outlier_rows"},
      {Family::kPermutation, "permutation"},
      {Family::kNanInf, "nan_inf"},
  };
  return names;
}

FamilyInputs make_family_inputs(const Workload& workload, const Contract& contract, Family family,
                                const std::vector<Rectangle>& compared, uint64_t seed) {
  const Problem& problem = workload.problem;
  KW_CHECK(workload.operands.size() == 3, "{} operands", workload.operands.size());
  Random seeds(seed);
  const uint64_t a_seed = seeds.next(), b_seed = seeds.next(), c_seed = seeds.next(), nan_seed = seeds.next();
  const bool a_selects = seeds.chance(0.5);
  const bool half =
      contract.input == Dtype::kF16 || contract.accumulate == Dtype::kF16 || contract.output == Dtype::kF16;
  const bool permutes = family == Family::kPermutation;
  const bool copies = permutes && copies_elements(problem, contract);
  const IntegerPlan integers = plan_integers(problem, contract, permutes ? 1 : problem.k);
  const bool whole = (family == Family::kExactIntegers || (permutes && !copies)) && integers.exact;

  FamilyInputs inputs;
  inputs.exact = copies || whole;
  Scales scales;
  for (const bool is_a : {true, false}) {
    Lines lines = describe_operand(workload, family, is_a, is_a ? a_seed : b_seed);
    lines.integers = integers;
    lines.selects = permutes && is_a == a_selects;
    lines.whole = whole;
    prepare(lines, half);
    (is_a ? scales.a : scales.b) = lines.scale;
    inputs.contents.push_back(
        fill_operand(workload.operands[is_a ? 0 : 1],
                     [&](int64_t row, std::span<double> out) { draw_row(lines, row, out); }));
  }
  inputs.contents.push_back(fill_c(workload, family, integers, whole, scales, c_seed));
  if (family == Family::kNanInf) place_nan_inf(workload, contract, compared, nan_seed, inputs.contents);
  return inputs;
}

}  // namespace kw
