// The list of sections and the order they run in. Each section is a file of its own.
#include "selftest/selftest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "selftest/section.h"

namespace kw {
namespace {

struct Entry {
  const char *name, *shows;
  RunSection run;
};

constexpr Entry kSections[] = {
    {"families", "every input family refuses null kernels and sees one element off by 4 bounds",
     run_family_section},
    {"mutants", "wrong kernels are refused, each by the verdict that names its fault", run_mutant_section},
    {"honest", "right kernels and vendor routines pass", run_honest_section},
    {"attacks", "what the trust rule forbids is stopped, each by its own verdict", run_attack_section},
    {"statistics", "equal kernels do not win; a kernel 3 % faster does", run_statistic_section},
    {"faults", "crashes, hangs and a misbehaving host cost no other result", run_fault_section},
};

constexpr Entry kCudaSections[] = {
    {"kernels", "kernels of every family are right for both layouts and types, edges and odd strides",
     run_cuda_family_section},
    {"mutants", "wrong CUDA kernels are refused, each by the verdict that names its fault",
     run_cuda_mutant_section},
    {"honest", "right CUDA kernels and vendor routines pass", run_cuda_honest_section},
    {"statistics", "equal kernels do not win; a kernel 3 % faster does", run_statistic_section},
};

std::span<const Entry> list_entries(const std::string& target) {
  if (target == "cuda") return kCudaSections;
  return kSections;
}

}  // namespace

int64_t SelftestSection::passed() const {
  return std::count_if(rows.begin(), rows.end(), [](const SelftestRow& row) { return row.ok; });
}

bool SelftestSection::ok() const { return !rows.empty() && passed() == static_cast<int64_t>(rows.size()); }

void SectionRun::add(SelftestRow row, Clock::time_point start) {
  row.section = section_.name;
  row.seconds = seconds_since(start);
  plan_.report(row);
  section_.rows.push_back(std::move(row));
}

void SectionRun::add(const std::string& name, const std::string& expected, const Judged& judged,
                     Clock::time_point start) {
  SelftestRow row;
  row.name = name;
  row.expected = expected;
  row.got = judged.verdict.code();
  row.caught = judged.caught;
  row.ok = row.got == expected;
  if (!row.ok) row.evidence = judged.verdict.evidence;
  add(std::move(row), start);
}

SelftestSection SectionRun::finish(Clock::time_point start) {
  section_.seconds = seconds_since(start);
  return std::move(section_);
}

std::vector<SelftestTopic> list_selftest_sections(const std::string& target) {
  std::vector<SelftestTopic> topics;
  for (const Entry& entry : list_entries(target)) topics.push_back({entry.name, entry.shows});
  return topics;
}

Result<std::vector<SelftestSection>> run_selftest(const SelftestPlan& plan) {
  std::vector<std::string> names;
  const std::span<const Entry> entries = list_entries(plan.target);
  for (const Entry& entry : entries) names.emplace_back(entry.name);
  for (const std::string& wanted : plan.sections)
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      return fail_user("section \"{}\" does not exist; sections are {}", wanted, fmt::join(names, ", "));
  KW_TRY(Battery battery, Battery::make(plan.target));
  std::vector<SelftestSection> sections;
  bool found = plan.only.empty();
  for (const Entry& entry : entries) {
    const auto& wanted = plan.sections;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), entry.name) == wanted.end()) continue;
    if (plan.should_stop()) break;
    const auto start = Clock::now();
    SectionRun run(entry.name, plan);
    KW_TRY_VOID(entry.run(battery, run));
    SelftestSection section = run.finish(start);
    found = found || !section.rows.empty() || !section.skipped.empty();
    if (plan.only.empty() || !section.rows.empty() || !section.skipped.empty())
      sections.push_back(std::move(section));
  }
  if (!found)
    return fail_user("no item is called \"{}\"; kernelwright selftest --json lists them", plan.only);
  return sections;
}

}  // namespace kw
