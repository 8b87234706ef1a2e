// See diagnose_gemm.h. Each explanation is a function of a sampled element; the first that gives what the
// kernel gave, for every sample, is the name.
#include "verify/diagnose_gemm.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "verify/element.h"

namespace kw {
namespace {

constexpr size_t kSamples = 24;
constexpr size_t kSampledFrom = 512;            // wrong elements looked at to find the clearest ones
constexpr int64_t kMaxInterval = 4096;          // k up to which every interval of products is tried
constexpr double kToleranceBounds = 4;          // an explanation may miss by so many bounds ...
constexpr double kToleranceRelative = 0x1p-23;  // ... and (k + 8) times this share of the sum of magnitudes

struct Sample {
  WrongElement element;
  std::vector<double> a, b;  // (k) factors
  double c = 0;              // before the call
  double tolerance = 0;
};

struct Gemm {
  const Check& check;
  const Scene& scene;
  int64_t m, n, k;
  double alpha, beta;
  bool a_transposed, b_transposed;

  const Operand& operand(size_t index) const { return check.workload.operands[index]; }
  // Element of A or B by its place in memory; nothing beyond the operand.
  std::optional<double> load(size_t index, int64_t at) const {
    if (at < 0 || at >= operand(index).span()) return std::nullopt;
    return load_element(operand(index).dtype, scene.memory[index], at);
  }
};

std::optional<Gemm> make_gemm(const Check& check, const Scene& scene) {
  const Workload& workload = check.workload;
  if (workload.problem.op != "gemm" || workload.operands.size() != 3 || check.output != 2)
    return std::nullopt;
  const Problem& problem = workload.problem;
  const bool a_transposed = problem.layout == Layout::kTN || problem.layout == Layout::kTT;
  const bool b_transposed = problem.layout == Layout::kNT || problem.layout == Layout::kTT;
  return Gemm{check,         scene,        problem.m,    problem.n,   problem.k,
              problem.alpha, problem.beta, a_transposed, b_transposed};
}

// How an operand is addressed: element (x, y) of the matrix lies at x * row_step + y * col_step + offset.
struct Addressing {
  int64_t row_step = 0, col_step = 0, offset = 0;
};

Addressing get_addressing(const Gemm& gemm, size_t index) {
  const int64_t ld = gemm.operand(index).ld;
  const bool transposed = index == 0 ? gemm.a_transposed : gemm.b_transposed;
  return transposed ? Addressing{1, ld, 0} : Addressing{ld, 1, 0};
}

std::optional<Sample> load_sample(const Gemm& gemm, const WrongElement& element, const Addressing& a,
                                  const Addressing& b) {
  Sample sample;
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
  sample.tolerance = kToleranceBounds * element.bound + kToleranceRelative * static_cast<double>(gemm.k + 8) *
                                                            scale * (magnitude + std::fabs(sample.c));
  return sample;
}

// The clearest wrong elements (largest difference over bound) with finite values, spread over the output.
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

double sum_products(const Sample& sample) {
  double sum = 0;
  for (size_t p = 0; p < sample.a.size(); ++p) sum += sample.a[p] * sample.b[p];
  return sum;
}

double sum_rounded_inputs(const Sample& sample, Dtype dtype) {
  double sum = 0;
  for (size_t p = 0; p < sample.a.size(); ++p)
    sum += round_to_dtype(dtype, sample.a[p]) * round_to_dtype(dtype, sample.b[p]);
  return sum;
}

double sum_truncated_inputs(const Sample& sample) {
  const auto truncate = [](double value) {  // bf16 by cutting the low half of the f32
    std::byte bytes[4];
    store_element(Dtype::kF32, bytes, 0, value);
    write_bits(Dtype::kF32, bytes, 0, read_bits(Dtype::kF32, bytes, 0) & 0xffff0000);
    return load_element(Dtype::kF32, bytes, 0);
  };
  double sum = 0;
  for (size_t p = 0; p < sample.a.size(); ++p) sum += truncate(sample.a[p]) * truncate(sample.b[p]);
  return sum;
}

double sum_in_order(const Sample& sample, Dtype accumulator, bool round_inputs) {
  double sum = 0;
  for (size_t p = 0; p < sample.a.size(); ++p) {
    const double a = round_inputs ? round_to_dtype(accumulator, sample.a[p]) : sample.a[p];
    const double b = round_inputs ? round_to_dtype(accumulator, sample.b[p]) : sample.b[p];
    sum = round_to_dtype(accumulator, sum + a * b);
  }
  return sum;
}

using Explanation = std::function<double(const Sample&)>;

bool explains(const std::vector<Sample>& samples, const Explanation& explanation) {
  return std::all_of(samples.begin(), samples.end(), [&](const Sample& sample) {
    return std::fabs(explanation(sample) - sample.element.got) <= sample.tolerance;
  });
}

std::optional<Named> find_scalar_explanation(const Gemm& gemm, const std::vector<Sample>& samples) {
  const double alpha = gemm.alpha, beta = gemm.beta;
  struct Variant {
    const char* reason;
    const char* note;
    double alpha, beta;
  };
  const Variant variants[] = {
      {"zeros", "neither products nor C", 0, 0},
      {"alpha", "products missing", 0, beta},
      {"beta_ignored", "C is not added", alpha, 0},
      {"sign", "products negated", -alpha, beta},
      {"sign", "all negated", -alpha, -beta},
      {"sign", "C subtracted", alpha, -beta},
      {"alpha", "alpha ignored", 1, beta},
      {"alpha", "alpha applied twice", alpha * alpha, beta},
      {"beta", "C added without beta", alpha, 1},
      {"beta", "beta applied twice", alpha, beta * beta},
      {"beta", "alpha applied to C too", alpha, alpha * beta},
      {"alpha", "beta instead of alpha", beta, beta},
      {"beta", "alpha instead of beta", alpha, alpha},
  };
  for (const Variant& variant : variants) {
    if (variant.alpha == alpha && variant.beta == beta) continue;
    const auto value = [&](const Sample& s) {
      const double kept = variant.beta == 0 ? 0 : variant.beta * s.c;
      return variant.alpha * sum_products(s) + kept;
    };
    if (explains(samples, value)) {
      return Named{VerdictClass::kWrongResult, variant.reason, {{"explanation", variant.note}}};
    }
  }
  return std::nullopt;
}

std::optional<Named> find_precision_explanation(const Gemm& gemm, const std::vector<Sample>& samples) {
  const auto name = [](const char* reason) {
    return Named{
        VerdictClass::kPrecisionDowngrade, reason, {{"explanation", "recomputed with this rounding"}}};
  };
  const auto finish = [&](const Sample& s, double sum) {
    return gemm.alpha * sum + (gemm.beta == 0 ? 0 : gemm.beta * s.c);
  };
  const Explanation bf16 = [&](const Sample& s) { return finish(s, sum_rounded_inputs(s, Dtype::kBf16)); };
  const Explanation cut = [&](const Sample& s) { return finish(s, sum_truncated_inputs(s)); };
  const Explanation f16 = [&](const Sample& s) { return finish(s, sum_rounded_inputs(s, Dtype::kF16)); };
  if (explains(samples, bf16) || explains(samples, cut)) return name("bf16_inputs");
  if (explains(samples, f16)) return name("f16_inputs");
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16}) {
    const bool half = dtype == Dtype::kF16;
    for (const bool round_inputs : {false, true}) {
      const Explanation ordered = [&](const Sample& s) {
        return finish(s, sum_in_order(s, dtype, round_inputs));
      };
      if (explains(samples, ordered)) return name(half ? "f16_accumulator" : "bf16_accumulator");
    }
    const Explanation output = [&](const Sample& s) {
      return round_to_dtype(dtype, finish(s, sum_products(s)));
    };
    if (explains(samples, output)) return name(half ? "f16_output" : "bf16_output");
  }
  return std::nullopt;
}

