#include "problem/workload.h"

#include <gtest/gtest.h>

#include "record/launch.h"

namespace kw {
namespace {

Problem make_problem(Layout layout, double beta) {
  Problem problem;
  problem.layout = layout;
  problem.m = 3, problem.n = 5, problem.k = 7;
  problem.beta = beta;
  return with_tight_strides(problem);
}

TEST(Workload, holds_operands_as_stored_in_every_layout) {
  struct Case {
    Layout layout;
    int64_t a_rows, a_cols, b_rows, b_cols;
  };
  for (const Case& c : {Case{Layout::kNN, 3, 7, 7, 5}, Case{Layout::kNT, 3, 7, 5, 7},
                        Case{Layout::kTN, 7, 3, 7, 5}, Case{Layout::kTT, 7, 3, 5, 7}}) {
    const Workload workload = make_workload(make_problem(c.layout, 0));
    EXPECT_EQ(workload.operands[0].rows, c.a_rows);
    EXPECT_EQ(workload.operands[0].cols, c.a_cols);
    EXPECT_EQ(workload.operands[0].ld, c.a_cols);
    EXPECT_EQ(workload.operands[1].rows, c.b_rows);
    EXPECT_EQ(workload.operands[1].cols, c.b_cols);
    EXPECT_EQ(workload.operands[2].rows, 3);
    EXPECT_EQ(workload.operands[2].cols, 5);
  }
}

TEST(Workload, counts_flops_and_least_traffic) {
  const Workload once = make_workload(make_problem(Layout::kNN, 0));
  EXPECT_EQ(once.flops, 210);  // 2 * 3 * 5 * 7
  EXPECT_EQ(once.bytes, 4 * (21 + 35 + 15));
  EXPECT_EQ(once.operands[2].access, Access::kOut);
  const Workload twice = make_workload(make_problem(Layout::kNN, 0.5));
  EXPECT_EQ(twice.bytes, 4 * (21 + 35 + 30));
  EXPECT_EQ(twice.operands[2].access, Access::kInOut);
}

TEST(Workload, gives_launch_variables_with_threads) {
  const Variables variables = make_variables(make_workload(make_problem(Layout::kNT, 0)), 2);
  EXPECT_EQ(variables,
            (Variables{{"m", 3}, {"n", 5}, {"k", 7}, {"lda", 7}, {"ldb", 7}, {"ldc", 5}, {"threads", 2}}));
}

}  // namespace
}  // namespace kw
