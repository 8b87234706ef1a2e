#include "record/problem.h"

#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/check.h"

namespace kw {
namespace {

constexpr std::array<std::string_view, 4> kDtypeNames = {"f32", "f16", "bf16", "f64"};
constexpr std::array<std::string_view, 4> kLayoutNames = {"nn", "nt", "tn", "tt"};

// Rows and columns of A, B and C as stored.
struct StoredShape {
  int64_t a_rows, a_cols, b_rows, b_cols;
};

StoredShape stored_shape(const Problem& p) {
  const bool ta = p.layout == Layout::kTN || p.layout == Layout::kTT;
  const bool tb = p.layout == Layout::kNT || p.layout == Layout::kTT;
  return {ta ? p.k : p.m, ta ? p.m : p.k, tb ? p.n : p.k, tb ? p.k : p.n};
}

Status check_stride(char matrix, int64_t ld, int64_t rows, int64_t cols) {
  const int64_t least = std::max<int64_t>(1, cols);
  if (ld < least)
    return fail_user("ld{} is {}; at least {} is needed, the stored row length of {}", matrix, ld, least,
                     matrix);
  if (rows > 0 && static_cast<__int128>(rows) * ld > (static_cast<__int128>(1) << 62))
    return fail_user("{} has {} rows of stride {}: more than 2^62 elements", matrix, rows, ld);
  return {};
}

template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string_view print_dtype(Dtype dtype) { return kDtypeNames[static_cast<size_t>(dtype)]; }

Result<Dtype> parse_dtype(std::string_view text) {
  for (size_t i = 0; i < kDtypeNames.size(); ++i)
    if (text == kDtypeNames[i]) return static_cast<Dtype>(i);
  return fail_user("dtype \"{}\" is not known; use f32, f16, bf16 or f64", text);
}

std::string_view print_layout(Layout layout) { return kLayoutNames[static_cast<size_t>(layout)]; }

Result<Layout> parse_layout(std::string_view text) {
  for (size_t i = 0; i < kLayoutNames.size(); ++i)
    if (text == kLayoutNames[i]) return static_cast<Layout>(i);
  return fail_user(
      "layout \"{}\" is not known; use nn, nt, tn or tt (first letter A, second B; t = stored transposed)",
      text);
}

int64_t dtype_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return 4;
    case Dtype::kF16:
      return 2;
    case Dtype::kBf16:
      return 2;
    case Dtype::kF64:
      return 8;
  }
  KW_CHECK(false, "dtype {}", static_cast<int>(dtype));
}

Problem with_tight_strides(Problem problem) {
  const StoredShape shape = stored_shape(problem);
  problem.lda = std::max<int64_t>(1, shape.a_cols);
  problem.ldb = std::max<int64_t>(1, shape.b_cols);
  problem.ldc = std::max<int64_t>(1, problem.n);
  return problem;
}

Status check_problem(const Problem& problem) {
  if (problem.op != "gemm") return fail_user("operation \"{}\" is not known; use gemm", problem.op);
  const std::pair<char, int64_t> sizes[] = {{'m', problem.m}, {'n', problem.n}, {'k', problem.k}};
  for (const auto& [name, value] : sizes)
    if (value < 0 || value > (int64_t{1} << 40))
      return fail_user("{} is {}; it must lie in [0, 2^40]", name, value);
  if (static_cast<__int128>(problem.m) * problem.n > (static_cast<__int128>(1) << 62))
    return fail_user("m x n is {} x {}: more than 2^62 elements", problem.m, problem.n);
  const StoredShape shape = stored_shape(problem);
  KW_TRY_VOID(check_stride('a', problem.lda, shape.a_rows, shape.a_cols));
  KW_TRY_VOID(check_stride('b', problem.ldb, shape.b_rows, shape.b_cols));
  KW_TRY_VOID(check_stride('c', problem.ldc, problem.m, problem.n));
  if (!std::isfinite(problem.alpha)) return fail_user("alpha is {}; it must be finite", problem.alpha);
  if (!std::isfinite(problem.beta)) return fail_user("beta is {}; it must be finite", problem.beta);
  return {};
}

std::string print_problem(const Problem& p) {
  return fmt::format("{} {} {} m{} n{} k{} lda{} ldb{} ldc{} alpha{} beta{}", p.op, print_dtype(p.dtype),
                     print_layout(p.layout), p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.alpha, p.beta);
}

Result<Problem> parse_problem(std::string_view text) {
  const auto malformed = [&](std::string_view what) {
    return fail_user(
        "problem \"{}\": {}; it reads like \"gemm f32 nt m128 n896 k4864 lda4864 ldb4864 ldc896 alpha1 "
        "beta0\"",
        text, what);
  };
  std::istringstream words{std::string(text)};
  std::string op, dtype, layout, word, rest;
  if (!(words >> op >> dtype >> layout)) return malformed("too few words");
  Problem problem;
  problem.op = op;
  KW_TRY(problem.dtype, parse_dtype(dtype));
  KW_TRY(problem.layout, parse_layout(layout));
  const auto take = [&](std::string_view prefix, auto& value) {
    return (words >> word) && std::string_view(word).substr(0, prefix.size()) == prefix &&
           parse_number(std::string_view(word).substr(prefix.size()), value);
  };
  const bool ok = take("m", problem.m) && take("n", problem.n) && take("k", problem.k) &&
                  take("lda", problem.lda) && take("ldb", problem.ldb) && take("ldc", problem.ldc) &&
                  take("alpha", problem.alpha) && take("beta", problem.beta);
  if (!ok) return malformed(fmt::format("stuck at \"{}\"", word));
  if (words >> rest) return malformed(fmt::format("\"{}\" is left over", rest));
  KW_TRY_VOID(check_problem(problem));
  if (print_problem(problem) != text) return malformed("not in canonical form");
  return problem;
}

std::string describe_problem(const Problem& p) {
  std::string text =
      fmt::format("{}x{}x{} {} {}", p.m, p.n, p.k, print_layout(p.layout), print_dtype(p.dtype));
  const Problem tight = with_tight_strides(p);
  if (p.lda != tight.lda) text += fmt::format(" lda {}", p.lda);
  if (p.ldb != tight.ldb) text += fmt::format(" ldb {}", p.ldb);
  if (p.ldc != tight.ldc) text += fmt::format(" ldc {}", p.ldc);
  if (p.alpha != 1) text += fmt::format(" alpha {}", p.alpha);
  if (p.beta != 0) text += fmt::format(" beta {}", p.beta);
  return text;
}

}  // namespace kw
