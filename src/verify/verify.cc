// See verify.h. Orders the checks into groups that share buffers and a worker, runs every group, keeps the
// margins. Trial does one run, investigate explains a failure.
#include "verify/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "verify/compare.h"
#include "verify/element.h"
#include "verify/investigate.h"
#include "verify/pattern.h"
#include "verify/reason.h"
#include "verify/trial.h"

namespace kw {
namespace {

// Workloads that get many calls: the first one up to so many flops, and the cheapest one that is no mere edge
// case.
constexpr double kMostFlops = 2e7, kFewestFlops = 1e4;
// Fresh runs before a difference between warm and fresh workspace is put down to the workspace.
constexpr int kFreshReruns = 8;
constexpr int64_t kFewestCalls = 12, kMostCalls = 40;

// Checks of one workload at one placement: one set of buffers, one worker, families in turn.
struct Group {
  Placement placement = Placement::kAligned;
  std::vector<const Check*> checks;
  bool many_calls = false;
};

struct Tally {
  Json margin = Json::object();  // per family
  std::map<std::string, double> worst;
  int64_t checks = 0, runs = 0, calls = 0, workloads = 0;
};

Variables make_launch_variables(const Workload& workload, int threads) {
  Variables variables;
  for (size_t at = 0; at < workload.size_names.size(); ++at)
    variables[workload.size_names[at]] = workload.sizes[at];
  variables["threads"] = threads;
  return variables;
}

// Families alternate between the placements, so that each workload meets both when it has two checks or more.
// The cheapest workload that computes anything and the first one (unless large) get the many calls.
std::vector<Group> make_groups(const std::vector<const Check*>& checks) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Check*>> by_workload;
  for (const Check* check : checks) {
    const std::string key = print_problem(check->workload.problem);
    if (!by_workload.contains(key)) order.push_back(key);
    by_workload[key].push_back(check);
  }
  std::vector<Group> groups;
  for (size_t at = 0; at < order.size(); ++at) {
    const auto& all = by_workload[order[at]];
    Group pair[2] = {{Placement::kAligned}, {Placement::kEnd}};
    for (size_t i = 0; i < all.size(); ++i) pair[(at + i) % 2].checks.push_back(all[i]);
    for (Group& group : pair) {
      if (!group.checks.empty()) groups.push_back(std::move(group));
    }
  }
  const auto flops = [](const Group& group) {
    const double value = group.checks.front()->workload.flops;
    return value >= kFewestFlops ? value : INFINITY;
  };
  if (groups.empty()) return groups;
  if (flops(groups.front()) <= kMostFlops) groups.front().many_calls = true;
  std::min_element(groups.begin(), groups.end(), [&](const Group& left, const Group& right) {
    return flops(left) < flops(right);
  })->many_calls = true;
  return groups;
}

// One group: families in turn, then many calls and single changed elements.
class GroupRun {
 public:
  GroupRun(Trial& trial, const Subject& subject, const VerifyPlan& plan, Random& random, Tally& tally)
      : trial_(trial), subject_(subject), plan_(plan), random_(random), tally_(tally) {}

  std::optional<Verdict> run(const Group& group) {
    for (size_t at = 0; at < group.checks.size(); ++at) {
      if (auto verdict = run_family(*group.checks[at], at > 0)) return verdict;
    }
    if (!group.many_calls) return std::nullopt;
    if (auto verdict = run_many_calls(*group.checks.front())) return verdict;
    return run_changed_elements(*group.checks.front());
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

  // Runs and compares; keeps the margin.
  std::optional<Verdict> run_and_compare(const Check& check, const Recipe& recipe) {
    if (auto verdict = trial_.run(recipe)) return verdict;
    const Comparison comparison = compare_patches(check, trial_.output());
    if (comparison.wrong != 0) return explain(recipe, true);
    double& worst = tally_.worst[check.family];
    worst = std::max(worst, comparison.worst_ratio);
    return std::nullopt;
  }

  // The first run of a family keeps the workspace of the family before, with other contents at the same
  // addresses: a kept answer shows. Repeats get fresh poison everywhere and must give the same bits.
  std::optional<Verdict> run_family(const Check& check, bool keep_workspace) {
    trial_.load(check, random_.next());
    ++tally_.checks;
    const bool nan_first = tally_.checks % 2 == 0;
    const PoisonKind kinds[] = {nan_first ? PoisonKind::kNan : PoisonKind::kFinite,
                                nan_first ? PoisonKind::kFinite : PoisonKind::kNan};
    if (auto verdict = run_and_compare(check, draw_recipe(kinds[0], keep_workspace))) return verdict;
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
      ++tally_.calls;
      if (subject_.deterministic && same_elements(trial_.output_operand(), trial_.output(), first)) continue;
      const bool wrong = compare_patches(check, trial_.output()).wrong != 0;
      if (wrong || subject_.deterministic) return explain(recipe, wrong);
    }
    if (!trial_.output_is_pure()) return std::nullopt;
    Recipe recipe = draw_recipe(PoisonKind::kNan, true);
    recipe.calls = random_.between(2, kFewestCalls);
    tally_.calls += recipe.calls;
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
      return make_verdict({VerdictClass::kNondeterministic, "repeat"}, trial_.print_circumstances());
    }
    Json evidence = trial_.print_circumstances();
    evidence["changed"] = "one element of each input";
    if (same_elements(operand, kept, original)) {
      return make_verdict({VerdictClass::kCheat, "cached_output"}, evidence);
    }
    return make_verdict({VerdictClass::kWrongResult, "later_call"}, evidence);
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
  std::vector<std::byte> earlier_output_;
};

Verdict make_pass(const Tally& tally, int64_t skipped, const VerifyPlan& plan, int threads) {
  Json evidence = Json::object();
  evidence["checks"] = tally.checks;
  evidence["workloads"] = tally.workloads;
  evidence["skipped"] = skipped;
  evidence["runs"] = tally.runs;
  evidence["seed"] = plan.seed;
  evidence["threads"] = threads;
  for (const auto& [family, worst] : tally.worst) evidence["margin"][family] = print_number(worst);
  return make_verdict({VerdictClass::kPass, ""}, evidence);
}

Result<Verdict> check_subject(Device& device, const Subject& subject, const std::vector<const Check*>& checks,
                              int64_t skipped, const VerifyPlan& plan) {
  Random random(plan.seed, 0x766572696679);
  Tally tally;
  std::string last_workload;
  for (const Group& group : make_groups(checks)) {
    const Workload& workload = group.checks.front()->workload;
    KW_TRY(auto buffers, device.make_buffers(workload, {1, group.placement}));
    KW_TRY(auto program, subject.start(*buffers));
    if (!program) {
      Verdict verdict = std::move(program.error());
      verdict.binary_hash = subject.hash;
      return verdict;
    }
    Trial trial(std::move(buffers), std::move(*program), subject, group.placement, plan.limit);
    auto verdict = GroupRun(trial, subject, plan, random, tally).run(group);
    tally.runs += trial.runs();
    if (verdict) {
      verdict->binary_hash = subject.hash;
      return *verdict;
    }
    const std::string key = print_problem(workload.problem);
    tally.workloads += key != last_workload ? 1 : 0;
    last_workload = key;
  }
  Verdict verdict = make_pass(tally, skipped, plan, subject.threads);
  verdict.binary_hash = subject.hash;
  return verdict;
}

}  // namespace

