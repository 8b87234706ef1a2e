// Wrong elements recomputed with roundings to narrower types: of operands, products, the accumulator, partial
// sums, the result. See gemm_sample.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "verify/element.h"
#include "verify/gemm_sample.h"

namespace kw {
namespace {

// One way to make values narrow: to nearest, or by cutting the low bits of the f32.
struct Narrow {
  const char* type;
  Dtype dtype;
  uint32_t cut_bits;  // 0 = to nearest

  double round(double value) const {
    if (cut_bits == 0) return round_to_dtype(dtype, value);
    std::byte bytes[4];
    store_element(Dtype::kF32, bytes, 0, value);
    write_bits(Dtype::kF32, bytes, 0, read_bits(Dtype::kF32, bytes, 0) >> cut_bits << cut_bits);
    return load_element(Dtype::kF32, bytes, 0);
  }
};

constexpr std::array<Narrow, 4> kNarrow = {{{"bf16", Dtype::kBf16, 0},
                                            {"bf16", Dtype::kBf16, 16},
                                            {"f16", Dtype::kF16, 0},
                                            {"f16", Dtype::kF16, 13}}};

class PrecisionSearch {
 public:
  PrecisionSearch(const GemmCase& gemm, const std::vector<GemmSample>& samples)
      : gemm_(gemm), samples_(samples) {}

  std::optional<Named> run() const {
    // Where k is large several types explain within tolerance: the closest is it.
    const Narrow* closest = nullptr;
    double least = 1;
    for (const Narrow& narrow : kNarrow) {
      const double misfit = find_input_misfit(narrow);
      if (misfit <= least) closest = &narrow, least = misfit;
    }
    if (closest != nullptr) return name(*closest, "inputs");
    for (const Narrow& narrow : kNarrow) {
      if (narrow.cut_bits != 0) continue;
      if (rounds_accumulator(narrow, false) || rounds_accumulator(narrow, true))
        return name(narrow, "accumulator");
      if (rounds_output(narrow)) return name(narrow, "output");
      if (rounds_products(narrow)) return name(narrow, "products");
      if (rounds_partials(narrow)) return name(narrow, "partials");
    }
    return std::nullopt;
  }

 private:
  static Named name(const Narrow& narrow, const char* what) {
    return {VerdictClass::kPrecisionDowngrade,
            std::string(narrow.type) + "_" + what,
            {{"explanation", "recomputed with this rounding"}}};
  }

  // A and B rounded, one of them, or C.
  double find_input_misfit(const Narrow& narrow) const {
    double least = INFINITY;
    for (const auto& [round_a, round_b] : {std::pair(true, true), {true, false}, {false, true}}) {
      const Explanation rounded = [&, round_a = round_a, round_b = round_b](const GemmSample& s) {
        double sum = 0;
        for (size_t p = 0; p < s.a.size(); ++p)
          sum += (round_a ? narrow.round(s.a[p]) : s.a[p]) * (round_b ? narrow.round(s.b[p]) : s.b[p]);
        return gemm_.finish(sum, s.c);
      };
      least = std::min(least, find_misfit(samples_, rounded));
    }
    const Explanation rounded_c = [&](const GemmSample& s) {
      return gemm_.finish(sum_products(s), narrow.round(s.c));
    };
    return gemm_.beta == 0 ? least : std::min(least, find_misfit(samples_, rounded_c));
  }

  bool rounds_accumulator(const Narrow& narrow, bool inputs_too) const {
    const auto input = [&](double value) { return inputs_too ? narrow.round(value) : value; };
    const Explanation ordered = [&](const GemmSample& s) {
      double sum = 0;
      for (size_t p = 0; p < s.a.size(); ++p) sum = narrow.round(sum + input(s.a[p]) * input(s.b[p]));
      return gemm_.finish(sum, s.c);
    };
    return explains(samples_, ordered, Agreement::kMost);
  }

  // The whole result, or the product before C is added.
  bool rounds_output(const Narrow& narrow) const {
    const Explanation whole = [&](const GemmSample& s) {
      return narrow.round(gemm_.finish(sum_products(s), s.c));
    };
    const Explanation product = [&](const GemmSample& s) {
      return narrow.round(gemm_.alpha * sum_products(s)) + (gemm_.beta == 0 ? 0 : gemm_.beta * s.c);
    };
    return explains(samples_, whole, Agreement::kMost) || explains(samples_, product, Agreement::kMost);
  }

  bool rounds_products(const Narrow& narrow) const {
    const Explanation products = [&](const GemmSample& s) {
      double sum = 0;
      for (size_t p = 0; p < s.a.size(); ++p) sum += narrow.round(s.a[p] * s.b[p]);
      return gemm_.finish(sum, s.c);
    };
    return explains(samples_, products, Agreement::kMost);
  }

  // Split-k: k in equal parts, in parts rounded up, or in parts rounded up to 16.
  bool rounds_partials(const Narrow& narrow) const {
    const int64_t k = gemm_.k;
    for (const int64_t parts : {2, 3, 4, 6, 8, 16}) {
      const int64_t up = (k + parts - 1) / parts, up_16 = (up + 15) / 16 * 16;
      for (const int64_t each : {int64_t{0}, up, up_16}) {
        const auto border = [&](int64_t part) {
          return static_cast<size_t>(each == 0 ? k * part / parts : std::min(part * each, k));
        };
        const Explanation partials = [&](const GemmSample& s) {
          double sum = 0;
          for (int64_t part = 0; part < parts; ++part) {
            double one = 0;
            for (size_t p = border(part); p < border(part + 1); ++p) one += s.a[p] * s.b[p];
            sum += narrow.round(one);
          }
          return gemm_.finish(sum, s.c);
        };
        if (explains(samples_, partials, Agreement::kMost)) return true;
      }
    }
    return false;
  }

  const GemmCase& gemm_;
  const std::vector<GemmSample>& samples_;
};

}  // namespace

std::optional<Named> find_precision_explanation(const GemmCase& gemm,
                                                const std::vector<GemmSample>& samples) {
  return PrecisionSearch(gemm, samples).run();
}

}  // namespace kw
