// What every section of the selftest is made of: a function from the battery and the plan to rows. The list
// is in selftest.cc.
#pragma once

#include "base/clock.h"
#include "selftest/battery.h"
#include "selftest/selftest.h"

namespace kw {

// Collects the rows of one section; times each, tells the caller, knows when to stop.
class SectionRun {
 public:
  SectionRun(std::string name, const SelftestPlan& plan) : plan_(plan) { section_.name = std::move(name); }

  const SelftestDepth& depth() const { return plan_.depth; }
  // True when the item was asked for and nobody interrupts.
  [[nodiscard]] bool wants(const std::string& item) const {
    return !plan_.should_stop() && (plan_.only.empty() || plan_.only == item);
  }
  // `row` needs name, expected, got, caught, evidence, ok; `start` is when the item began.
  void add(SelftestRow row, Clock::time_point start);
  // The same for a verdict that must have `expected` as its code.
  void add(const std::string& name, const std::string& expected, const Judged& judged,
           Clock::time_point start);
  void skip(const std::string& item, const std::string& why) {
    section_.skipped.push_back(item + ": " + why);
  }
  Json& measured() { return section_.measured; }
  SelftestSection finish(Clock::time_point start);

 private:
  const SelftestPlan& plan_;
  SelftestSection section_;
};

using RunSection = Status (*)(Battery&, SectionRun&);

// Null kernels and sensitivity of every input family.
Status run_family_section(Battery& battery, SectionRun& run);
// Wrong kernels, each by its own verdict.
Status run_mutant_section(Battery& battery, SectionRun& run);
// Right kernels and vendor routines.
Status run_honest_section(Battery& battery, SectionRun& run);
// What the trust rule forbids.
Status run_attack_section(Battery& battery, SectionRun& run);
// Equal kernels, a planted win.
Status run_statistic_section(Battery& battery, SectionRun& run);
// Crashes, hangs, a misbehaving host.
Status run_fault_section(Battery& battery, SectionRun& run);

// On the GPU: wrong and right CUDA texts and vendor routines; kernels of every family.
Status run_cuda_mutant_section(Battery& battery, SectionRun& run);
Status run_cuda_honest_section(Battery& battery, SectionRun& run);
Status run_cuda_family_section(Battery& battery, SectionRun& run);

}  // namespace kw
