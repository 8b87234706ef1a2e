// See verify.h. Orders the checks into groups that share buffers and a worker, runs every group, says what a
// failure at spread strides means, makes the verdict of a pass.
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
#include "verify/group_run.h"
#include "verify/pattern.h"
#include "verify/reason.h"
#include "verify/trial.h"

namespace kw {
namespace {

// Workloads that get many calls: the first one up to so many flops, and the cheapest one that is no mere edge
// case.
constexpr double kMostFlops = 2e7, kFewestFlops = 1e4;

const Workload& get_seen(const Check& check) { return check.spread ? *check.spread : check.workload; }

// Checks of one key share buffers.
std::string print_key(const Check& check) {
  return print_problem(check.workload.problem) +
         (check.spread ? " seen as " + print_problem(check.spread->problem) : "");
}

// Families alternate between the placements, so that each workload meets both when it has two checks or more.
// The cheapest workload that computes anything and the first one (unless large) get the many calls.
std::vector<Group> make_groups(const std::vector<const Check*>& checks) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Check*>> by_workload;
  for (const Check* check : checks) {
    const std::string key = print_key(*check);
    if (!by_workload.contains(key)) order.push_back(key);
    by_workload[key].push_back(check);
  }
  std::vector<Group> groups;
  for (size_t at = 0; at < order.size(); ++at) {
    const auto& all = by_workload[order[at]];
    const std::optional<Workload>& spread = all.front()->spread;
    Group pair[2] = {{{.placement = Placement::kAligned, .spread = spread}},
                     {{.placement = Placement::kEnd, .spread = spread}}};
    for (size_t i = 0; i < all.size(); ++i) pair[(at + i) % 2].checks.push_back(all[i]);
    for (Group* group : {&pair[at % 2], &pair[(at + 1) % 2]}) {  // the first family first
      if (!group->checks.empty()) groups.push_back(std::move(*group));
    }
  }
  const auto flops = [](const Group& group) {
    const double value = group.checks.front()->workload.flops;
    return value >= kFewestFlops && !group.buffers.spread ? value : INFINITY;
  };
  if (groups.empty()) return groups;
  if (flops(groups.front()) <= kMostFlops) groups.front().many_calls = true;
  std::min_element(groups.begin(), groups.end(), [&](const Group& left, const Group& right) {
    return flops(left) < flops(right);
  })->many_calls = true;
  return groups;
}

Verdict make_pass(const Tally& tally, int64_t skipped, const VerifyPlan& plan, int threads) {
  Json evidence = Json::object();
  evidence["checks"] = tally.checks;
  evidence["workloads"] = tally.workloads;
  evidence["skipped"] = skipped;
  evidence["runs"] = tally.runs;
  evidence["seed"] = plan.seed;
  evidence["threads"] = threads;
  evidence["spread_checks"] = tally.spread_checks;
  evidence["families"] = print_measured(tally.families);
  for (const MeasuredFamily& family : tally.families) evidence["margin"][family.name] = family.margin;
  return make_verdict({VerdictClass::kPass, ""}, evidence);
}

// Nothing when the group passed; a Verdict also when the program could not start.
Result<std::optional<Verdict>> run_on_new_buffers(Device& device, const Subject& subject, const Group& group,
                                                  const VerifyPlan& plan, Random& random, Tally& tally) {
  KW_TRY(auto buffers, device.make_buffers(group.checks.front()->workload, group.buffers));
  KW_TRY(auto program, subject.start(*buffers));
  if (!program) return std::optional(std::move(program.error()));
  Trial trial(std::move(buffers), std::move(*program), subject, group.buffers, plan.limit);
  auto verdict = run_group(group, trial, subject, plan, random, tally);
  tally.runs += trial.runs();
  return verdict;
}

// The record's arithmetic over strides as wide as these is refused before anything runs (a workspace of 100
// GB, say): then such strides are outside what the kernel offers.
bool is_refused_by_record(const Verdict& verdict) {
  return verdict.klass == VerdictClass::kLaunchError && verdict.reason == "launch_numbers";
}

bool may_come_from_wrong_addresses(const Verdict& verdict) {
  switch (verdict.klass) {
    case VerdictClass::kWrongResult:
    case VerdictClass::kPrecisionDowngrade:
    case VerdictClass::kOutOfBounds:
    case VerdictClass::kInputModified:
      return true;
    default:
      return verdict.code() == "crash/segfault" || verdict.code() == "crash/bus_error";
  }
}

// A failure at spread strides: when the kernel does the same right where rows lie close together, it is the
// arithmetic of addresses that is wrong.
Result<Verdict> name_spread_failure(Device& device, const Subject& subject, const Group& group,
                                    const VerifyPlan& plan, Random& random, Verdict verdict) {
  if (!may_come_from_wrong_addresses(verdict)) return verdict;
  Group plain = group;
  plain.buffers.spread.reset();
  Tally unused;
  KW_TRY(std::optional<Verdict> other, run_on_new_buffers(device, subject, plain, plan, random, unused));
  const bool untried = other && other->klass == VerdictClass::kIllegal;
  if (other && !untried) return *other;
  verdict.evidence["seen_first"] = verdict.code();
  verdict.evidence["with_close_rows"] = untried ? "outside the domain" : "right";
  const bool is_number =
      verdict.klass == VerdictClass::kWrongResult || verdict.klass == VerdictClass::kPrecisionDowngrade;
  verdict.klass = is_number ? VerdictClass::kWrongResult : VerdictClass::kOutOfBounds;
  verdict.reason = "index_32_bits";
  return verdict;
}

Result<Verdict> check_subject(Device& device, const Subject& subject, const std::vector<const Check*>& checks,
                              int64_t skipped, const VerifyPlan& plan) {
  Random random(plan.seed, 0x766572696679);
  Tally tally;
  for (const Check* check : checks)  // in the order of the checks, whatever the order of the groups
    join_measured(tally.families, {{.name = check->family, .seed = check->seed}});
  std::string last_workload;
  for (const Group& group : make_groups(checks)) {
    KW_TRY(auto verdict, run_on_new_buffers(device, subject, group, plan, random, tally));
    if (verdict && group.buffers.spread && is_refused_by_record(*verdict)) {
      skipped += static_cast<int64_t>(group.checks.size());
      continue;
    }
    if (verdict && group.buffers.spread) {
      KW_TRY(verdict, name_spread_failure(device, subject, group, plan, random, std::move(*verdict)));
    }
    if (verdict) {
      verdict->binary_hash = subject.hash;
      return *verdict;
    }
    const std::string key = print_key(*group.checks.front());
    tally.workloads += key != last_workload ? 1 : 0;
    last_workload = key;
  }
  std::erase_if(tally.families, [](const MeasuredFamily& family) { return family.checks == 0; });
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
    const auto violation = find_domain_violation(binary.launch, make_variables(get_seen(check), threads));
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
  KW_TRY(Verdict verdict, check_subject(device, subject, chosen, skipped, plan));
  if (verdict.code() != "crash/killed") return verdict;
  return check_subject(device, subject, chosen, skipped, plan);
}

Result<Verdict> check_baseline(Device& device, const std::string& name, std::span<const Check> checks,
                               const VerifyPlan& plan) {
  std::vector<const Check*> chosen;
  std::map<std::string, bool> can_compute;  // by workload
  for (const Check& check : checks) {
    const std::string key = print_key(check);
    if (!can_compute.contains(key)) {
      KW_TRY(const std::vector<std::string> names, device.find_baselines(get_seen(check)));
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
