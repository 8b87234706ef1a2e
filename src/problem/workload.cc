// In: a checked Problem. Out: its operands as stored, sizes, scalars, useful flops and least traffic.
// Called by make_checks, verify and measure through the loop; fills no operand with values.
#include "problem/workload.h"

#include "base/check.h"

namespace kw {

Workload make_workload(const Problem& problem) {
  const Status checked = check_problem(problem);
  KW_CHECK(checked.has_value(), "{}", checked ? "" : checked.error().message);
  const bool a_transposed = problem.layout == Layout::kTN || problem.layout == Layout::kTT;
  const bool b_transposed = problem.layout == Layout::kNT || problem.layout == Layout::kTT;
  const int64_t m = problem.m, n = problem.n, k = problem.k;

  Workload workload;
  workload.problem = problem;
  workload.operands = {
      {"a", problem.dtype, a_transposed ? k : m, a_transposed ? m : k, problem.lda, Access::kIn},
      {"b", problem.dtype, b_transposed ? n : k, b_transposed ? k : n, problem.ldb, Access::kIn},
      {"c", problem.dtype, m, n, problem.ldc, problem.beta != 0 ? Access::kInOut : Access::kOut},
  };
  workload.size_names = {"m", "n", "k", "lda", "ldb", "ldc"};
  workload.sizes = {m, n, k, problem.lda, problem.ldb, problem.ldc};
  workload.scalars = {problem.alpha, problem.beta};

  const double rows = static_cast<double>(m), cols = static_cast<double>(n), depth = static_cast<double>(k);
  const double c_passes = problem.beta != 0 ? 2 : 1;
  workload.flops = 2 * rows * cols * depth;
  workload.bytes = static_cast<double>(dtype_bytes(problem.dtype)) *
                   (rows * depth + depth * cols + c_passes * rows * cols);
  return workload;
}

}  // namespace kw
