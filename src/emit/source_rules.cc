// Rules for free-form kernel texts. Comments and literals are blanked and line continuations joined before
// matching, so that a comment may say "asm" and a split word cannot hide. In: text. Out: the first broken
// rule as a Verdict.
#include "emit/source_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <vector>

namespace kw {
namespace {

Verdict make_illegal(std::string reason, std::string message, int64_t line, std::string_view text) {
  Verdict verdict;
  verdict.klass = VerdictClass::kIllegal;
  verdict.reason = std::move(reason);
  verdict.evidence["message"] = std::move(message);
  if (line > 0) verdict.evidence["line"] = line;
  if (!text.empty()) verdict.evidence["text"] = std::string(text.substr(0, 200));
  return verdict;
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int more = lead < 0x80                   ? 0
                     : lead >= 0xc2 && lead < 0xe0 ? 1
                     : lead >= 0xe0 && lead < 0xf0 ? 2
                     : lead >= 0xf0 && lead < 0xf5 ? 3
                                                   : -1;
    if (more < 0 || i + static_cast<size_t>(more) >= text.size() + (more == 0 ? 1 : 0)) return false;
    for (int j = 1; j <= more; ++j)
      if ((static_cast<unsigned char>(text[i + static_cast<size_t>(j)]) & 0xc0) != 0x80) return false;
    i += static_cast<size_t>(more) + 1;
  }
  return true;
}

// Joins continued lines (keeping the count of lines) and replaces comments and the insides of literals by
// blanks. Include directives keep their file name.
std::string blank_comments(std::string_view text) {
  std::string joined;
  int64_t held = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i + 1;
    while (text[i] == '\\' && end < text.size() &&
           (text[end] == ' ' || text[end] == '\t' || text[end] == '\r'))
      ++end;
    if (text[i] == '\\' && end < text.size() && text[end] == '\n') {
      ++held;
      i = end;
      continue;
    }
    joined += text[i];
    if (text[i] == '\n') {
      joined.append(static_cast<size_t>(held), '\n');
      held = 0;
    }
  }
  std::string out = joined;
  enum class In { kCode, kLine, kBlock, kString, kChar } in = In::kCode;
  bool directive = false, line_start = true;
  for (size_t i = 0; i < out.size(); ++i) {
    const char c = joined[i], next = i + 1 < joined.size() ? joined[i + 1] : '\0';
    if (c == '\n') {
      if (in != In::kBlock) in = In::kCode;
      directive = false;
      line_start = true;
      continue;
    }
    switch (in) {
      case In::kCode:
        if (line_start && c == '#') directive = true;
        if (c != ' ' && c != '\t') line_start = false;
        if (c == '/' && next == '/')
          in = In::kLine, out[i] = ' ';
        else if (c == '/' && next == '*') {
          in = In::kBlock;
          out[i] = out[i + 1] = ' ';
          ++i;
        } else if (c == '"' && !directive)
          in = In::kString;
        else if (c == '\'' && !directive && !(i > 0 && isalnum(static_cast<unsigned char>(joined[i - 1]))))
          in = In::kChar;
        break;
      case In::kLine:
        out[i] = ' ';
        break;
      case In::kBlock:
        out[i] = ' ';
        if (c == '*' && next == '/') in = In::kCode, out[++i] = ' ';
        break;
      case In::kString:
      case In::kChar:
        if (c == '\\' && next != '\n') {
          out[i] = ' ';
          out[++i] = ' ';
        } else if (c == (in == In::kString ? '"' : '\''))
          in = In::kCode;
        else
          out[i] = ' ';
        break;
    }
  }
  return out;
}

struct Rule {
  const char* pattern;
  const char* reason;   // code after illegal/
  const char* message;  // what is allowed instead
};