// Products [first, last) missing (or added twice) that give exactly the difference seen in every sample.
std::optional<Named> find_missing_products(const Gemm& gemm, const std::vector<Sample>& samples) {
  std::vector<std::vector<double>> prefix;  // per sample (k + 1)
  for (const Sample& sample : samples) {
    std::vector<double> sums{0};
    for (size_t p = 0; p < sample.a.size(); ++p) sums.push_back(sums.back() + sample.a[p] * sample.b[p]);
    prefix.push_back(std::move(sums));
  }
  const auto fits = [&](size_t first, size_t last, double times) {
    for (size_t at = 0; at < samples.size(); ++at) {
      const double part = gemm.alpha * (prefix[at][last] - prefix[at][first]) * times;
      const double change = samples[at].element.got - samples[at].element.want;
      if (!(std::fabs(change - part) <= samples[at].tolerance)) return false;
    }
    return true;
  };
  const auto k = static_cast<size_t>(gemm.k);
  const auto name = [&](const char* reason, size_t first, size_t last) {
    return Named{VerdictClass::kWrongResult, reason, {{"products", {first, last}}}};
  };
  for (size_t first = k; first-- > 1;) {
    if (fits(first, k, -1)) return name("k_tail", first, k);
  }
  for (size_t last = 1; last < k; ++last) {
    if (fits(0, last, -1)) return name("k_head", 0, last);
  }
  const bool try_all = gemm.k <= kMaxInterval;
  for (size_t first = 0; first < k; ++first) {
    const size_t end = try_all ? k : std::min(k, first + 64);
    for (size_t last = first + 1; last <= end; ++last) {
      if (fits(first, last, -1)) return name("k_gap", first, last);
      if (fits(first, last, 1)) return name("k_twice", first, last);
    }
  }
  return std::nullopt;
}

