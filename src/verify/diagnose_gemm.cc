// See diagnose_gemm.h. Each explanation is a function of a sampled element; the first that gives what the
// kernel gave, for every sample, is the name.
#include "verify/diagnose_gemm.h"

#include <cmath>
#include <string>
#include <vector>

#include "verify/element.h"
#include "verify/gemm_sample.h"

namespace kw {
namespace {

std::optional<Named> find_scalar_explanation(const GemmCase& gemm, const std::vector<GemmSample>& samples) {
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
    const auto value = [&](const GemmSample& s) {
      const double kept = variant.beta == 0 ? 0 : variant.beta * s.c;
      return variant.alpha * sum_products(s) + kept;
    };
    if (explains(samples, value)) {
      return Named{VerdictClass::kWrongResult, variant.reason, {{"explanation", variant.note}}};
    }
  }
  return std::nullopt;
}

// The whole sample recomputed with another way of addressing A or B.
std::optional<Named> find_addressing_explanation(const GemmCase& gemm,
                                                 const std::vector<WrongElement>& elements) {
  const Addressing right[] = {get_addressing(gemm, 0), get_addressing(gemm, 1)};
  const auto fits = [&](size_t index, const Addressing& changed) {
    size_t used = 0, fitting = 0;  // most, not all: the rim of a packed panel may hold something else
    for (const WrongElement& element : elements) {
      const auto sample =
          load_sample(gemm, element, index == 0 ? changed : right[0], index == 1 ? changed : right[1]);
      if (!sample) continue;
      const double value = gemm.finish(sum_products(*sample), sample->c);
      fitting += std::fabs(value - element.got) <= sample->tolerance;
      ++used;
    }
    return used > 0 && used * 4 >= elements.size() && fitting * 4 >= used * 3;
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

// beta times another element of C.
std::optional<Named> find_other_c(const GemmCase& gemm, const std::vector<GemmSample>& samples) {
  if (gemm.beta == 0) return std::nullopt;
  const Operand& c = gemm.operand(2);
  for (const int64_t offset : {int64_t{1}, int64_t{-1}, c.ld, -c.ld}) {
    const auto value = [&](const GemmSample& s) {
      const int64_t at = s.element.row * c.ld + s.element.col + offset;
      const bool inside = at >= 0 && at < c.span();
      return gemm.finish(sum_products(s), inside ? load_element(c.dtype, gemm.scene.before, at) : 0);
    };
    if (explains(samples, value))
      return Named{VerdictClass::kWrongResult, "shifted_" + c.name, {{"offset", offset}}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Named> find_gemm_special_explanation(const Check& check, const Comparison& comparison,
                                                   const Scene& scene) {
  const auto gemm = make_gemm_case(check, scene);
  if (!gemm || gemm->alpha != 0 || gemm->k == 0) return std::nullopt;
  for (const WrongElement& element : comparison.elements)
    if (!std::isfinite(element.want) || std::isfinite(element.got)) return std::nullopt;
  return Named{VerdictClass::kWrongResult, "alpha_zero", {{"explanation", "0 times NaN or Inf of A or B"}}};
}

std::optional<Named> find_gemm_explanation(const Check& check, const Comparison& comparison,
                                           const Scene& scene) {
  const auto gemm = make_gemm_case(check, scene);
  if (!gemm) return std::nullopt;
  const std::vector<WrongElement> elements = choose_elements(comparison);
  std::vector<GemmSample> samples;
  for (const WrongElement& element : elements) {
    auto sample = load_sample(*gemm, element, get_addressing(*gemm, 0), get_addressing(*gemm, 1));
    if (sample) samples.push_back(std::move(*sample));
  }
  if (samples.empty()) return std::nullopt;
  if (auto named = find_scalar_explanation(*gemm, samples)) return named;
  if (auto named = find_precision_explanation(*gemm, samples)) return named;
  if (auto named = find_addressing_explanation(*gemm, elements)) return named;
  if (auto named = find_other_c(*gemm, samples)) return named;
  return find_product_explanation(*gemm, samples);
}

}  // namespace kw
