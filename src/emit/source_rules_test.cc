// Each rule of free-form texts: what breaks it, what looks like it and is fine.
#include "emit/source_rules.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

std::string reason_of(std::string_view text) {
  const auto violation = find_source_violation(text);
  return violation ? violation->reason : "none";
}

TEST(SourceRules, accept_an_ordinary_kernel) {
  EXPECT_EQ(
      reason_of(
          "#include <immintrin.h>\n"
          "#pragma GCC unroll 4\n"
          "// asm, #include <stdio.h> and section(\"x\") in a comment are only words\n"
          "extern \"C\" void mine(long long item, const kw_call* call) { const char* s = \"asm(\"; }\n"),
      "none");
}

TEST(SourceRules, name_the_rule_that_is_broken) {
  EXPECT_EQ(reason_of(""), "empty");
  EXPECT_EQ(reason_of(std::string(kMaxSourceBytes + 1, ' ')), "too_large");
  EXPECT_EQ(reason_of(std::string_view("int a;\0int b;", 13)), "binary");
  EXPECT_EQ(reason_of("int a; // \xff\xfe"), "binary");
  EXPECT_EQ(reason_of("int a; // \xe2\x82"), "binary");
  EXPECT_EQ(reason_of("#include <stdio.h>\n"), "include");
  EXPECT_EQ(reason_of("#include \"secret.txt\"\n"), "include");
  EXPECT_EQ(reason_of("#define F <immintrin.h>\n#include F\n"), "include");
  EXPECT_EQ(reason_of("  %: include <stdio.h>\n"), "include");
  EXPECT_EQ(reason_of("#if __has_include(<secret.h>)\n#endif\n"), "include");
  EXPECT_EQ(reason_of("#embed \"secret.txt\"\n"), "embed");
  EXPECT_EQ(reason_of("void f() { asm(\".incbin \\\"secret\\\"\"); }"), "inline_assembly");
  EXPECT_EQ(reason_of("void f() { __asm__ volatile(\"nop\"); }"), "inline_assembly");
  EXPECT_EQ(reason_of("#pragma GCC optimize(\"O3\")\n"), "pragma");
  EXPECT_EQ(reason_of("_Pragma(\"GCC poison x\")"), "pragma");
  EXPECT_EQ(reason_of("__attribute__((constructor)) void f() {}"), "initialiser");
  EXPECT_EQ(reason_of("__attribute__((__constructor__)) void f() {}"), "initialiser");
  EXPECT_EQ(reason_of("__attribute__((section(\".init\"))) int f() {}"), "attribute");
  EXPECT_EQ(reason_of("[[gnu::alias(\"g\")]] void f();"), "attribute");
  EXPECT_EQ(reason_of("thread_local int calls;"), "thread_local");
  EXPECT_EQ(reason_of("long f() { return __builtin_ia32_rdtsc(); }"), "clock");
  EXPECT_EQ(reason_of("const char* f() { return __TIME__; }"), "clock");
  EXPECT_EQ(reason_of("void* f() { return __builtin_frame_address(0); }"), "builtin");
}

TEST(SourceRules, see_through_split_lines_and_give_the_line) {
  const auto violation = find_source_violation("int a;\n// b\nvoid f() { a\\\nsm(\"nop\"); }\n");
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->reason, "inline_assembly");
  EXPECT_EQ(violation->evidence["line"], 3);
  EXPECT_EQ(reason_of("// a comment that goes on \\\nasm(\"nop\");\n"), "none");
  EXPECT_EQ(reason_of("/* */ asm(\"nop\");\n"), "inline_assembly");
}

TEST(SourceRules, are_not_fooled_about_where_a_literal_ends) {
  const std::string asm_code = "void f() { asm(\"nop\"); }";
  EXPECT_EQ(reason_of("int c = u'\"'; " + asm_code + " int d = u'\"';"), "inline_assembly");
  EXPECT_EQ(reason_of("#define A \"/*\"\n" + asm_code + "\n#define B \"*/\"\n"), "inline_assembly");
  EXPECT_EQ(reason_of("const char* s = R\"(\")\"; " + asm_code + " //\"\n"), "raw_string");
  EXPECT_EQ(reason_of("#define DROP(x)\nDROP(1'a') " + asm_code + " //'\n"), "digit_separator");
  EXPECT_EQ(reason_of("const char* s = \"\\\"\"; " + asm_code), "inline_assembly");
  EXPECT_EQ(reason_of("const char* s = \"asm(\\\"nop\\\")\"; char c = '\"'; char d = '\\'';"), "none");
}

TEST(SourceRules, see_words_that_the_preprocessor_would_make) {
  EXPECT_EQ(reason_of("#define GLUE(a, b) a##b\nvoid f() { GLUE(as, m)(\"nop\"); }"), "token_pasting");
  EXPECT_EQ(reason_of("#define GLUE(a, b) a %:%: b\n"), "token_pasting");
}

TEST(SourceRules, know_every_directive) {
  EXPECT_EQ(reason_of("\f#include <stdio.h>\n"), "include");
  EXPECT_EQ(reason_of("\v#\vinclude <stdio.h>\n"), "include");
  EXPECT_EQ(reason_of("/* */ # /* */ include <stdio.h>\n"), "include");
  EXPECT_EQ(reason_of("#include <immintrin.h> // fine\n"), "none");
  EXPECT_EQ(reason_of("#include <immintrin.h> <stdio.h>\n"), "include");
  EXPECT_EQ(reason_of("#if __has_include_next(<x>)\n#endif\n"), "include");
  EXPECT_EQ(reason_of("# 1 \"secret.txt\"\nint error here;\n"), "line_directive");
  EXPECT_EQ(reason_of("#ident \"x\"\n"), "directive");
  EXPECT_EQ(reason_of("#\n#if 1\n#elif 0\n#else\n#endif\n#error don't\n"), "none");
}

// Texts as large as allowed, and of few or of endless lines, are judged with a small stack.
TEST(SourceRules, judge_the_largest_texts) {
  const size_t bulk = kMaxSourceBytes - 100;
  for (const char filler : {' ', '\n', 'x', '/', '#', '"', '(', '\\'})
    for (const std::string before : {"", "//", "/*", "#include <", "section", "__builtin_alloca", "\""})
      EXPECT_NE(reason_of(before + std::string(bulk, filler) + "\n*/ asm(\"nop\");\n"), "")
          << before << filler;
  EXPECT_EQ(reason_of("/*" + std::string(bulk, '-') + "*/ asm(\"nop\");\n"), "inline_assembly");
}

TEST(SourceRules, give_evidence_that_can_be_stored_whatever_the_letters) {
  const auto violation = find_source_violation(std::string(199, ' ') + "\u00e9 asm(\"nop\");\n");
  ASSERT_TRUE(violation);
  EXPECT_NO_THROW((void)violation->evidence.dump());
}

}  // namespace
}  // namespace kw