// The whole sample recomputed with another way of addressing A or B.
std::optional<Named> find_addressing_explanation(const Gemm& gemm,
                                                 const std::vector<WrongElement>& elements) {
  const Addressing right[] = {get_addressing(gemm, 0), get_addressing(gemm, 1)};
  const auto fits = [&](size_t index, const Addressing& changed) {
    size_t used = 0;
    for (const WrongElement& element : elements) {
      const auto sample =
          load_sample(gemm, element, index == 0 ? changed : right[0], index == 1 ? changed : right[1]);
      if (!sample) continue;
      const double value = gemm.alpha * sum_products(*sample) + (gemm.beta == 0 ? 0 : gemm.beta * sample->c);
      if (!(std::fabs(value - element.got) <= sample->tolerance)) return false;
      ++used;
    }
    return used * 4 >= elements.size() && used > 0;
  };
  for (size_t index = 0; index < 2; ++index) {
    const std::string& name = gemm.operand(index).name;
    const Addressing& plain = right[index];
    const bool transposed = plain.row_step == 1 && plain.col_step == gemm.operand(index).ld;
    if (fits(index, {plain.col_step, plain.row_step, 0})) {
      return Named{VerdictClass::kWrongResult, "transposed_" + name};
    }
    const int64_t lds[] = {gemm.operand(index).cols,
                           gemm.operand(index).rows,
                           gemm.operand(1 - index).ld,
                           gemm.operand(2).ld,
                           gemm.m,
                           gemm.n,
                           gemm.k,
                           plain.row_step * plain.col_step + 1,
                           plain.row_step * plain.col_step - 1};
    for (const int64_t ld : lds) {
      const Addressing changed = transposed ? Addressing{1, ld, 0} : Addressing{ld, 1, 0};
      if (ld == gemm.operand(index).ld || !fits(index, changed)) continue;
      return Named{VerdictClass::kWrongResult, "wrong_ld_" + name, {{"ld_used", ld}}};
    }
    for (const int64_t offset : {int64_t{1}, int64_t{-1}, gemm.operand(index).ld, -gemm.operand(index).ld}) {
      if (!fits(index, {plain.row_step, plain.col_step, offset})) continue;
      return Named{VerdictClass::kWrongResult, "shifted_" + name, {{"offset", offset}}};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Named> find_gemm_explanation(const Check& check, const Comparison& comparison,
                                           const Scene& scene) {
  const auto gemm = make_gemm(check, scene);
  if (!gemm) return std::nullopt;
  const std::vector<WrongElement> elements = choose_elements(comparison);
  std::vector<Sample> samples;
  for (const WrongElement& element : elements) {
    auto sample = load_sample(*gemm, element, get_addressing(*gemm, 0), get_addressing(*gemm, 1));
    if (sample) samples.push_back(std::move(*sample));
  }
  if (samples.empty()) return std::nullopt;
  if (auto named = find_scalar_explanation(*gemm, samples)) return named;
  if (auto named = find_precision_explanation(*gemm, samples)) return named;
  if (auto named = find_addressing_explanation(*gemm, elements)) return named;
  return find_missing_products(*gemm, samples);
}

}  // namespace kw
