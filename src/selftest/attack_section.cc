// The section "attacks": each attack of the lists must end with its own verdict, at its own stage, with the
// words that name it.
#include <fmt/format.h>

#include "base/random.h"
#include "selftest/attack.h"
#include "selftest/section.h"

namespace kw {
namespace {

std::string print_expected(const std::string& code, const std::string& says) {
  return says.empty() ? code : fmt::format("{}: {}", code, says);
}

SelftestRow judge_attack(const Attack& attack, const Stopped& stopped) {
  const bool said = stopped.detail.find(attack.says) != std::string::npos;
  SelftestRow row;
  row.name = attack.name;
  row.expected = print_expected(attack.expected, attack.says);
  row.got = print_expected(stopped.code, said ? attack.says : stopped.detail);
  row.caught = stopped.caught;
  row.ok = stopped.code == attack.expected && stopped.caught == attack.caught && said;
  if (!row.ok) row.evidence = {{"must be caught by", attack.caught}, {"detail", stopped.detail}};
  return row;
}

}  // namespace

Status run_attack_section(Battery& battery, SectionRun& run) {
  const uint64_t seed = make_secret_seed();
  KW_TRY(AttackBench bench, AttackBench::make(battery, seed));
  run.measured()["seed"] = seed;
  int64_t count = 0, stopped_count = 0;
  for (const auto& list :
       {list_source_attacks(), list_compiler_attacks(), list_record_attacks(), list_object_attacks(),
        list_call_attacks(), list_conduct_attacks(), list_answer_attacks(), list_timing_attacks()})
    for (const Attack& attack : list) {
      if (!run.wants(attack.name)) continue;
      const auto start = Clock::now();
      KW_TRY(const Stopped stopped, attack.run(bench));
      SelftestRow row = judge_attack(attack, stopped);
      ++count;
      stopped_count += row.ok;
      run.add(std::move(row), start);
    }
  run.measured()["count"] = count;
  if (count > 0)
    run.measured()["stopped_share"] = static_cast<double>(stopped_count) / static_cast<double>(count);
  return {};
}

}  // namespace kw
