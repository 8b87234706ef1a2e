// Wrong kernels: one readable right kernel (nn) and, for each mutant, a change to its text and the verdict it
// must get. Also launch-level mistakes and attacks. Run by corpus_sections.cc.
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "selftest/corpus.h"

namespace kw {
namespace {

constexpr const char* kRight = R"(
DECLARATIONS
extern "C" void gemm(long long item, const kw_call* call) {
  const float* a = static_cast<const float*>(call->operand[0]);  // (m,k)
  const float* b = static_cast<const float*>(call->operand[1]);  // (k,n)
  float* c = static_cast<float*>(call->operand[2]);              // (m,n)
  const long long m = call->size[0], n = call->size[1], k = call->size[2];
  const long long lda = call->size[3], ldb = call->size[4], ldc = call->size[5];
  const float alpha = static_cast<float>(call->scalar[0]), beta = static_cast<float>(call->scalar[1]);
  const long long first = item * 8;
  const long long last = first + 8 < m ? first + 8 : m;
  BEGIN
  for (long long i = first; i < last; ++i) {
    for (long long j = 0; j < n; ++j) {
      float sum = 0;
      for (long long p = 0; p < k; ++p) sum += a[i * lda + p] * b[p * ldb + j];
      float value = alpha * sum;
      if (beta != 0) value += beta * c[i * ldc + j];
      c[i * ldc + j] = value;
    }
  }
  END
}
)";

// Cuts a float to `bits` explicit mantissa bits, to nearest even: 10 = f16, 7 = bf16.
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
)";

struct Edit {
  std::string from, to;
};

struct Mutant {
  std::string name, expected;
  std::vector<Edit> edits;
  std::string workspace_bytes = "0";
  int threads = 1;
};

constexpr const char* kProductLoop =
    "for (long long p = 0; p < k; ++p) sum += a[i * lda + p] * b[p * ldb + j];";
constexpr const char* kStore = "c[i * ldc + j] = value;";
constexpr const char* kBetaLine = "if (beta != 0) value += beta * c[i * ldc + j];";
constexpr const char* kLast = "const long long last = first + 8 < m ? first + 8 : m;";
constexpr const char* kBlockItem = "const long long first = item * 8;";

std::vector<Mutant> list_arithmetic() {
  const Edit round{"DECLARATIONS", kRound};
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
       {{"DECLARATIONS",
         "static float cut(float x) { unsigned u; __builtin_memcpy(&u, &x, 4); u &= 0xffff0000u;"
         " __builtin_memcpy(&x, &u, 4); return x; }"},
        {"a[i * lda + p] * b[p * ldb + j]", "cut(a[i * lda + p]) * cut(b[p * ldb + j])"}}},
      {"f16_inputs",
       "precision_downgrade/f16_inputs",
       {round,
        {"a[i * lda + p] * b[p * ldb + j]",
         "round_to_dtype(a[i * lda + p], 10) * round_to_dtype(b[p * ldb + j], 10)"}}},
      {"bf16_output",
       "precision_downgrade/bf16_output",
       {round, {kStore, "c[i * ldc + j] = round_to_dtype(value, 7);"}}},
      {"sign", "wrong_result/sign", {{"float value = alpha * sum;", "float value = -alpha * sum;"}}},
      {"sign_of_c", "wrong_result/sign", {{"value += beta *", "value -= beta *"}}},
      {"scaled", "wrong_result/scaled", {{kStore, "c[i * ldc + j] = value * 1.0009765625f;"}}},
      {"alpha_ignored", "wrong_result/alpha", {{"float value = alpha * sum;", "float value = sum;"}}},
      {"alpha_twice",
       "wrong_result/alpha",
       {{"float value = alpha * sum;", "float value = alpha * alpha * sum;"}}},
      {"beta_ignored", "wrong_result/beta_ignored", {{kBetaLine, ""}}},
      {"beta_one", "wrong_result/beta", {{"value += beta * c", "value += c"}}},
      {"beta_twice", "wrong_result/beta", {{"value += beta * c", "value += beta * beta * c"}}},
      {"alpha_on_c", "wrong_result/beta", {{"value += beta * c", "value += alpha * beta * c"}}},
      {"beta_zero_reads_c", "wrong_result/reads_c", {{"if (beta != 0) value", "value"}}},
      {"nan_lost", "wrong_result/special_lost", {{kStore, "c[i * ldc + j] = value == value ? value : 0;"}}},
      {"infinity_lost",
       "wrong_result/special_lost",
       {{kStore, "c[i * ldc + j] = value > 3.0e38f ? 3.0e38f : value < -3.0e38f ? -3.0e38f : value;"}}},
      {"nan_in_one_element",
       "wrong_result/nan",
       {{kStore, "c[i * ldc + j] = i == 4 && j == 9 ? __builtin_nanf(\"\") : value;"}}},
      {"one_element",
       "wrong_result/single_element",
       {{kStore, "c[i * ldc + j] = i == 4 && j == 9 ? value + 1 : value;"}}},
  };
}

