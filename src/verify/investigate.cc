// See investigate.h. A kernel that keeps its promises gives equal bits for equal recipes and right values for
// all.
#include "verify/investigate.h"

#include <algorithm>

#include "base/clock.h"
#include "verify/compare.h"
#include "verify/element.h"
#include "verify/pattern.h"
#include "verify/reason.h"

namespace kw {
namespace {

constexpr int kReruns = 8;               // with one thread
constexpr int kRerunsThreaded = 64;      // a race shows now and then only
constexpr int64_t kEarlierElements = 4;  // fewer may agree by chance
constexpr double kRerunBudgetS = 2;
constexpr uint64_t kOtherSeed = 0x9e3779b97f4a7c15;

class Investigation {
 public:
  Investigation(Trial& trial, const Subject& subject, const Suspicion& suspicion)
      : trial_(trial), subject_(subject), suspicion_(suspicion), recipe_(suspicion.recipe) {
    keep_last_run();
  }

  Verdict run() {
    if (!recipe_.workspace_seed) {
      if (auto verdict = try_fresh_workspace()) return *verdict;
    }
    if (auto verdict = try_again()) return *verdict;
    if (auto verdict = try_other_order()) return *verdict;
    if (auto verdict = try_other_workspace()) return *verdict;
    if (auto verdict = try_other_output_pattern()) return *verdict;
    if (!suspicion_.wrong) return finish({VerdictClass::kNondeterministic, "repeat"});
    if (is_earlier_answer()) return finish({VerdictClass::kCheat, "cached_output"});
    return finish(name_error(trial_.check(), compare_patches(trial_.check(), output_), output_,
                             {before_, trial_.memory()}));
  }

 private:
  void keep_last_run() {
    output_ = trial_.output();
    before_ = trial_.before();
  }

  bool is_right_now() const { return compare_patches(trial_.check(), trial_.output()).wrong == 0; }
  bool is_same_now() const { return same_elements(trial_.output_operand(), trial_.output(), output_); }

  Verdict finish(const Named& named) const {
    Json evidence = trial_.print_circumstances();
    const Json numbers = print_comparison(compare_patches(trial_.check(), output_));
    for (const auto& [key, value] : numbers.items()) evidence[key] = value;
    return make_verdict(named, evidence);
  }

  // The wrong elements, several, were written and hold the answer to an earlier family's inputs.
  bool is_earlier_answer() const {
    if (suspicion_.earlier_output.empty()) return false;
    const Operand& operand = trial_.output_operand();
    const Comparison comparison = compare_patches(trial_.check(), output_);
    const auto is_earlier = [&](const WrongElement& element) {
      const int64_t index = element.row * operand.ld + element.col;
      const auto bits = [&](const std::vector<std::byte>& bytes) {
        return read_bits(operand.dtype, bytes, index);
      };
      return bits(output_) == bits(suspicion_.earlier_output) && bits(output_) != bits(before_);
    };
    return comparison.wrong >= kEarlierElements &&
           std::all_of(comparison.elements.begin(), comparison.elements.end(), is_earlier);
  }

  // A wrong answer that fresh workspace makes right came from what an earlier call left there, unless fresh
  // runs disagree too.
  std::optional<Verdict> try_fresh_workspace() {
    recipe_.workspace_seed = kOtherSeed ^ recipe_.output_seed;
    if (auto verdict = trial_.run(recipe_)) return verdict;
    const bool right_when_fresh = suspicion_.wrong && is_right_now();
    if (right_when_fresh && is_earlier_answer()) return finish({VerdictClass::kCheat, "cached_output"});
    const auto suspicious_output = output_;
    keep_last_run();
    if (!right_when_fresh) return std::nullopt;
    if (auto verdict = try_again()) return verdict;
    output_ = suspicious_output;
    if (subject_.has_memory) return finish({VerdictClass::kWrongResult, "later_call"});
    return finish_varying();
  }

  std::optional<Verdict> try_again() {
    const int reruns = subject_.threads > 1 ? kRerunsThreaded : kReruns;
    const auto start = Clock::now();
    bool any_wrong = suspicion_.wrong;
    for (int rerun = 0; rerun < reruns && seconds_since(start) < kRerunBudgetS; ++rerun) {
      if (auto verdict = trial_.run(recipe_)) return verdict;
      if (is_same_now()) continue;
      any_wrong = any_wrong || !is_right_now();
      if (!is_right_now()) keep_last_run();
      if (any_wrong) return finish_varying();
      if (subject_.deterministic) return finish({VerdictClass::kNondeterministic, "repeat"});
    }
    return std::nullopt;
  }

  // Wrong at times, with all that the kernel can read the same.
  Verdict finish_varying() const { return finish(name_varying(subject_)); }

  // Items that do not meet give the same in any order.
  std::optional<Verdict> try_other_order() {
    if (!subject_.deterministic) return std::nullopt;
    Recipe recipe = recipe_;
    recipe.items_reversed = !recipe.items_reversed;
    if (auto verdict = trial_.run(recipe)) return verdict;
    if (is_same_now()) return std::nullopt;
    return finish({VerdictClass::kRace, "between_items"});
  }

  std::optional<Verdict> try_other_workspace() {
    if (!subject_.has_memory) return std::nullopt;
    Recipe recipe = recipe_;
    recipe.workspace_seed = *recipe_.workspace_seed + kOtherSeed;
    if (auto verdict = trial_.run(recipe)) return verdict;
    if (is_same_now()) return std::nullopt;
    const bool wrong = suspicion_.wrong || !is_right_now();
    return finish(
        {wrong ? VerdictClass::kWrongResult : VerdictClass::kNondeterministic, "uninitialised_workspace"});
  }

  std::optional<Verdict> try_other_output_pattern() {
    if (!trial_.output_is_pure()) return std::nullopt;
    Recipe recipe = recipe_;
    recipe.output_seed += kOtherSeed;
    recipe.poison = recipe.poison == PoisonKind::kNan ? PoisonKind::kFinite : PoisonKind::kNan;
    if (auto verdict = trial_.run(recipe)) return verdict;
    if (!depends_on_output()) return std::nullopt;
    const bool wrong = suspicion_.wrong || !is_right_now();
    return finish({wrong ? VerdictClass::kWrongResult : VerdictClass::kNondeterministic,
                   "reads_" + trial_.output_operand().name});
  }

  // Elements that changed with the pattern although the kernel wrote them.
  bool depends_on_output() const {
    const Operand& operand = trial_.output_operand();
    for (int64_t row = 0; row < operand.rows; ++row) {
      for (int64_t col = 0; col < operand.cols; ++col) {
        const int64_t index = row * operand.ld + col;
        const auto bits = [&](const std::vector<std::byte>& bytes) {
          return read_bits(operand.dtype, bytes, index);
        };
        const bool written = bits(output_) != bits(before_) || bits(trial_.output()) != bits(trial_.before());
        if (written && bits(output_) != bits(trial_.output())) return true;
      }
    }
    return false;
  }

  Trial& trial_;
  const Subject& subject_;
  const Suspicion& suspicion_;
  Recipe recipe_;
  std::vector<std::byte> output_, before_;
};

}  // namespace

Named name_varying(const Subject& subject) {
  if (subject.threads > 1) return {VerdictClass::kRace, "between_items"};
  return {VerdictClass::kNondeterministic, "repeat"};
}

Verdict investigate(Trial& trial, const Subject& subject, const Suspicion& suspicion) {
  return Investigation(trial, subject, suspicion).run();
}

}  // namespace kw