// Order matters only for which of two broken rules is named.
constexpr std::array kRules = {
    Rule{R"((^|\n)[ \t]*(#|%:|\?\?=)[ \t]*embed\b)", "embed",
         "#embed reads files; put constants into the text"},
    Rule{R"((^|\n)[ \t]*(#|%:|\?\?=)[ \t]*include_next\b)", "include", "#include_next is not allowed"},
    Rule{R"(__has_(include|embed)\b)", "include", "the text may not ask which files exist"},
    Rule{R"(\b(__asm__|__asm|asm)\b)", "inline_assembly",
         "inline assembly is not allowed; use the compiler's intrinsics"},
    Rule{
        R"((^|\n)[ \t]*(#|%:|\?\?=)[ \t]*pragma[ \t]+(?!GCC[ \t]+(unroll|ivdep)\b|unroll\b|clang[ \t]+loop\b|once\b|omp[ \t]+simd\b))",
        "pragma", "of pragmas only GCC unroll, GCC ivdep, unroll, clang loop and omp simd are allowed"},
    Rule{R"(\b_Pragma\b)", "pragma", "_Pragma is not allowed; write #pragma GCC unroll"},
    Rule{R"(\b(__)?(constructor|destructor|init_priority)(__)?\b)", "initialiser",
         "code may not run when it is loaded"},
    Rule{R"(\b(__)?(section|alias|weakref|ifunc|weak|symver|copy|noinit|persistent|retain)(__)?[ \t\n]*\()",
         "attribute", "attributes that place or rename symbols are not allowed"},
    Rule{R"(\b(__)?(ifunc|weakref|symver|weak|retain)(__)?[ \t\n]*\))", "attribute",
         "attributes that place or rename symbols are not allowed"},
    Rule{R"(\b(__thread|thread_local|_Thread_local)\b)", "thread_local",
         "thread-local data outlive a launch"},
    Rule{
        R"(\b(__builtin_(trap|longjmp|setjmp|return|apply|apply_args|frame_address|return_address|extract_return_addr|eh_return|init_dwarf_reg_size_table|unwind_init|dwarf_cfa|alloca\w*|__clear_cache|___clear_cache))\b)",
        "builtin", "builtins that leave the function or look at its frame are not allowed"},
    Rule{
        R"(\b(rdtsc|rdtscp|_rdtsc|__rdtsc|__rdtscp|_rdpmc|__rdpmc|__builtin_ia32_rdtsc|__builtin_ia32_rdtscp|__builtin_ia32_rdpmc|__builtin_readcyclecounter)\b)",
        "clock", "a kernel may not read a clock"},
    Rule{R"((^|\n)[ \t]*(#|%:|\?\?=)[ \t]*line\b)", "line_directive", "#line hides where an error is"},
    Rule{R"(\bimport[ \t]+["<a-zA-Z])", "include", "modules are not allowed"},
};

constexpr std::array<std::string_view, 12> kIntrinsicHeaders = {
    "immintrin.h", "x86intrin.h", "xmmintrin.h", "emmintrin.h", "pmmintrin.h", "tmmintrin.h",
    "smmintrin.h", "nmmintrin.h", "stdint.h",    "stddef.h",    "cstdint",     "cstddef"};

int64_t line_at(std::string_view text, size_t position) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n');
}
std::string_view line_text(std::string_view text, int64_t line) {
  for (; line > 1; --line) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  return text.substr(0, text.find('\n'));
}

std::optional<Verdict> find_include_violation(const std::string& code, std::string_view text) {
  static const std::regex directive(R"((^|\n)[ \t]*(#|%:|\?\?=)[ \t]*(include|import)\b[ \t]*([^\n]*))");
  static const std::regex bracketed(R"(<([^>]*)>[ \t\r]*)");
  for (std::sregex_iterator at(code.begin(), code.end(), directive), end; at != end; ++at) {
    const std::string target = (*at)[4];
    std::smatch name;
    if (std::regex_match(target, name, bracketed) &&
        std::find(kIntrinsicHeaders.begin(), kIntrinsicHeaders.end(), name[1].str()) !=
            kIntrinsicHeaders.end())
      continue;
    const int64_t line = line_at(code, static_cast<size_t>(at->position(2)));
    return make_illegal(
        "include", fmt::format("only these includes are allowed: <{}>", fmt::join(kIntrinsicHeaders, ">, <")),
        line, line_text(text, line));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> find_source_violation(std::string_view text) {
  if (text.empty()) return make_illegal("empty", "the source text is empty", 0, "");
  if (text.size() > kMaxSourceBytes)
    return make_illegal("too_large",
                        fmt::format("{} bytes of source; at most {}", text.size(), kMaxSourceBytes), 0, "");
  if (text.find('\0') != std::string_view::npos)
    return make_illegal("binary", "the source text holds a NUL byte", 0, "");
  if (!is_utf8(text)) return make_illegal("binary", "the source text is not UTF-8", 0, "");
  const std::string code = blank_comments(text);
  if (auto violation = find_include_violation(code, text)) return violation;
  static const std::vector<std::regex> patterns = [] {
    std::vector<std::regex> made;
    for (const Rule& rule : kRules)
      made.emplace_back(rule.pattern, std::regex::ECMAScript | std::regex::optimize);
    return made;
  }();
  for (size_t i = 0; i < kRules.size(); ++i) {
    std::smatch match;
    if (!std::regex_search(code, match, patterns[i])) continue;
    size_t position = static_cast<size_t>(match.position(0));
    if (code[position] == '\n') ++position;
    const int64_t line = line_at(code, position);
    return make_illegal(kRules[i].reason, kRules[i].message, line, line_text(text, line));
  }
  return std::nullopt;
}

}  // namespace kw