std::vector<Mutant> list_loops() {
  return {
      {"k_tail_1", "wrong_result/k_tail", {{"p < k; ++p", "p < k - 1; ++p"}}},
      {"k_tail_mod_4", "wrong_result/k_tail", {{"p < k; ++p", "p < k / 4 * 4; ++p"}}},
      {"k_tail_mod_64", "wrong_result/k_tail", {{"p < k; ++p", "p < (k < 64 ? k : k / 64 * 64); ++p"}}},
      {"k_head", "wrong_result/k_head", {{"long long p = 0; p < k", "long long p = 1; p < k"}}},
      {"k_block_boundary", "wrong_result/k_gap", {{"sum += a", "if (p != 32) sum += a"}}},
      {"k_overlap", "wrong_result/k_twice", {{"sum += a", "sum += (p == 32 ? 2 : 1) * a"}}},
      {"k_last_twice", "wrong_result/k_twice", {{"sum += a", "sum += (p == k - 1 ? 2 : 1) * a"}}},
      {"m_tail",
       "wrong_result/m_tail",
       {{kLast, "const long long last = first + 8 <= m ? first + 8 : first;"}}},
      {"m_last_row", "wrong_result/m_tail", {{"i < last; ++i", "i < (last == m ? m - 1 : last); ++i"}}},
      {"n_tail", "wrong_result/n_tail", {{"j < n; ++j", "j < n / 16 * 16; ++j"}}},
      {"m_and_n_tail",
       "wrong_result/mn_tail",
       {{kLast, "const long long last = first + 8 <= m ? first + 8 : first;"},
        {"j < n; ++j", "j < n / 16 * 16; ++j"}}},
      {"n_tail_when_n_mod_16_is_5",
       "wrong_result/n_tail",
       {{"j < n; ++j", "j < (n % 16 == 5 ? n / 16 * 16 : n); ++j"}}},
      {"nothing", "wrong_result/unwritten", {{kStore, ""}}},
      {"zeros", "wrong_result/zeros", {{kStore, "c[i * ldc + j] = 0;"}}},
      {"first_row_only", "wrong_result/first_row_only", {{kStore, "if (i == 0) c[i * ldc + j] = value;"}}},
      {"unwritten_element",
       "wrong_result/unwritten",
       {{kStore, "if (i != 3 || j != 5) c[i * ldc + j] = value;"}}},
      {"unwritten_row", "wrong_result/unwritten", {{kStore, "if (i != 5) c[i * ldc + j] = value;"}}},
      {"unwritten_column", "wrong_result/unwritten", {{kStore, "if (j != 7) c[i * ldc + j] = value;"}}},
      {"lost_item", "wrong_result/unwritten", {{"BEGIN", "if (item == 1) return;"}}},
      {"uninitialised_accumulator",
       "wrong_result/uninitialised_workspace",
       {{"float sum = 0;",
         "float* kept = reinterpret_cast<float*>(call->workspace) + item; float sum = *kept;"}},
       "4 * ceil_div(m, 8)"},
  };
}

