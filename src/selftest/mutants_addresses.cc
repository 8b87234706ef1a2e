// Mutants of addresses: strides, operands and results at other places, reads and writes outside.
#include <string>

#include "selftest/mutants.h"

namespace kw {

std::vector<Mutant> list_address_mutants() {
  const std::string in_tile =
      "const long long r = i / 8 * 8, s = j / 8 * 8; const bool full = r + 8 <= m && s + 8 <= n;"
      "c[full ? (r + j - s) * ldc + s + i - r : i * ldc + j] = value;";
  return {
      {"lda_is_k", "wrong_result/wrong_ld_a", {{"a[i * lda + p]", "a[i * k + p]"}}},
      {"ldb_is_n", "wrong_result/wrong_ld_b", {{"b[p * ldb + j]", "b[p * n + j]"}}},
      {"ldc_is_n", "out_of_bounds/write_gap_c", {{kStore, "c[i * n + j] = value;"}}},
      {"ldb_is_lda", "out_of_bounds/past_b", {{"b[p * ldb + j]", "b[p * lda + j]"}}},
      {"lda_is_ldb_when_smaller",
       "wrong_result/wrong_ld_a",
       {{"a[i * lda + p]", "a[i * (ldb < lda ? ldb : lda) + p]"}}},
      {"a_one_off", "wrong_result/shifted_a", {{"a[i * lda + p]", "a[i * lda + p + 1]"}}},
      {"b_one_column_off", "wrong_result/shifted", {{"b[p * ldb + j]", "b[p * ldb + j + 1]"}}},
      {"c_one_off",
       "wrong_result/shifted_c",
       {{"beta * c[i * ldc + j]", "beta * c[i * ldc + j + (j + 1 < n ? 1 : 0)]"}}},
      {"a_transposed_when_square",
       "wrong_result/transposed_a",
       {{"a[i * lda + p]", "a[m == k ? p * lda + i : i * lda + p]"}}},
      {"b_transposed_when_square",
       "wrong_result/transposed_b",
       {{"b[p * ldb + j]", "b[n == k ? j * ldb + p : p * ldb + j]"}}},
      {"c_transposed_when_square",
       "wrong_result/transposed",
       {{kAddC,
         "const long long at = m == n ? j * ldc + i : i * ldc + j; if (beta != 0) value += beta * c[at];"},
        {kStore, "c[at] = value;"}}},
      {"rows_swapped",
       "wrong_result/swapped_tile",
       {{kAddC, "const long long row = (i ^ 8) < m ? i ^ 8 : i;"}, {kStore, "c[row * ldc + j] = value;"}}},
      {"columns_swapped",
       "wrong_result/swapped_tile",
       {{kAddC, "const long long col = (j ^ 1) < n ? j ^ 1 : j;"}, {kStore, "c[i * ldc + col] = value;"}}},
      {"tile_mirrored", "wrong_result/swapped_tile", {{kAddC, ""}, {kStore, in_tile}}},
      {"tile_duplicated",
       "wrong_result/duplicated",
       {{"b[p * ldb + j]", "b[p * ldb + (j >= 16 && j < 32 ? j - 16 : j)]"}, {kAddC, ""}}},
      {"row_block_duplicated",
       "wrong_result/duplicated",
       {{"a[i * lda + p]", "a[(i >= 8 && i < 16 ? i - 8 : i) * lda + p]"}, {kAddC, ""}}},
      {"single_last_row_repeats_the_one_before",
       "wrong_result/duplicated",
       {{"a[i * lda + p]", "a[(last - first == 1 && i > 0 ? i - 1 : i) * lda + p]"}}},
      {"neighbour_overwritten",
       "wrong_result/duplicated",
       {{kStore, "c[i * ldc + j] = value; if (j == 8) c[i * ldc + 7] = value;"}}},
      {"column_rotated",
       "wrong_result/shifted",
       {{kAddC, ""}, {kStore, "c[i * ldc + (j + 1 < n ? j + 1 : 0)] = value;"}}},
      {"reads_past_a",
       "out_of_bounds/past_a",
       {{kEnd,
         "if (last == m && m > 0 && k > 0) (void)*static_cast<const volatile float*>(a + (m - 1) * lda + "
         "k);"}}},
      {"reads_a_row_past_a",
       "out_of_bounds/past_a",
       {{kEnd, "if (last == m && m > 0 && k > 0) (void)*static_cast<const volatile float*>(a + m * lda);"}}},
      {"reads_before_a",
       "out_of_bounds/before_a",
       {{kEnd, "(void)*static_cast<const volatile float*>(a - 1);"}}},
      {"reads_past_b",
       "out_of_bounds/past_b",
       {{kEnd, "if (n > 0 && k > 0) (void)*static_cast<const volatile float*>(b + (k - 1) * ldb + n);"}}},
      {"writes_past_c",
       "out_of_bounds/write_past_c",
       {{kEnd, "if (last == m && n > 0) c[(m - 1) * ldc + n] = 1;"}}},
      {"no_row_check", "out_of_bounds/write_past_c", {{kLast, "const long long last = first + 8;"}}},
      {"writes_before_c", "out_of_bounds/before_c", {{kEnd, "c[-1] = 1;"}}},
      {"writes_gap_of_c",
       "out_of_bounds/write_gap_c",
       {{kEnd, "if (ldc > n && first + 1 < m) c[first * ldc + n] = 1;"}}},
      {"writes_a", "input_modified/a", {{kEnd, "if (k > 0) const_cast<float*>(a)[first * lda] += 1;"}}},
      {"writes_b", "input_modified/b", {{kEnd, "if (k > 0 && n > 0) const_cast<float*>(b)[0] = 7;"}}},
  };
}

}  // namespace kw
