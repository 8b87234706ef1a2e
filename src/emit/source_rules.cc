// Rules for free-form kernel texts, over tokens, so that a comment may say "asm" and neither a split word nor
// an odd literal hides one. What builds words while it is compiled (##), or is a literal to one reader and
// code to another (raw strings, digit separators), is refused itself. In: text. Out: the first broken rule.
#include "emit/source_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "emit/source_tokens.h"

namespace kw {
namespace {

using Tokens = std::span<const SourceToken>;

struct Violation {
  const char* reason;   // code after illegal/
  std::string message;  // what is allowed instead
};
using Judgement = std::optional<Violation>;

// Words are separated by blanks; one that ends in * stands for all that begin so.
struct WordRule {
  std::string_view words;
  const char* reason;
  const char* message;
};

constexpr std::array kOnlyCpu = {WordRule{"asm __asm __asm__", "inline_assembly",
                                          "inline assembly is not allowed; use the compiler's intrinsics"}};

constexpr std::array kOnlyCuda = {
    WordRule{"clock clock64 __nanosleep __clock*", "clock", "a kernel may not read a clock"},
    WordRule{"__host__ __managed__", "host",
             "only device code is taken; nothing of a candidate runs on the host"}};

// In literals of CUDA texts: the words of inline assembly.
struct LiteralRule {
  std::string_view part;
  const char* reason;
  const char* message;
};
constexpr std::array kCudaLiterals = {
    LiteralRule{"incbin", "inline_assembly", "assembly that reads files is not allowed"},
    LiteralRule{"clock", "clock", "a kernel may not read a clock"},
    LiteralRule{"globaltimer", "clock", "a kernel may not read a clock"}};

constexpr std::array kAnywhere = {
    WordRule{"__has_include* __has_embed*", "include", "the text may not ask which files exist"},
    WordRule{"_Pragma __pragma", "pragma", "_Pragma is not allowed; write #pragma GCC unroll"},
    WordRule{"constructor __constructor__ destructor __destructor__ init_priority __init_priority__",
             "initialiser", "code may not run when it is loaded"},
    WordRule{"__thread thread_local _Thread_local", "thread_local", "thread-local data outlive a launch"},
    WordRule{
        "__builtin_trap __builtin_longjmp __builtin_setjmp* __builtin_return* __builtin_apply* "
        "__builtin_frame_address __builtin_extract_return_addr __builtin_eh_return* "
        "__builtin_init_dwarf_reg_size_table __builtin_unwind_init __builtin_dwarf_cfa __builtin_alloca* "
        "__builtin___clear_cache",
        "builtin", "builtins that leave the function or look at its frame are not allowed"},
    WordRule{"rdtsc rdtscp _rdtsc __rdtsc __rdtscp _rdpmc __rdpmc __builtin_ia32_rdtsc* __builtin_ia32_rdpmc "
             "__builtin_readcyclecounter __DATE__ __TIME__ __TIMESTAMP__",
             "clock", "a kernel may not read a clock, nor know the hour of its compilation"}};

constexpr const char* kSymbolMessage = "attributes that place or rename symbols are not allowed";
constexpr WordRule kBeforeParenthesis = {
    "section __section__ alias __alias__ weakref __weakref__ ifunc __ifunc__ weak __weak__ symver __symver__ "
    "copy "
    "__copy__ noinit __noinit__ persistent __persistent__ retain __retain__",
    "attribute", kSymbolMessage};
constexpr WordRule kEndsAttribute = {
    "ifunc __ifunc__ weakref __weakref__ symver __symver__ weak __weak__ retain __retain__", "attribute",
    kSymbolMessage};

constexpr std::string_view kDirectives =
    "define undef if ifdef ifndef elif elifdef elifndef else endif error warning";
constexpr std::string_view kRawPrefixes = "R LR uR UR u8R";

constexpr std::array<std::string_view, 12> kIntrinsicHeaders = {
    "immintrin.h", "x86intrin.h", "xmmintrin.h", "emmintrin.h", "pmmintrin.h", "tmmintrin.h",
    "smmintrin.h", "nmmintrin.h", "stdint.h",    "stddef.h",    "cstdint",     "cstddef"};

bool is_listed(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    const std::string_view listed = words.substr(0, end);
    if (listed.ends_with('*') ? word.starts_with(listed.substr(0, end - 1)) : word == listed) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

bool touch(const SourceToken& left, const SourceToken& right) {
  return left.text.data() + left.text.size() == right.text.data();
}

// Tokens of the mark that begins a directive (#, or its spellings %: and ??=); 0: none.
size_t count_directive_mark(Tokens tokens) {
  if (!tokens[0].starts_line) return 0;
  if (tokens[0].is_mark('#')) return 1;
  const auto spells = [&](std::string_view mark) {
    if (tokens.size() < mark.size()) return false;
    for (size_t i = 0; i < mark.size(); ++i)
      if (!tokens[i].is_mark(mark[i])) return false;
    return true;
  };
  return spells("%:") ? 2 : spells("?\?=") ? 3 : 0;
}

Judgement judge_include(Tokens target, const SourceTokens& source, SourceRules rules) {
  if (rules == SourceRules::kCuda) return Violation{"include", "a CUDA text includes nothing"};
  const bool bracketed = target.size() >= 3 && target.front().is_mark('<') && target.back().is_mark('>') &&
                         std::find(kIntrinsicHeaders.begin(), kIntrinsicHeaders.end(),
                                   source.between(target.front(), target.back())) != kIntrinsicHeaders.end();
  if (bracketed) return std::nullopt;
  return Violation{
      "include", fmt::format("only these includes are allowed: <{}>", fmt::join(kIntrinsicHeaders, ">, <"))};
}

Judgement judge_pragma(Tokens words) {
  const auto says = [&](size_t i, std::string_view word) {
    return i < words.size() && words[i].is_word(word);
  };
  const bool allowed = (says(0, "GCC") && (says(1, "unroll") || says(1, "ivdep"))) || says(0, "unroll") ||
                       (says(0, "clang") && says(1, "loop")) || says(0, "once") ||
                       (says(0, "omp") && says(1, "simd"));
  if (allowed) return std::nullopt;
  return Violation{
      "pragma", "of pragmas only GCC unroll, GCC ivdep, unroll, clang loop, once and omp simd are allowed"};
}

// `line`: the directive's tokens behind its mark; none is a directive without effect.
Judgement judge_directive(Tokens line, const SourceTokens& source, SourceRules rules) {
  if (line.empty()) return std::nullopt;
  const std::string_view name = line[0].text;
  if (name == "include") return judge_include(line.subspan(1), source, rules);
  if (name == "pragma") return judge_pragma(line.subspan(1));
  if (name == "embed") return Violation{"embed", "#embed reads files; put constants into the text"};
  if (name == "include_next" || name == "import")
    return Violation{"include", fmt::format("#{} is not allowed", name)};
  if (name == "line" || line[0].kind == SourceToken::Kind::kNumber)
    return Violation{"line_directive", "#line hides where an error is, and errors quote the file it names"};
  if (is_listed(kDirectives, name)) return std::nullopt;
  return Violation{"directive", fmt::format("#{} is not allowed; allowed are include, pragma, {}",
                                            print_line(name, 40), kDirectives)};
}

Judgement judge_word(Tokens tokens, SourceRules rules) {
  const SourceToken& word = tokens[0];
  const std::span<const WordRule> own = rules == SourceRules::kCuda ? std::span<const WordRule>(kOnlyCuda)
                                                                    : std::span<const WordRule>(kOnlyCpu);
  for (const std::span<const WordRule> list : {std::span<const WordRule>(kAnywhere), own})
    for (const WordRule& rule : list)
      if (is_listed(rule.words, word.text)) return Violation{rule.reason, rule.message};
  if (tokens.size() < 2) return std::nullopt;
  const SourceToken& next = tokens[1];
  for (const auto& [rule, marks] : {std::pair(kBeforeParenthesis, "("), std::pair(kEndsAttribute, ")]")})
    if (next.kind == SourceToken::Kind::kMark &&
        std::string_view(marks).find(next.text) != std::string_view::npos && is_listed(rule.words, word.text))
      return Violation{rule.reason, rule.message};
  if (is_listed(kRawPrefixes, word.text) && next.text[0] == '"' && touch(word, next))
    return Violation{"raw_string", "raw string literals are not allowed"};
  if (word.is_word("import") && (next.kind != SourceToken::Kind::kMark || next.is_mark('<')))
    return Violation{"include", "modules are not allowed"};
  return std::nullopt;
}

// Neighbouring literals are one to the compiler.
Judgement judge_cuda_literal(Tokens tokens) {
  std::string whole;
  for (const SourceToken& token : tokens) {
    if (token.kind != SourceToken::Kind::kLiteral) break;
    for (const char c : token.text)
      if (c != '"') whole += c;
  }
  for (const LiteralRule& rule : kCudaLiterals)
    if (whole.find(rule.part) != std::string::npos) return Violation{rule.reason, rule.message};
  return std::nullopt;
}

Judgement judge_token(Tokens tokens, SourceRules rules) {
  const SourceToken& token = tokens[0];
  if (token.kind == SourceToken::Kind::kWord) return judge_word(tokens, rules);
  const auto mark_follows = [&](size_t i, char mark) {
    return i < tokens.size() && tokens[i].is_mark(mark) && touch(tokens[i - 1], tokens[i]);
  };
  const bool pastes =
      (token.is_mark('#') && mark_follows(1, '#')) ||
      (token.is_mark('%') && mark_follows(1, ':') && mark_follows(2, '%') && mark_follows(3, ':'));
  if (pastes) return Violation{"token_pasting", "## builds words that cannot be read here; write them out"};
  if (token.kind == SourceToken::Kind::kNumber && tokens.size() > 1 && tokens[1].text[0] == '\'' &&
      touch(token, tokens[1]))
    return Violation{"digit_separator", "write numbers without '"};
  return std::nullopt;
}

std::string_view find_line(std::string_view text, int64_t line) {
  for (; line > 1; --line) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  return text.substr(0, text.find('\n'));
}

Verdict refuse(Violation violation) {
  Verdict verdict;
  verdict.klass = VerdictClass::kIllegal;
  verdict.reason = violation.reason;
  verdict.evidence["message"] = std::move(violation.message);
  return verdict;
}

std::optional<Verdict> find_token_violation(std::string_view text, SourceRules rules) {
  const SourceTokens source(text);
  const Tokens tokens = source.tokens();
  for (size_t i = 0; i < tokens.size(); ++i) {
    Judgement judgement;
    if (const size_t mark = count_directive_mark(tokens.subspan(i)); mark > 0) {
      size_t end = i + mark;
      while (end < tokens.size() && !tokens[end].starts_line) ++end;
      judgement = judge_directive(tokens.subspan(i + mark, end - i - mark), source, rules);
    }
    if (!judgement) judgement = judge_token(tokens.subspan(i), rules);
    const bool begins_literal = tokens[i].kind == SourceToken::Kind::kLiteral &&
                                (i == 0 || tokens[i - 1].kind != SourceToken::Kind::kLiteral);
    if (!judgement && begins_literal && rules == SourceRules::kCuda)
      judgement = judge_cuda_literal(tokens.subspan(i));
    if (!judgement) continue;
    Verdict verdict = refuse(*std::move(judgement));
    verdict.evidence["line"] = tokens[i].line;
    verdict.evidence["text"] = print_line(find_line(text, tokens[i].line), 200);
    return verdict;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> find_source_violation(std::string_view text, SourceRules rules) {
  if (text.empty()) return refuse({"empty", "the source text is empty"});
  if (text.size() > kMaxSourceBytes)
    return refuse({"too_large", fmt::format("{} bytes of source; at most {}", text.size(), kMaxSourceBytes)});
  if (text.find('\0') != std::string_view::npos)
    return refuse({"binary", "the source text holds a NUL byte"});
  if (!is_utf8(text)) return refuse({"binary", "the source text is not UTF-8"});
  return find_token_violation(text, rules);
}

}  // namespace kw
