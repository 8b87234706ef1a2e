// Mutants of index arithmetic: right while 32 bits hold every offset, wrong beyond. They need rows far apart,
// not large matrices.
#include "selftest/mutants.h"

namespace kw {

std::vector<Mutant> list_index_mutants() {
  return {
      {"a_offset_in_int",
       "out_of_bounds/index_32_bits",
       {{"a[i * lda + p]", "a[static_cast<int>(i * lda + p)]"}}},
      {"b_offset_in_int",
       "out_of_bounds/index_32_bits",
       {{"b[p * ldb + j]", "b[static_cast<int>(p * ldb + j)]"}}},
      {"c_offset_in_int",
       "out_of_bounds/index_32_bits",
       {{kStore, "c[static_cast<int>(i * ldc + j)] = value;"}}},
      {"c_read_offset_in_int",
       "out_of_bounds/index_32_bits",
       {{"beta * c[i * ldc + j]", "beta * c[static_cast<int>(i * ldc + j)]"}}},
      {"a_offset_in_unsigned",
       "wrong_result/index_32_bits",
       {{"a[i * lda + p]", "a[static_cast<unsigned>(i * lda + p)]"}}},
      {"b_byte_offset_in_unsigned",
       "wrong_result/index_32_bits",
       {{"b[p * ldb + j]",
         "*reinterpret_cast<const float*>(reinterpret_cast<const char*>(b) + static_cast<unsigned>(4 * (p * "
         "ldb + j)))"}}},
      {"c_row_in_int",
       "out_of_bounds/index_32_bits",
       {{kStore, "(c + static_cast<int>(i * ldc))[j] = value;"}}},
      {"lda_in_int", "wrong_result/index_32_bits", {{"a[i * lda + p]", "a[i * static_cast<int>(lda) + p]"}}},
      {"strides_in_unsigned",
       "wrong_result/index_32_bits",
       {{"a[i * lda + p]", "a[i * static_cast<unsigned>(lda) + p]"},
        {"b[p * ldb + j]", "b[p * static_cast<unsigned>(ldb) + j]"}}},
      {"wrong_beyond_31_bits",
       "wrong_result/index_32_bits",
       {{kStore, "c[i * ldc + j] = i * lda + k > 0x7fffffffll ? value + 1 : value;"}}},
      {"row_0_in_place_of_rows_beyond_32_bits",
       "wrong_result/index_32_bits",
       {{"a[i * lda + p]", "a[(i * lda > 0xffffffffll ? 0 : i * lda) + p]"}}},
  };
}

}  // namespace kw
