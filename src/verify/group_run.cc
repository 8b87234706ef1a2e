// See group_run.h.
#include "verify/group_run.h"

#include <cmath>

#include "verify/compare.h"
#include "verify/element.h"
#include "verify/investigate.h"
#include "verify/reason.h"

namespace kw {
namespace {

// Fresh runs before a difference between warm and fresh workspace is put down to the workspace.
constexpr int kFreshReruns = 8;
constexpr int64_t kFewestCalls = 12, kMostCalls = 40;

// One group: families in turn, then many calls and single changed elements.
class GroupRun {
 public:
  GroupRun(Trial& trial, const Subject& subject, const VerifyPlan& plan, Random& random, Tally& tally)
      : trial_(trial), subject_(subject), plan_(plan), random_(random), tally_(tally) {}

  std::optional<Verdict> run(const Group& group) {
    for (size_t at = 0; at < group.checks.size(); ++at) {
      if (auto verdict = run_family(*group.checks[at], at > 0)) return verdict;
    }
    if (group.many_calls) {
      if (auto verdict = run_many_calls(*group.checks.front())) return verdict;
      if (auto verdict = run_changed_elements(*group.checks.front())) return verdict;
    }
    return run_reversed(*group.checks.back());
  }

 private:
  Recipe draw_recipe(PoisonKind poison, bool keep_workspace) {
    Recipe recipe{poison, random_.next(), std::nullopt, 1};
    if (!keep_workspace) recipe.workspace_seed = random_.next();
    return recipe;
  }

  Verdict explain(const Recipe& recipe, bool wrong) {
    return investigate(trial_, subject_, {recipe, wrong, earlier_output_});
  }

  // Runs and compares; keeps what was measured.
  std::optional<Verdict> run_and_compare(const Check& check, const Recipe& recipe, int64_t new_checks = 0) {
    if (auto verdict = trial_.run(recipe)) return verdict;
    const Comparison comparison = compare_patches(check, trial_.output());
    if (comparison.wrong != 0) return explain(recipe, true);
    join_measured(tally_.families, {{.name = check.family,
                                     .seed = check.seed,
                                     .checks = new_checks,
                                     .compared = comparison.compared,
                                     .error = comparison.error,
                                     .bound = comparison.error_bound,
                                     .margin = comparison.worst_ratio}});
    return std::nullopt;
  }

  // The first run of a family keeps the workspace of the family before, with other contents at the same
  // addresses: a kept answer shows. Repeats get fresh poison everywhere and must give the same bits.
  std::optional<Verdict> run_family(const Check& check, bool keep_workspace) {
    trial_.load(check, random_.next());
    ++tally_.checks;
    tally_.spread_checks += check.spread ? 1 : 0;
    const bool nan_first = tally_.checks % 2 == 0;
    const PoisonKind kinds[] = {nan_first ? PoisonKind::kNan : PoisonKind::kFinite,
                                nan_first ? PoisonKind::kFinite : PoisonKind::kNan};
    if (auto verdict = run_and_compare(check, draw_recipe(kinds[0], keep_workspace), 1)) return verdict;
    const std::vector<std::byte> first = trial_.output(), before_first = trial_.before();
    for (int repeat = 1; repeat < plan_.repeats; ++repeat) {
      const Recipe recipe = draw_recipe(kinds[repeat % 2], false);
      if (auto verdict = run_and_compare(check, recipe)) return verdict;
      if (auto verdict = find_unwritten(first, before_first)) return verdict;
      if (subject_.deterministic && !same_elements(trial_.output_operand(), trial_.output(), first)) {
        return explain(recipe, false);
      }
    }
    earlier_output_ = first;
    return std::nullopt;
  }

  // An element of a pure output that kept two different patterns, also where no reference is known.
  std::optional<Verdict> find_unwritten(const std::vector<std::byte>& first,
                                        const std::vector<std::byte>& before_first) const {
    const Operand& operand = trial_.output_operand();
    if (!trial_.output_is_pure()) return std::nullopt;
    for (int64_t row = 0; row < operand.rows; ++row) {
      for (int64_t col = 0; col < operand.cols; ++col) {
        const int64_t index = row * operand.ld + col;
        const auto bits = [&](const std::vector<std::byte>& bytes) {
          return read_bits(operand.dtype, bytes, index);
        };
        if (bits(first) != bits(before_first) || bits(trial_.output()) != bits(trial_.before())) continue;
        if (bits(first) == bits(trial_.output())) continue;
        Json evidence = trial_.print_circumstances();
        evidence["element"] = {row, col};
        return make_verdict({VerdictClass::kWrongResult, "unwritten"}, evidence);
      }
    }
    return std::nullopt;
  }

