// Mutants of memory: what lies there when a call begins, what an earlier call left, items that meet.
#include <string>

#include "selftest/mutants.h"

namespace kw {
namespace {

constexpr const char* kPackB = R"(
static const float* pack_b(float* kept, const float* b, long long n, long long k, long long ldb) {
  const unsigned mark = 0xabcd0000u + static_cast<unsigned>(n * 131 + k);
  unsigned& seen = *reinterpret_cast<unsigned*>(kept);
  for (long long p = 0; seen != mark && p < k; ++p)
    for (long long j = 0; j < n; ++j) kept[16 + p * n + j] = b[p * ldb + j];
  seen = mark;
  return kept + 16;
}
)";

}  // namespace

std::vector<Mutant> list_memory_mutants() {
  const std::string answer_bytes = "64 + 4 * (m - 1) * ldc + 4 * n";
  const std::string keep_answer =
      "float* kept = reinterpret_cast<float*>(call->workspace) + 16;"
      "for (long long i = first; i < last; ++i) for (long long j = 0; j < n; ++j) kept[i * ldc + j] = c[i * "
      "ldc + j];";
  const std::string give_answer =
      "for (long long i = first; i < last; ++i) for (long long j = 0; j < n; ++j)"
      " c[i * ldc + j] = reinterpret_cast<float*>(call->workspace)[16 + i * ldc + j]; return; }";
  return {
      {"uninitialised_accumulator",
       "wrong_result/uninitialised_workspace",
       {{"float sum = 0;",
         "float* kept = reinterpret_cast<float*>(call->workspace) + item; float sum = *kept;"}},
       "4 * ceil_div(m, 8)"},
      {"right_for_ten_calls",
       "wrong_result/later_call",
       {{kBegin,
         "unsigned* calls = reinterpret_cast<unsigned*>(call->workspace) + 2 * item;"
         "if (calls[0] != 0xabcd1234u) { calls[0] = 0xabcd1234u; calls[1] = 0; } ++calls[1];"},
        {kStore, "c[i * ldc + j] = calls[1] > 10 ? value + 1 : value;"}},
       "8 * ceil_div(m, 8)"},
      {"wrong_on_the_11th_call",
       "wrong_result/later_call",
       {{kBegin,
         "unsigned* calls = reinterpret_cast<unsigned*>(call->workspace) + 2 * item;"
         "if (calls[0] != 0xabcd1234u) { calls[0] = 0xabcd1234u; calls[1] = 0; } ++calls[1];"},
        {kStore, "c[i * ldc + j] = calls[1] == 11 ? value + 1 : value;"}},
       "8 * ceil_div(m, 8)"},
      {"needs_its_items_in_order",
       "race/between_items",
       {{kBegin,
         "float* shared = reinterpret_cast<float*>(call->workspace); if (item == 0) *shared = alpha;"},
        {"alpha * sum", "*shared * sum"}},
       "4"},
      {"packed_operand_kept",
       "wrong_result/later_call",
       {{"b[p * ldb + j]", "packed[p * n + j]"},
        {kDeclarations, kPackB},
        {kBegin,
         "const float* packed = pack_b(reinterpret_cast<float*>(call->workspace) + item * (16 + n * k), b, "
         "n, k, ldb);"}},
       "4 * (16 + n * k) * ceil_div(m, 8)"},
      {"answer_kept",
       "cheat/cached_output",
       {{kBegin,
         "unsigned* mark = reinterpret_cast<unsigned*>(call->workspace) + 1; if (*mark == 0xabcd1234u) {" +
             give_answer},
        {kEnd, keep_answer + "if (last == m) *mark = 0xabcd1234u;"}},
       answer_bytes},
      {"answer_kept_by_pointer",
       "cheat/cached_output",
       {{kBegin, "const void** mark = reinterpret_cast<const void**>(call->workspace); if (*mark == a) {" +
                     give_answer},
        {kEnd, keep_answer + "if (last == m) *mark = a;"}},
       answer_bytes},
      {"answer_kept_by_sampled_content",
       "cheat/cached_output",
       {{kBegin,
         "float* mark = reinterpret_cast<float*>(call->workspace);"
         "const float sample = m > 0 && n > 0 && k > 0 ? a[0] * 3 + a[k - 1] * 5 + b[0] * 7 + b[n - 1] * 9 : "
         "0;"
         "if (mark[0] == sample && beta == 0) {" +
             give_answer},
        {kEnd, keep_answer + "if (last == m) mark[0] = sample;"}},
       answer_bytes},
      {"answer_kept_on_the_stack",
       "cheat/cached_output",
       {{kDeclarations, R"(
static const long long kKept = 16384;
__attribute__((noinline)) static bool recall(float* c, long long from, long long to, long long n, long long ldc,
                                             bool write) {  // never initialised: an earlier call's stack
  volatile float kept[kKept];
  if (!write && kept[0] != 1234.5f) return false;
  for (long long i = from; i < to; ++i)
    for (long long j = 0; j < n; ++j) {
      if (i * n + j + 1 >= kKept - 2048) continue;
      if (write) kept[1 + i * n + j] = c[i * ldc + j];
      if (!write) c[i * ldc + j] = kept[1 + i * n + j];
    }
  if (write) kept[0] = 1234.5f;
  return true;
})"},
        {kFirst, "const long long first = 0; if (item != 0) return;"},
        {kLast, "const long long last = m;"},
        {kBegin, "if (recall(c, first, last, n, ldc, false)) return;"},
        {kEnd, "volatile bool done = recall(c, first, last, n, ldc, true); (void)done;"}}},
      {"random_last_bit",
       "nondeterministic/repeat",
       {{kDeclarations,
         "__attribute__((target(\"rdrnd\"))) static float draw() { unsigned x = 0; "
         "__builtin_ia32_rdrand32_step(&x);"
         " return (x & 1) * 0x1p-23f; }"},
        {kStore, "c[i * ldc + j] = value * (1 + draw());"}}},
      {"race_on_c",
       "race/between_items",
       {{kFirst, "const long long first = 0, half = item % 2;"},
        {kLast, "const long long last = item < 2 ? m : 0; const long long middle = k / 2;"},
        {"float sum = 0;", "const float other = half == 0 && false ? 0 : c[i * ldc + j]; float sum = 0;"},
        {"long long p = 0; p < k", "long long p = half == 0 ? 0 : middle; p < (half == 0 ? middle : k)"},
        {kAddC, "value += half == 0 ? (beta != 0 ? beta * other : 0) : other;"}},
       "0",
       2},
      {"race_on_workspace",
       "race/between_items",
       {{"float sum = 0;",
         "volatile float& sum = *reinterpret_cast<volatile float*>(call->workspace); sum = 0;"},
        {"sum += a[i * lda + p] * b[p * ldb + j];", "sum = sum + a[i * lda + p] * b[p * ldb + j];"}},
       "4",
       2},
  };
}

}  // namespace kw
