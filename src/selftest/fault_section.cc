// The section "faults": a run of candidates of which every third or so carries a fault, and a host that
// misbehaves. Nothing of it may cost another result, and nothing may be left behind.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/random.h"
#include "selftest/fault_host.h"
#include "selftest/fault_run.h"
#include "selftest/section.h"

namespace kw {
namespace {

constexpr double kMostGrowth = 1.1;  // of resident memory, after a quarter of the candidates
constexpr int64_t kMostGrowthKb = 4096;

// What our descendants leave running comes to us instead of to init, so that it can be counted.
class Adoption {
 public:
  Adoption() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Adoption() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  Adoption(const Adoption&) = delete;
  Adoption& operator=(const Adoption&) = delete;
};

void add_tally(SectionRun& run, const std::string& name, const FaultTally& tally) {
  SelftestRow row;
  row.name = name;
  row.expected = fmt::format("{} every time", tally.expected);
  row.got = fmt::format("{} of {}", tally.as_expected, tally.count);
  row.ok = tally.count > 0 && tally.as_expected == tally.count;
  row.evidence = tally.surprise;
  run.add(std::move(row), Clock::now() - std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(tally.seconds)));
}

void add_leak(SectionRun& run, const std::string& name, const std::string& expected, const std::string& got,
              bool ok) {
  run.add({.name = name, .expected = expected, .got = got, .ok = ok}, Clock::now());
}

void add_leaks(SectionRun& run, const FaultRun& faults) {
  const Footprint &before = faults.before, &early = faults.early, &after = faults.after;
  add_leak(run, "no_process_left", "no child", fmt::format("{}", after.children.size()),
           after.children.empty());
  add_leak(run, "no_descriptor_left", fmt::format("{}", before.descriptors),
           fmt::format("{}", after.descriptors), after.descriptors == before.descriptors);
  add_leak(run, "no_memory_file_left", fmt::format("{}", before.memory_files),
           fmt::format("{}", after.memory_files), after.memory_files == before.memory_files);
  add_leak(run, "no_file_left", "no file in the temporary folder", fmt::format("{}", after.files),
           after.files == 0);
  const auto most_kb =
      static_cast<int64_t>(static_cast<double>(early.resident_kb) * kMostGrowth) + kMostGrowthKb;
  add_leak(run, "no_memory_left", fmt::format("at most {} KiB", most_kb),
           fmt::format("{} KiB, {} after a quarter", after.resident_kb, early.resident_kb),
           after.resident_kb <= most_kb);
}

Status add_fault_run(Battery& battery, SectionRun& run) {
  std::vector<std::string> names = list_fault_kinds();
  for (const char* name : {"others_right", "no_process_left", "no_descriptor_left", "no_memory_file_left",
                           "no_file_left", "no_memory_left"})
    names.emplace_back(name);
  const auto wanted =
      std::find_if(names.begin(), names.end(), [&](const std::string& name) { return run.wants(name); });
  if (wanted == names.end()) return {};
  const FaultPlan plan{.candidates = run.depth().candidates,
                       .faults = run.depth().faults,
                       .seed = make_secret_seed(),
                       .should_stop = [&] { return !run.wants(*wanted); }};
  KW_TRY(const FaultRun faults, run_faults(battery, plan));
  int64_t injected = 0, survived = 0;
  Json kinds = Json::object();
  for (const auto& [name, tally] : faults.kinds) {
    injected += tally.count;
    survived += tally.as_expected;
    kinds[name] = tally.count;
    if (tally.count > 0) add_tally(run, name, tally);
  }
  add_tally(run, "others_right", faults.others);
  add_leaks(run, faults);
  run.measured()["seed"] = plan.seed;
  run.measured()["faults"] = injected;
  run.measured()["faults_by_kind"] = kinds;
  run.measured()["others"] = faults.others.count;
  run.measured()["others_right"] = faults.others.as_expected;
  run.measured()["survived_share"] =
      static_cast<double>(survived + faults.others.as_expected) /
      static_cast<double>(std::max<int64_t>(1, injected + faults.others.count));
  return {};
}

void add_host_fault(Battery& battery, SectionRun& run, const HostFault& fault) {
  if (!run.wants(fault.name)) return;
  const auto start = Clock::now();
  std::string got = fault.run(battery);
  if (got == kCannotInject) return run.skip(fault.name, kCannotInject);
  reap_orphans();
  const size_t left = find_children().size();
  if (left > 0) got += fmt::format("; {} processes left", left);
  const bool said = std::all_of(fault.words.begin(), fault.words.end(),
                                [&](const std::string& word) { return got.find(word) != std::string::npos; });
  SelftestRow row{.name = fault.name, .expected = fault.expected, .got = got, .ok = said && left == 0};
  run.add(std::move(row), start);
}

}  // namespace

Status run_fault_section(Battery& battery, SectionRun& run) {
  const Adoption adoption;
  KW_TRY_VOID(add_fault_run(battery, run));
  for (const auto& list :
       {list_compiler_faults(), list_disk_faults(), list_store_faults(), list_process_faults()})
    for (const HostFault& fault : list) add_host_fault(battery, run, fault);
  return {};
}

}  // namespace kw