  // Work items from the last to the first: right, and the same bits. Items that meet in memory differ here
  // even where threads happen to take them in order. Last of all, so that a kept answer is named as such.
  std::optional<Verdict> run_reversed(const Check& check) {
    trial_.load(check, random_.next());
    Recipe recipe = draw_recipe(PoisonKind::kFinite, false);
    recipe.items_reversed = true;
    if (auto verdict = run_and_compare(check, recipe)) return verdict;
    if (!subject_.deterministic || same_elements(trial_.output_operand(), trial_.output(), earlier_output_))
      return std::nullopt;
    return explain(recipe, false);
  }

  // An unpredictable number of calls in a row on one workspace; every single one is compared, then some in
  // one go.
  std::optional<Verdict> run_many_calls(const Check& check) {
    trial_.load(check, random_.next());
    if (auto verdict = run_and_compare(check, draw_recipe(PoisonKind::kFinite, false))) return verdict;
    const std::vector<std::byte> first = trial_.output();
    const int64_t calls = random_.between(kFewestCalls, kMostCalls);
    for (int64_t call = 1; call < calls; ++call) {
      const Recipe recipe = draw_recipe(call % 2 == 0 ? PoisonKind::kFinite : PoisonKind::kNan, true);
      if (auto verdict = trial_.run(recipe)) return verdict;
      if (subject_.deterministic && same_elements(trial_.output_operand(), trial_.output(), first)) continue;
      const bool wrong = compare_patches(check, trial_.output()).wrong != 0;
      if (wrong || subject_.deterministic) return explain(recipe, wrong);
    }
    if (!trial_.output_is_pure()) return std::nullopt;
    Recipe recipe = draw_recipe(PoisonKind::kNan, true);
    recipe.calls = random_.between(2, kFewestCalls);
    return run_and_compare(check, recipe);
  }

  // Inputs in which one element of each operand differs, on a workspace that saw the unchanged ones: must
  // give what fresh workspace gives. Catches answers kept by a sample of the inputs.
  std::optional<Verdict> run_changed_elements(const Check& check) {
    if (!subject_.deterministic) return std::nullopt;
    trial_.load(check, random_.next());
    if (auto verdict = run_and_compare(check, draw_recipe(PoisonKind::kFinite, false))) return verdict;
    const std::vector<std::byte> original = trial_.output();
    const auto changed = change_elements(check);
    trial_.load(check, changed, random_.next());
    if (auto verdict = trial_.run(draw_recipe(PoisonKind::kFinite, true))) return verdict;
    const std::vector<std::byte> kept = trial_.output();
    if (auto verdict = trial_.run(draw_recipe(PoisonKind::kFinite, false))) return verdict;
    const Operand& operand = trial_.output_operand();
    if (same_elements(operand, kept, trial_.output())) return std::nullopt;
    const std::vector<std::byte> fresh = trial_.output();
    for (int rerun = 0; rerun < kFreshReruns; ++rerun) {
      if (auto verdict = trial_.run(draw_recipe(PoisonKind::kFinite, false))) return verdict;
      if (same_elements(operand, fresh, trial_.output())) continue;
      return make_verdict(name_varying(subject_), trial_.print_circumstances());
    }
    Json evidence = trial_.print_circumstances();
    evidence["changed"] = "one element of each input";
    if (same_elements(operand, kept, original)) {
      return make_verdict({VerdictClass::kCheat, "cached_output"}, evidence);
    }
    const Named later{VerdictClass::kWrongResult, "later_call"};
    return make_verdict(subject_.has_memory ? later : name_varying(subject_), evidence);
  }

  std::vector<std::vector<std::byte>> change_elements(const Check& check) {
    auto contents = check.contents;
    const auto& operands = check.workload.operands;
    for (size_t at = 0; at < operands.size(); ++at) {
      const Operand& operand = operands[at];
      if (operand.access != Access::kIn || operand.span() == 0) continue;
      const int64_t row = random_.between(0, operand.rows - 1), col = random_.between(0, operand.cols - 1);
      const int64_t index = row * operand.ld + col;
      const double value = load_element(operand.dtype, contents[at], index);
      store_element(operand.dtype, contents[at], index, std::isfinite(value) ? 3 - 2 * value : 1);
    }
    return contents;
  }

  Trial& trial_;
  const Subject& subject_;
  const VerifyPlan& plan_;
  Random& random_;
  Tally& tally_;
  std::vector<std::byte> earlier_output_;  // of the last family
};

}  // namespace

std::optional<Verdict> run_group(const Group& group, Trial& trial, const Subject& subject,
                                 const VerifyPlan& plan, Random& random, Tally& tally) {
  return GroupRun(trial, subject, plan, random, tally).run(group);
}

}  // namespace kw
