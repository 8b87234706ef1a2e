// Launch arithmetic: a recursive-descent evaluator over the text itself. Texts are short (kMaxTextBytes), so
// nothing is compiled; every operation is checked for overflow.
#include <cctype>
#include <charconv>

#include "record/expression.h"

namespace kw {
namespace {

constexpr size_t kMaxTextBytes = 500;
constexpr int kMaxDepth = 32;

// With variables: evaluates. Without: only checks the form (every name stands for 1).
class Evaluator {
 public:
  Evaluator(std::string_view text, const Variables* variables) : text_(text), variables_(variables) {}

  Result<int64_t> run() {
    KW_TRY(const int64_t value, sum());
    skip_space();
    if (at_ != text_.size()) return stuck("an operator or the end");
    return value;
  }

 private:
  tl::unexpected<Error> stuck(std::string_view wanted) const {
    return fail_user("expression \"{}\": expected {} at position {}", text_, wanted, at_ + 1);
  }
  tl::unexpected<Error> overflow() const {
    return fail_user("expression \"{}\" does not fit 64 bits", text_);
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<int64_t> sum() {
    KW_TRY(int64_t left, product());
    while (true) {
      const bool plus = take('+');
      if (!plus && !take('-')) return left;
      KW_TRY(const int64_t right, product());
      const bool lost =
          plus ? __builtin_add_overflow(left, right, &left) : __builtin_sub_overflow(left, right, &left);
      if (lost) return overflow();
    }
  }

  Result<int64_t> product() {
    KW_TRY(int64_t left, atom());
    while (true) {
      skip_space();
      const char op = at_ < text_.size() ? text_[at_] : '\0';
      if (op != '*' && op != '/' && op != '%') return left;
      ++at_;
      KW_TRY(const int64_t right, atom());
      KW_TRY(left, combine(left, op, right));
    }
  }

  Result<int64_t> combine(int64_t left, char op, int64_t right) const {
    if (op == '*') {
      int64_t value = 0;
      if (__builtin_mul_overflow(left, right, &value)) return overflow();
      return value;
    }
    if (right == 0) {
      if (variables_ == nullptr) return 1;
      return fail_user("expression \"{}\" divides by zero", text_);
    }
    if (left == INT64_MIN && right == -1) return overflow();
    return op == '/' ? left / right : left % right;
  }

  Result<int64_t> atom() {
    if (++depth_ > kMaxDepth)
      return fail_user("expression \"{}\" is nested deeper than {}", text_, kMaxDepth);
    auto value = atom_inner();
    --depth_;
    return value;
  }

  Result<int64_t> atom_inner() {
    if (take('(')) {
      KW_TRY(const int64_t value, sum());
      if (!take(')')) return stuck("\")\"");
      return value;
    }
    if (take('-')) {
      KW_TRY(const int64_t value, atom());
      return combine(value, '*', -1);
    }
    skip_space();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    return name();
  }

  Result<int64_t> number() {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc()) return overflow();
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  Result<int64_t> name() {
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word.empty()) return stuck("a number, a name or \"(\"");
    if (word == "min" || word == "max" || word == "ceil_div") return call(word);
    if (variables_ == nullptr) return 1;
    const auto found = variables_->find(word);
    if (found == variables_->end()) {
      std::string known;
      for (const auto& [key, unused] : *variables_) known += (known.empty() ? "" : ", ") + key;
      return fail_user("expression \"{}\": name \"{}\" is not known; known are {}", text_, word, known);
    }
    return found->second;
  }

  Result<int64_t> call(std::string_view function) {
    if (!take('(')) return stuck("\"(\"");
    KW_TRY(const int64_t left, sum());
    if (!take(',')) return stuck("\",\"");
    KW_TRY(const int64_t right, sum());
    if (!take(')')) return stuck("\")\"");
    if (function == "min") return std::min(left, right);
    if (function == "max") return std::max(left, right);
    KW_TRY(const int64_t quotient, combine(left, '/', right));
    const bool exact = right == 0 || left % right == 0;
    return quotient + (!exact && (left > 0) == (right > 0) ? 1 : 0);
  }

  std::string_view text_;
  const Variables* variables_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text) {
  if (text.empty() || text.size() > kMaxTextBytes)
    return fail_user("expression of {} characters; 1 to {} are allowed", text.size(), kMaxTextBytes);
  KW_TRY([[maybe_unused]] const int64_t checked, Evaluator(text, nullptr).run());
  Expression expression;
  expression.text_ = std::string(text);
  return expression;
}

Result<int64_t> Expression::evaluate(const Variables& variables) const {
  return Evaluator(text_, &variables).run();
}

Result<int64_t> evaluate_within(const Expression& expression, const Variables& variables,
                                std::string_view what, int64_t least, int64_t most) {
  KW_TRY(const int64_t value, expression.evaluate(variables));
  if (value < least || value > most)
    return fail_user("{} = {} gives {}; allowed are {} to {}", what, expression.text(), value, least, most);
  return value;
}

}  // namespace kw