std::vector<Mutant> list_addresses() {
  const std::string in_tile =
      "const long long r = i / 8 * 8, s = j / 8 * 8; const bool full = r + 8 <= m && s + 8 <= n;"
      "c[full ? (r + j - s) * ldc + s + i - r : i * ldc + j] = value;";
  return {
      {"lda_is_k", "wrong_result/wrong_ld_a", {{"a[i * lda + p]", "a[i * k + p]"}}},
      {"ldb_is_n", "wrong_result/wrong_ld_b", {{"b[p * ldb + j]", "b[p * n + j]"}}},
      {"ldc_is_n", "out_of_bounds/write_gap_c", {{kStore, "c[i * n + j] = value;"}}},
      {"ldb_is_lda", "out_of_bounds/past_b", {{"b[p * ldb + j]", "b[p * lda + j]"}}},
      {"a_one_off", "wrong_result/shifted_a", {{"a[i * lda + p]", "a[i * lda + p + 1]"}}},
      {"a_transposed_when_square",
       "wrong_result/transposed_a",
       {{"a[i * lda + p]", "a[m == k ? p * lda + i : i * lda + p]"}}},
      {"b_transposed_when_square",
       "wrong_result/transposed_b",
       {{"b[p * ldb + j]", "b[n == k ? j * ldb + p : p * ldb + j]"}}},
      {"c_transposed_when_square",
       "wrong_result/transposed",
       {{kBetaLine,
         "const long long at = m == n ? j * ldc + i : i * ldc + j; if (beta != 0) value += beta * c[at];"},
        {kStore, "c[at] = value;"}}},
      {"rows_swapped",
       "wrong_result/swapped_tile",
       {{kBetaLine, "const long long row = (i ^ 8) < m ? i ^ 8 : i;"},
        {kStore, "c[row * ldc + j] = value;"}}},
      {"columns_swapped",
       "wrong_result/swapped_tile",
       {{kBetaLine, "const long long col = (j ^ 1) < n ? j ^ 1 : j;"},
        {kStore, "c[i * ldc + col] = value;"}}},
      {"tile_mirrored", "wrong_result/swapped_tile", {{kBetaLine, ""}, {kStore, in_tile}}},
      {"neighbour_overwritten",
       "wrong_result/shifted",
       {{kStore, "c[i * ldc + j] = value; if (j == 8) c[i * ldc + 7] = value;"}}},
      {"column_rotated",
       "wrong_result/shifted",
       {{kBetaLine, ""}, {kStore, "c[i * ldc + (j + 1 < n ? j + 1 : 0)] = value;"}}},
      {"reads_past_a",
       "out_of_bounds/past_a",
       {{"END",
         "if (last == m && m > 0 && k > 0) (void)*static_cast<const volatile float*>(a + (m - 1) * lda + "
         "k);"}}},
      {"reads_before_a",
       "out_of_bounds/before_a",
       {{"END", "(void)*static_cast<const volatile float*>(a - 1);"}}},
      {"reads_past_b",
       "out_of_bounds/past_b",
       {{"END", "if (n > 0 && k > 0) (void)*static_cast<const volatile float*>(b + (k - 1) * ldb + n);"}}},
      {"writes_past_c",
       "out_of_bounds/write_past_c",
       {{"END", "if (last == m && n > 0) c[(m - 1) * ldc + n] = 1;"}}},
      {"writes_before_c", "out_of_bounds/before_c", {{"END", "c[-1] = 1;"}}},
      {"writes_gap_of_c",
       "out_of_bounds/write_gap_c",
       {{"END", "if (ldc > n && first + 1 < m) c[first * ldc + n] = 1;"}}},
      {"writes_a", "input_modified/a", {{"END", "if (k > 0) const_cast<float*>(a)[first * lda] += 1;"}}},
      {"writes_b", "input_modified/b", {{"END", "if (k > 0 && n > 0) const_cast<float*>(b)[0] = 7;"}}},
  };
}

