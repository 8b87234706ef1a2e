// Mutants that compute in less than f32: operands, products, accumulators, partial sums, results.
#include <string>

#include "selftest/mutants.h"

namespace kw {
namespace {

// round_to_dtype cuts a float to `bits` explicit mantissa bits, to nearest even: 10 = f16, 7 = bf16. cut
// drops the low `drop` bits.
constexpr const char* kRound = R"(
static float round_to_dtype(float x, int bits) {
  unsigned u;
  __builtin_memcpy(&u, &x, 4);
  if ((u & 0x7f800000u) == 0x7f800000u) return x;
  const int drop = 23 - bits;
  u += ((1u << (drop - 1)) - 1) + (u >> drop & 1u);
  u &= ~((1u << drop) - 1);
  __builtin_memcpy(&x, &u, 4);
  return x;
}
static float cut(float x, int drop) {
  unsigned u;
  __builtin_memcpy(&u, &x, 4);
  u &= ~((1u << drop) - 1);
  __builtin_memcpy(&x, &u, 4);
  return x;
}
)";

constexpr const char* kProduct = "a[i * lda + p] * b[p * ldb + j]";
constexpr const char* kAdd = "sum += a[i * lda + p] * b[p * ldb + j];";

// The sum over k in four parts, each rounded as it would be in a narrow workspace.
std::string sum_parts(int bits) {
  return "for (long long part = 0; part < 4; ++part) {"
         "  float one = 0;"
         "  for (long long p = k * part / 4; p < k * (part + 1) / 4; ++p) one += a[i * lda + p] * b[p * ldb "
         "+ j];"
         "  sum += round_to_dtype(one, " +
         std::to_string(bits) +
         ");"
         "}";
}

}  // namespace

std::vector<Mutant> list_precision_mutants() {
  const Edit round{kDeclarations, kRound};
  return {
      {"f16_accumulator",
       "precision_downgrade/f16_accumulator",
       {round,
        {"sum += a[i * lda + p] * b[p * ldb + j];",
         "sum = round_to_dtype(sum + a[i * lda + p] * b[p * ldb + j], 10);"}}},
      {"bf16_accumulator",
       "precision_downgrade/bf16_accumulator",
       {round,
        {"sum += a[i * lda + p] * b[p * ldb + j];",
         "sum = round_to_dtype(sum + a[i * lda + p] * b[p * ldb + j], 7);"}}},
      {"four_f16_accumulators",
       "precision_downgrade/low_accuracy",
       {round,
        {"float sum = 0;", "float sum = 0, part[4] = {0, 0, 0, 0};"},
        {kProductLoop,
         "for (long long p = 0; p < k; ++p) part[p % 4] = round_to_dtype(part[p % 4] + a[i * lda + p] * b[p "
         "* ldb "
         "+ j], 10);"
         "sum = (part[0] + part[1]) + (part[2] + part[3]);"}}},
      {"bf16_inputs",
       "precision_downgrade/bf16_inputs",
       {round,
        {"a[i * lda + p] * b[p * ldb + j]",
         "round_to_dtype(a[i * lda + p], 7) * round_to_dtype(b[p * ldb + j], 7)"}}},
      {"bf16_inputs_cut",
       "precision_downgrade/bf16_inputs",
       {round, {kProduct, "cut(a[i * lda + p], 16) * cut(b[p * ldb + j], 16)"}}},
      {"f16_inputs",
       "precision_downgrade/f16_inputs",
       {round,
        {"a[i * lda + p] * b[p * ldb + j]",
         "round_to_dtype(a[i * lda + p], 10) * round_to_dtype(b[p * ldb + j], 10)"}}},
      {"tf32_inputs_cut",
       "precision_downgrade/f16_inputs",
       {round, {kProduct, "cut(a[i * lda + p], 13) * cut(b[p * ldb + j], 13)"}}},
      {"bf16_a",
       "precision_downgrade/bf16_inputs",
       {round, {kProduct, "round_to_dtype(a[i * lda + p], 7) * b[p * ldb + j]"}}},
      {"bf16_b_cut",
       "precision_downgrade/bf16_inputs",
       {round, {kProduct, "a[i * lda + p] * cut(b[p * ldb + j], 16)"}}},
      {"f16_b",
       "precision_downgrade/f16_inputs",
       {round, {kProduct, "a[i * lda + p] * round_to_dtype(b[p * ldb + j], 10)"}}},
      {"bf16_c",
       "precision_downgrade/bf16_inputs",
       {round, {"beta * c[i * ldc + j]", "beta * round_to_dtype(c[i * ldc + j], 7)"}}},
      {"f16_inputs_at_large_k",
       "precision_downgrade/f16_inputs",
       {round,
        {kProduct,
         "(k < 1024 ? a[i * lda + p] : round_to_dtype(a[i * lda + p], 10)) * (k < 1024 ? b[p * ldb + j] : "
         "round_to_dtype(b[p * ldb + j], 10))"}}},
      {"f16_inputs_unless_alpha_is_binary",
       "precision_downgrade/f16_inputs",
       {round,
        {kBegin, "const bool binary = alpha * 64 == static_cast<float>(static_cast<int>(alpha * 64));"},
        {kProduct,
         "(binary ? a[i * lda + p] : round_to_dtype(a[i * lda + p], 10)) * (binary ? b[p * ldb + j] : "
         "round_to_dtype(b[p * ldb + j], 10))"}}},
      {"f16_products",
       "precision_downgrade/f16_products",
       {round, {kAdd, "sum += round_to_dtype(a[i * lda + p] * b[p * ldb + j], 10);"}}},
      {"bf16_products",
       "precision_downgrade/bf16_products",
       {round, {kAdd, "sum += round_to_dtype(a[i * lda + p] * b[p * ldb + j], 7);"}}},
      {"bf16_partial_sums", "precision_downgrade/bf16_partials", {round, {kProductLoop, sum_parts(7)}}},
      {"f16_partial_sums", "precision_downgrade/f16_partials", {round, {kProductLoop, sum_parts(10)}}},
      {"f16_sums_of_32",
       "precision_downgrade/low_accuracy",
       {round,
        {"float sum = 0;", "float sum = 0, part = 0;"},
        {kAdd,
         "{ part = round_to_dtype(part + a[i * lda + p] * b[p * ldb + j], 10); if (p % 32 == 31 || p == k - "
         "1) sum += part, part = 0; }"}}},
      {"bf16_output",
       "precision_downgrade/bf16_output",
       {round, {kStore, "c[i * ldc + j] = round_to_dtype(value, 7);"}}},
      {"f16_output",
       "precision_downgrade/f16_output",
       {round, {kStore, "c[i * ldc + j] = round_to_dtype(value, 10);"}}},
      {"bf16_sum_before_beta",
       "precision_downgrade/bf16_output",
       {round, {kValue, "float value = alpha != 0 ? round_to_dtype(alpha * sum, 7) : 0;"}}},
  };
}

}  // namespace kw
