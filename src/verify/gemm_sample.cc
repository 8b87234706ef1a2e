#include "verify/gemm_sample.h"

#include <algorithm>
#include <cmath>

#include "verify/element.h"

namespace kw {
namespace {

constexpr size_t kSamples = 24;
constexpr size_t kSampledFrom = 512;  // wrong elements looked at to find the clearest ones
// What an explanation may miss by: so many bounds; where the bound does not speak of these factors (equality
// was demanded, or they were read elsewhere), sqrt(k + 8) times this share of the magnitudes.
constexpr double kToleranceBounds = 4, kToleranceRelative = 0x1p-20;

}  // namespace

std::optional<double> GemmCase::load(size_t index, int64_t at) const {
  if (at < 0 || at >= operand(index).span()) return std::nullopt;
  return load_element(operand(index).dtype, scene.memory[index], at);
}

std::optional<GemmCase> make_gemm_case(const Check& check, const Scene& scene) {
  const Workload& workload = check.workload;
  if (workload.problem.op != "gemm" || workload.operands.size() != 3 || check.output != 2)
    return std::nullopt;
  const Problem& problem = workload.problem;
  const bool a_transposed = problem.layout == Layout::kTN || problem.layout == Layout::kTT;
  const bool b_transposed = problem.layout == Layout::kNT || problem.layout == Layout::kTT;
  return GemmCase{check,         scene,        problem.m,    problem.n,   problem.k,
                  problem.alpha, problem.beta, a_transposed, b_transposed};
}

Addressing get_addressing(const GemmCase& gemm, size_t index) {
  const int64_t ld = gemm.operand(index).ld;
  const bool transposed = index == 0 ? gemm.a_transposed : gemm.b_transposed;
  return transposed ? Addressing{1, ld, 0} : Addressing{ld, 1, 0};
}

std::optional<GemmSample> load_sample(const GemmCase& gemm, const WrongElement& element, const Addressing& a,
                                      const Addressing& b) {
  GemmSample sample;
  sample.element = element;
  double magnitude = 0;
  for (int64_t p = 0; p < gemm.k; ++p) {
    const auto left = gemm.load(0, element.row * a.row_step + p * a.col_step + a.offset);
    const auto right = gemm.load(1, p * b.row_step + element.col * b.col_step + b.offset);
    if (!left || !right) return std::nullopt;
    sample.a.push_back(*left);
    sample.b.push_back(*right);
    magnitude += std::fabs(*left * *right);
  }
  if (gemm.beta != 0) {
    sample.c = load_element(gemm.operand(2).dtype, gemm.scene.before,
                            element.row * gemm.operand(2).ld + element.col);
  }
  const double scale = std::fabs(gemm.alpha) + std::fabs(gemm.beta) + 1;
  const double depth = std::sqrt(static_cast<double>(gemm.k + 8));
  const double rounding = kToleranceRelative * depth * scale * (magnitude + std::fabs(sample.c));
  const bool as_they_are = a == get_addressing(gemm, 0) && b == get_addressing(gemm, 1);
  const double output_rounding =
      get_dtype_facts(gemm.operand(2).dtype).unit_roundoff * std::fabs(element.got);
  sample.tolerance = kToleranceBounds * element.bound + output_rounding;
  if (element.bound == 0 || !as_they_are) sample.tolerance += rounding;
  return sample;
}

std::vector<WrongElement> choose_elements(const Comparison& comparison) {
  std::vector<WrongElement> chosen;
  const size_t step = std::max<size_t>(1, comparison.elements.size() / kSampledFrom);
  for (size_t at = 0; at < comparison.elements.size(); at += step) {
    const WrongElement& element = comparison.elements[at];
    if (std::isfinite(element.got) && std::isfinite(element.want)) chosen.push_back(element);
  }
  const auto clarity = [](const WrongElement& element) {
    return std::fabs(element.got - element.want) / (element.bound + 1e-30);
  };
  std::stable_sort(chosen.begin(), chosen.end(), [&](const WrongElement& left, const WrongElement& right) {
    return clarity(left) > clarity(right);
  });
  if (chosen.size() > kSamples) chosen.resize(kSamples);
  return chosen;
}

double sum_products(const GemmSample& sample) {
  double sum = 0;
  for (size_t p = 0; p < sample.a.size(); ++p) sum += sample.a[p] * sample.b[p];
  return sum;
}

double find_misfit(const std::vector<GemmSample>& samples, const Explanation& explanation) {
  double worst = 0;
  for (const GemmSample& sample : samples) {
    const double misfit = std::fabs(explanation(sample) - sample.element.got) / sample.tolerance;
    const bool explained = misfit <= 1;
    if (!explained) return INFINITY;
    worst = std::max(worst, misfit);
  }
  return worst;
}

bool explains(const std::vector<GemmSample>& samples, const Explanation& explanation, Agreement agreement) {
  const auto fits = [&](const GemmSample& sample) {
    return std::fabs(explanation(sample) - sample.element.got) <= sample.tolerance;
  };
  if (agreement == Agreement::kAll) return std::all_of(samples.begin(), samples.end(), fits);
  return std::count_if(samples.begin(), samples.end(), fits) * 4 >=
         static_cast<std::ptrdiff_t>(samples.size()) * 3;
}

}  // namespace kw
