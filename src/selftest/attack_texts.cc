// Attacks by source text: what the rules for free-form texts refuse before anything is started, what exhausts
// a compiler, and what an honest compiler makes of a text that the loader must then refuse.
#include <fmt/format.h>

#include "selftest/attack.h"

namespace kw {
namespace {

constexpr const char* kKernel = "\nextern \"C\" void gemm(long long, const kw_call*) {}\n";

Attack make_text_attack(std::string name, const std::string& expected, const std::string& caught,
                        const std::string& text) {
  CorpusKernel kernel;
  kernel.name = name;
  kernel.text = text;
  return {std::move(name), expected, caught, "",
          [kernel](AttackBench& bench) { return bench.judge(kernel); }};
}

Attack make_source_attack(std::string name, const std::string& reason, const std::string& text) {
  return make_text_attack(std::move(name), "illegal/" + reason, "source rules", text + kKernel);
}

// The text is refused by the rules or, where it is too large to stand in a list, made when its turn comes.
Attack make_bulk_attack(std::string name, const std::string& expected,
                        const std::function<std::string()>& make_text) {
  return {name, expected, "source rules", "", [name, make_text](AttackBench& bench) {
            CorpusKernel kernel;
            kernel.name = name;
            kernel.text = make_text();
            return bench.judge(kernel);
          }};
}

Attack make_compiler_attack(std::string name, const std::string& reason, const std::string& says,
                            const std::function<std::string()>& make_text) {
  return {std::move(name), "compile_error/" + reason, "compiler", says,
          [make_text](AttackBench& bench) { return bench.compile(make_text()); }};
}

std::string repeat(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

// Macro `levels` stands for 8^levels words.
std::string make_macro_bomb(int levels) {
  std::string text = "#define A0 x\n";
  for (int i = 1; i <= levels; ++i)
    text += fmt::format("#define A{} {}\n", i, repeat(fmt::format("A{} ", i - 1), 8));
  return text + fmt::format("A{}\n", levels);
}

}  // namespace

std::vector<Attack> list_source_attacks() {
  return {
      make_source_attack("include_of_a_file", "include", "#include \"/etc/passwd\""),
      make_source_attack("include_of_a_system_header", "include", "#include <unistd.h>"),
      make_source_attack("include_by_digraph", "include", "%:include \"/etc/passwd\""),
      make_source_attack("include_by_trigraph", "include", "?\?=include \"/etc/passwd\""),
      make_source_attack("include_over_two_lines", "include", "#inc\\\nlude \"/etc/passwd\""),
      make_source_attack("include_behind_a_comment", "include", "/* */ # /* */ include \"/etc/passwd\""),
      make_source_attack("include_through_a_macro", "include", "#define FILE \"/etc/passwd\"\n#include FILE"),
      make_source_attack("include_next", "include", "#include_next <stdio.h>"),
      make_source_attack("import_of_a_module", "include", "import <vector>;"),
      make_source_attack("asks_which_files_exist", "include", "#if __has_include(\"/etc/shadow\")\n#endif"),
      make_source_attack("embed_of_a_file", "embed", "const char x[] = {\n#embed \"/etc/passwd\"\n};"),
      make_source_attack("assembler_reads_a_file", "inline_assembly",
                         "asm(\".incbin \\\"/etc/passwd\\\"\");"),
      make_source_attack("assembly_with_underscores", "inline_assembly",
                         "void f() { __asm__ __volatile__(\"syscall\"); }"),
      make_source_attack("assembly_over_two_lines", "inline_assembly",
                         "void f() { __as\\\nm(\"syscall\"); }"),
      make_source_attack("assembly_behind_an_odd_quote", "inline_assembly",
                         "int c = u'\"'; void f() { asm(\"syscall\"); } int d = u'\"';"),
      make_source_attack("assembly_pasted_together", "token_pasting",
                         "#define GLUE(a, b) a ## b\nvoid f() { GLUE(as, m)(\"syscall\"); }"),
      make_source_attack("assembly_pasted_by_digraph", "token_pasting",
                         "#define GLUE(a, b) a %:%: b\nvoid f() { GLUE(as, m)(\"syscall\"); }"),
      make_source_attack("assembly_renamed_by_macro", "inline_assembly",
                         "#define SAY asm\nvoid f() { SAY(\"syscall\"); }"),
      make_source_attack("assembly_behind_a_raw_string", "raw_string",
                         "const char* s = R\"(\")\"; void f() { asm(\"syscall\"); } //\""),
      make_source_attack("register_variable", "inline_assembly", "register long top asm(\"rsp\");"),
      make_source_attack("constructor", "initialiser", "__attribute__((constructor)) static void early() {}"),
      make_source_attack("constructor_as_a_standard_attribute", "initialiser",
                         "[[gnu::constructor]] void early() {}"),
      make_source_attack("section_that_runs_at_load", "attribute",
                         "__attribute__((section(\".init_array\"))) void (*early)() = nullptr;"),
      make_source_attack("symbol_alias", "attribute",
                         "extern \"C\" void f() __attribute__((alias(\"gemm\")));"),
      make_source_attack("resolver_runs_at_load", "attribute",
                         "extern \"C\" void f() __attribute__((ifunc(\"g\")));"),
      make_source_attack("pragma_changes_the_compiler", "pragma", "#pragma GCC target(\"sse4\")"),
      make_source_attack("pragma_as_an_operator", "pragma",
                         "_Pragma(\"GCC dependency \\\"/etc/passwd\\\"\")"),
      make_source_attack("line_names_a_file", "line_directive", "# 1 \"/etc/passwd\"\nint error here;"),
      make_source_attack("hour_of_compilation", "clock", "const char* when = __TIME__;"),
      make_source_attack("reads_the_cycle_counter", "clock", "long f() { return __builtin_ia32_rdtsc(); }"),
      make_source_attack("thread_local_counter", "thread_local", "static thread_local int calls;"),
      make_source_attack("jumps_out_of_the_kernel", "builtin",
                         "void f(void** p) { __builtin_longjmp(p, 1); }"),
      make_source_attack("looks_at_its_frame", "builtin", "void* f() { return __builtin_frame_address(0); }"),
      make_source_attack("text_with_a_zero_byte", "binary", std::string("int a;\0int b;", 13)),
      make_source_attack("text_that_is_no_utf8", "binary", "int a; // \xff\xfe"),
      make_text_attack("empty_text", "illegal/empty", "source rules", ""),
      make_bulk_attack("text_of_100_MB", "illegal/too_large", [] { return std::string(100'000'000, ' '); }),
      make_bulk_attack("text_of_an_object", "illegal/binary",
                       [] {
                         return std::string(
                             "\x7f"
                             "ELF\2\1\1\0\0",
                             9);
                       }),
  };
}

std::vector<Attack> list_compiler_attacks() {
  return {
      make_compiler_attack(
          "endless_templates", "compiler_limit", "",
          [] {
            return "template<int N> struct S { static constexpr int v = S<N + 1>::v; }; int x = S<0>::v;";
          }),
      make_compiler_attack(
          "endless_constant", "compiler_limit", "",
          [] { return "constexpr long f(long n) { return f(n + 1) + 1; } constexpr long x = f(0);"; }),
      make_compiler_attack("constant_that_takes_hours", "timeout", "1 s of processor time",
                           [] {
                             return "template<long N, long M> struct S { static constexpr long v = S<N - 1, "
                                    "M * 2>::v + S<N - 1, M * 2 "
                                    "+ 1>::v; }; template<long M> struct S<0, M> { static constexpr long v = "
                                    "1; }; long x = S<60, "
                                    "0>::v;";
                           }),
      make_compiler_attack("macro_of_a_billion_words", "out_of_memory", "",
                           [] { return make_macro_bomb(18); }),
      make_compiler_attack("hundred_thousand_errors", "too_many_errors", "",
                           [] { return repeat("x;\n", 100'000); }),
      make_compiler_attack("megabytes_in_one_error", "syntax", "error",
                           [] { return "#error " + std::string(1'000'000, 'x'); }),
      make_compiler_attack("object_of_300_MB", "object_too_large", "",
                           [] { return "extern const char x[300 << 20] = {1};"; }),
      make_compiler_attack("crashes_the_compiler", "compiler_crash", "",
                           [] { return "int " + std::string(500'000, '*') + " p;"; }),
      make_compiler_attack("assembly_in_code_points", "syntax", "not valid in an identifier",
                           [] { return "void f() { \\u0061sm(\"syscall\"); }"; }),
      make_text_attack("counter_in_static_data", "illegal/writable_static_data", "loader",
                       "static volatile int calls = 5;"
                       "extern \"C\" void gemm(long long, const kw_call*) { calls = calls + 1; }"),
      make_text_attack("terabyte_of_static_data", "illegal/writable_static_data", "loader",
                       "char x[1l << 40]; extern \"C\" void gemm(long long i, const kw_call*) { x[i] = 1; }"),
      make_text_attack("value_computed_at_load", "illegal/writable_static_data", "loader",
                       "int start(); static int begun = start(); int start() { return begun + 1; }"
                       "extern \"C\" void gemm(long long, const kw_call*) {}"),
      make_text_attack("calls_the_C_library", "illegal/undefined_symbol", "loader",
                       "extern \"C\" int system(const char*);"
                       "extern \"C\" void gemm(long long, const kw_call*) { system(\"true\"); }"),
      make_text_attack("kernel_is_a_table", "launch_error/missing_kernel", "loader",
                       "extern \"C\" { extern const int gemm[2] = {1, 2}; }"),
  };
}

}  // namespace kw
