#include "problem/spot.h"

#include <gtest/gtest.h>

#include <cstring>

#include "problem/workload.h"

namespace kw {
namespace {

std::vector<std::byte> as_bytes(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

SpotValue look(Layout layout, double alpha, double beta, const Spot& spot) {
  Problem problem;
  problem.layout = layout;
  problem.m = 2, problem.n = 2, problem.k = 2, problem.alpha = alpha, problem.beta = beta;
  const auto a = as_bytes({1, 2, 3, 4}), b = as_bytes({5, 6, 7, 8}), c = as_bytes({0, 0, 0, 0});
  const std::vector<std::span<const std::byte>> operands = {a, b, c};
  return make_spot_reference(make_workload(with_tight_strides(problem)), {})(operands, spot);
}

TEST(SpotReference, knows_every_layout) {
  EXPECT_EQ(look(Layout::kNN, 1, 0, {0, 1}).value, 1 * 6 + 2 * 8);
  EXPECT_EQ(look(Layout::kNT, 1, 0, {0, 1}).value, 1 * 7 + 2 * 8);
  EXPECT_EQ(look(Layout::kTN, 1, 0, {0, 1}).value, 1 * 6 + 3 * 8);
  EXPECT_EQ(look(Layout::kTT, 1, 0, {0, 1}).value, 1 * 7 + 3 * 8);
}

TEST(SpotReference, follows_the_output_through_repeated_calls) {
  const double sum = 22;  // row 0, column 1
  EXPECT_EQ(look(Layout::kNN, 2, 0.5, {0, 1, 8, 1}).value, 2 * sum + 4);
  EXPECT_EQ(look(Layout::kNN, 2, 0.5, {0, 1, 8, 2}).value, 2 * sum + 0.5 * (2 * sum + 4));
  EXPECT_EQ(look(Layout::kNN, 2, 0, {0, 1, 8, 7}).value, 2 * sum);
}

TEST(SpotReference, its_bound_grows_with_repeated_calls_and_is_never_zero) {
  const double once = look(Layout::kNN, 1, 1, {0, 1, 8, 1}).bound,
               often = look(Layout::kNN, 1, 1, {0, 1, 8, 50}).bound;
  EXPECT_GT(once, 0);
  EXPECT_GT(often, 40 * once);
}

}  // namespace
}  // namespace kw