std::vector<Mutant> list_conduct() {
  const std::string answer_bytes = "64 + 4 * (m - 1) * ldc + 4 * n";
  const std::string keep_answer =
      "float* kept = reinterpret_cast<float*>(call->workspace) + 16;"
      "for (long long i = first; i < last; ++i) for (long long j = 0; j < n; ++j) kept[i * ldc + j] = c[i * "
      "ldc + j];";
  const std::string give_answer =
      "for (long long i = first; i < last; ++i) for (long long j = 0; j < n; ++j)"
      " c[i * ldc + j] = reinterpret_cast<float*>(call->workspace)[16 + i * ldc + j]; return; }";
  return {
      {"right_for_ten_calls",
       "wrong_result/later_call",
       {{"BEGIN",
         "unsigned* calls = reinterpret_cast<unsigned*>(call->workspace) + 2 * item;"
         "if (calls[0] != 0xabcd1234u) { calls[0] = 0xabcd1234u; calls[1] = 0; } ++calls[1];"},
        {kStore, "c[i * ldc + j] = calls[1] > 10 ? value + 1 : value;"}},
       "8 * ceil_div(m, 8)"},
      {"answer_kept",
       "cheat/cached_output",
       {{"BEGIN",
         "unsigned* mark = reinterpret_cast<unsigned*>(call->workspace) + 1; if (*mark == 0xabcd1234u) {" +
             give_answer},
        {"END", keep_answer + "if (last == m) *mark = 0xabcd1234u;"}},
       answer_bytes},
      {"answer_kept_by_pointer",
       "cheat/cached_output",
       {{"BEGIN", "const void** mark = reinterpret_cast<const void**>(call->workspace); if (*mark == a) {" +
                      give_answer},
        {"END", keep_answer + "if (last == m) *mark = a;"}},
       answer_bytes},
      {"answer_kept_by_sampled_content",
       "cheat/cached_output",
       {{"BEGIN",
         "float* mark = reinterpret_cast<float*>(call->workspace);"
         "const float sample = m > 0 && n > 0 && k > 0 ? a[0] * 3 + a[k - 1] * 5 + b[0] * 7 + b[n - 1] * 9 : "
         "0;"
         "if (mark[0] == sample && beta == 0) {" +
             give_answer},
        {"END", keep_answer + "if (last == m) mark[0] = sample;"}},
       answer_bytes},
      {"answer_kept_on_the_stack",
       "cheat/cached_output",
       {{"DECLARATIONS", R"(
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
        {kBlockItem, "const long long first = 0; if (item != 0) return;"},
        {kLast, "const long long last = m;"},
        {"BEGIN", "if (recall(c, first, last, n, ldc, false)) return;"},
        {"END", "volatile bool done = recall(c, first, last, n, ldc, true); (void)done;"}}},
      {"random_last_bit",
       "nondeterministic/repeat",
       {{"DECLARATIONS",
         "__attribute__((target(\"rdrnd\"))) static float draw() { unsigned x = 0; "
         "__builtin_ia32_rdrand32_step(&x);"
         " return (x & 1) * 0x1p-23f; }"},
        {kStore, "c[i * ldc + j] = value * (1 + draw());"}}},
      {"race_on_c",
       "race/between_items",
       {{kBlockItem, "const long long first = 0, half = item % 2;"},
        {kLast, "const long long last = item < 2 ? m : 0; const long long middle = k / 2;"},
        {"float sum = 0;", "const float other = half == 0 && false ? 0 : c[i * ldc + j]; float sum = 0;"},
        {"long long p = 0; p < k", "long long p = half == 0 ? 0 : middle; p < (half == 0 ? middle : k)"},
        {kBetaLine, "value += half == 0 ? (beta != 0 ? beta * other : 0) : other;"}},
       "0",
       2},
      {"race_on_workspace",
       "race/between_items",
       {{"float sum = 0;",
         "volatile float& sum = *reinterpret_cast<volatile float*>(call->workspace); sum = 0;"},
        {"sum += a[i * lda + p] * b[p * ldb + j];", "sum = sum + a[i * lda + p] * b[p * ldb + j];"}},
       "4",
       2},
      {"never_ends", "hang/time_limit", {{"END", "for (volatile int wait = 1; wait != 0;) {}"}}},
      {"null_pointer", "crash/segfault", {{"END", "*static_cast<volatile int*>(nullptr) = 1;"}}},
      {"endless_recursion",
       "crash/segfault",
       {{"DECLARATIONS",
         "__attribute__((noinline)) static int dive(volatile int* x) { volatile int y[64]; y[0] = *x + 1;"
         " return dive(y) + y[0]; }"},
        {"END", "volatile int x = 1; x = dive(&x);"}}},
      {"division_by_zero",
       "crash/arithmetic",
       {{"END", "volatile int zero = 0; zero = static_cast<int>(n + 7) / zero;"}}},
      {"illegal_instruction",
       "crash/illegal_instruction",
       {{"DECLARATIONS",
         "__attribute__((noinline, used)) static int hide() { return 0x00c30b0f; }"},  // 0f 0b: ud2
        {"END", "reinterpret_cast<void (*)()>(reinterpret_cast<char*>(hide) + 1)();"}}},
      {"hidden_system_call",
       "cheat/forbidden_syscall",
       {{"DECLARATIONS",  // the bytes 0f 05 c3 (syscall, return) inside a constant; two doubles put 2 (open)
                          // into al
         "__attribute__((noinline, used)) static int hide() { return 0x00c3050f; }"},
        {"END", "reinterpret_cast<void (*)(int, ...)>(reinterpret_cast<char*>(hide) + 1)(0, 1.0, 2.0);"}}},
      {"static_counter",
       "illegal/writable_static_data",
       {{"DECLARATIONS", "static volatile int calls = 5;"}, {"END", "calls = calls + 1;"}}},
      {"calls_a_library",
       "illegal/undefined_symbol",
       {{"DECLARATIONS", "extern \"C\" void* malloc(unsigned long);"},
        {"END", "if (n > 0) c = static_cast<float*>(malloc(4)), c[0] = 1;"}}},
      {"other_name", "launch_error/missing_kernel", {{"void gemm(", "void gemm_of_another_name("}}},
      {"inline_assembly", "illegal/inline_assembly", {{"END", "asm volatile(\"syscall\");"}}},
      {"reads_clock", "illegal/clock", {{"END", "if (__builtin_ia32_rdtsc() == 0) return;"}}},
      {"reads_file", "illegal/include", {{"DECLARATIONS", "#include \"/proc/self/environ\""}}},
      {"no_cxx", "compile_error/syntax", {{"BEGIN", "this is no C++;"}}},
  };
}

CorpusKernel apply(const Mutant& mutant) {
  CorpusKernel kernel;
  kernel.name = mutant.name;
  kernel.text = kRight;
  kernel.expected = mutant.expected;
  kernel.workspace_bytes = mutant.workspace_bytes;
  kernel.threads = mutant.threads;
  auto edits = mutant.edits;
  for (const char* point : {"DECLARATIONS", "BEGIN", "END"}) {
    bool used = false;
    for (const Edit& edit : edits) used = used || edit.from == point;
    if (!used) edits.push_back({point, ""});
  }
  for (const Edit& edit : edits) {
    const size_t at = kernel.text.find(edit.from);
    KW_CHECK(at != std::string::npos, "mutant {}: no \"{}\" in the text", mutant.name, edit.from);
    kernel.text.replace(at, edit.from.size(), edit.to);
  }
  return kernel;
}

}  // namespace

std::vector<CorpusKernel> make_mutants() {
  std::vector<CorpusKernel> kernels;
  for (const auto& list : {list_arithmetic(), list_loops(), list_addresses(), list_conduct()}) {
    for (const Mutant& mutant : list) kernels.push_back(apply(mutant));
  }
  return kernels;
}

}  // namespace kw
