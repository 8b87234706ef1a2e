// A few wrong elements of a GEMM with all that went into them, and the test whether a guess explains them.
// Used by diagnose_gemm.cc, diagnose_precision.cc and diagnose_products.cc; names nothing itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "verify/compare.h"
#include "verify/reason.h"

namespace kw {

struct GemmSample {
  WrongElement element;
  std::vector<double> a, b;  // (k) factors
  double c = 0;              // before the call; 0 when beta is 0
  double tolerance = 0;      // what an explanation may miss by
};

// A failed check of C = alpha op(A) op(B) + beta C. Points into both arguments of make_gemm_case.
struct GemmCase {
  const Check& check;
  const Scene& scene;
  int64_t m, n, k;
  double alpha, beta;
  bool a_transposed, b_transposed;

  const Operand& operand(size_t index) const { return check.workload.operands[index]; }
  // Element of A or B by its place in memory; nothing beyond the operand.
  [[nodiscard]] std::optional<double> load(size_t index, int64_t at) const;
  // The whole value from a sum of products.
  double finish(double sum, double c) const {
    return (alpha == 0 ? 0 : alpha * sum) + (beta == 0 ? 0 : beta * c);
  }
};

// Nothing when the workload is no GEMM.
[[nodiscard]] std::optional<GemmCase> make_gemm_case(const Check& check, const Scene& scene);

// How an operand is addressed: element (x, y) of the matrix lies at x * row_step + y * col_step + offset.
struct Addressing {
  int64_t row_step = 0, col_step = 0, offset = 0;
  bool operator==(const Addressing&) const = default;
};
[[nodiscard]] Addressing get_addressing(const GemmCase& gemm, size_t index);

// Nothing when a factor would lie beyond its operand.
[[nodiscard]] std::optional<GemmSample> load_sample(const GemmCase& gemm, const WrongElement& element,
                                                    const Addressing& a, const Addressing& b);

// The clearest wrong elements (largest difference over bound) with finite values, spread over the output.
[[nodiscard]] std::vector<WrongElement> choose_elements(const Comparison& comparison);

[[nodiscard]] double sum_products(const GemmSample& sample);

using Explanation = std::function<double(const GemmSample&)>;

// Largest |explanation - what the kernel gave| over tolerance, at most 1; infinite when a sample is not
// explained.
[[nodiscard]] double find_misfit(const std::vector<GemmSample>& samples, const Explanation& explanation);

// True when the explanation gives what the kernel gave, for every sample or (where a value next to a rounding
// boundary may fall to either side) for three in four.
enum class Agreement { kAll, kMost };
[[nodiscard]] bool explains(const std::vector<GemmSample>& samples, const Explanation& explanation,
                            Agreement agreement = Agreement::kAll);

[[nodiscard]] std::optional<Named> find_precision_explanation(const GemmCase& gemm,
                                                              const std::vector<GemmSample>& samples);
// Inner products missing or added twice.
[[nodiscard]] std::optional<Named> find_product_explanation(const GemmCase& gemm,
                                                            const std::vector<GemmSample>& samples);

}  // namespace kw