Result<Verdict> check_binary(Device& device, const Binary& binary, std::span<const Check> checks,
                             const VerifyPlan& plan) {
  const int threads = device.facts().threads;
  std::vector<const Check*> chosen;
  Json reasons = Json::array();
  for (const Check& check : checks) {
    KW_CHECK(check.workload.problem.layout == binary.launch.layout, "check of {} for a {} kernel",
             print_problem(check.workload.problem), print_layout(binary.launch.layout));
    const auto violation =
        find_domain_violation(binary.launch, make_launch_variables(check.workload, threads));
    if (!violation) {
      chosen.push_back(&check);
    } else if (reasons.empty() || reasons.back() != *violation) {
      reasons.push_back(*violation);
    }
  }
  const auto skipped = static_cast<int64_t>(checks.size() - chosen.size());
  if (chosen.empty()) {
    return make_verdict({VerdictClass::kSkipped, "no_check_in_domain"},
                        {{"skipped", skipped}, {"domain", reasons}});
  }
  const auto start = [&](Buffers& buffers) { return device.start_candidate(binary, buffers); };
  const Expression none;
  const bool has_memory = !(binary.launch.workspace_bytes == none && binary.launch.scratch_bytes == none);
  const Subject subject{.start = start,
                        .hash = binary.hash,
                        .deterministic = binary.launch.deterministic,
                        .has_memory = has_memory,
                        .threads = threads};
  return check_subject(device, subject, chosen, skipped, plan);
}

Result<Verdict> check_baseline(Device& device, const std::string& name, std::span<const Check> checks,
                               const VerifyPlan& plan) {
  std::vector<const Check*> chosen;
  std::map<std::string, bool> can_compute;  // by workload
  for (const Check& check : checks) {
    const std::string key = print_problem(check.workload.problem);
    if (!can_compute.contains(key)) {
      const auto names = device.find_baselines(check.workload);
      can_compute[key] = std::find(names.begin(), names.end(), name) != names.end();
    }
    if (can_compute[key]) chosen.push_back(&check);
  }
  const auto skipped = static_cast<int64_t>(checks.size() - chosen.size());
  if (chosen.empty()) {
    return make_verdict({VerdictClass::kSkipped, "no_check_in_domain"},
                        {{"baseline", name}, {"skipped", skipped}});
  }
  const auto start = [&](Buffers& buffers) -> Result<StartedProgram> {
    KW_TRY(auto program, device.start_baseline(name, buffers));
    return StartedProgram(std::move(program));
  };
  const Subject subject{
      .start = start, .hash = "", .deterministic = false, .threads = device.facts().threads};
  KW_TRY(Verdict verdict, check_subject(device, subject, chosen, skipped, plan));
  verdict.evidence["baseline"] = name;
  return verdict;
}

std::optional<Verdict> compare_output(const Check& check, std::span<const std::byte> output) {
  const Comparison comparison = compare_patches(check, output);
  if (comparison.wrong == 0) return std::nullopt;
  const auto& before = check.contents[static_cast<size_t>(check.output)];
  Json evidence = Json::object();
  evidence["family"] = check.family;
  evidence["seed"] = check.seed;
  evidence["problem"] = print_problem(check.workload.problem);
  const Json numbers = print_comparison(comparison);
  for (const auto& [key, value] : numbers.items()) evidence[key] = value;
  return make_verdict(name_error(check, comparison, output, {before, check.contents}), evidence);
}

}  // namespace kw
