#include "problem/spot.h"

#include <cmath>

#include "problem/rounding.h"
#include "record/element.h"

namespace kw {
namespace {

struct Product {
  double value = 0, magnitude = 0;  // (A B)_ij, (|A| |B|)_ij
};

Product compute_product(const Workload& workload, std::span<const std::span<const std::byte>> operands,
                        int64_t row, int64_t col) {
  const Operand &a = workload.operands[0], &b = workload.operands[1];
  const Layout layout = workload.problem.layout;
  const bool a_transposed = layout == Layout::kTN || layout == Layout::kTT;
  const bool b_transposed = layout == Layout::kNT || layout == Layout::kTT;
  Product product;
  for (int64_t p = 0; p < workload.problem.k; ++p) {
    const double left = load_element(a.dtype, operands[0], a_transposed ? p * a.ld + row : row * a.ld + p);
    const double right = load_element(b.dtype, operands[1], b_transposed ? col * b.ld + p : p * b.ld + col);
    product.value += left * right;
    product.magnitude += std::abs(left * right);
  }
  return product;
}

}  // namespace

SpotReference make_spot_reference(const Workload& workload, const Contract& contract) {
  const ErrorBound bound(workload.problem, contract);
  return [workload, bound](std::span<const std::span<const std::byte>> operands, const Spot& spot) {
    const double alpha = workload.problem.alpha, beta = workload.problem.beta;
    const Product product = compute_product(workload, operands, spot.row, spot.col);
    SpotValue now{beta == 0 ? 0 : spot.before, 0};
    for (int64_t call = 0; call < (beta == 0 ? 1 : spot.calls); ++call) {
      const double previous = std::abs(now.value);
      now.value = alpha * product.value + beta * now.value;
      now.bound = std::abs(beta) * now.bound + bound.at({now.value, product.magnitude, previous});
    }
    return now;
  };
}

}  // namespace kw
