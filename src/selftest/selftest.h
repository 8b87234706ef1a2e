// kernelwright selftest: kernels, hosts and measurements whose right outcome is known beforehand go through
// the real stages on this machine. In: how deep, which sections. Out: one row an item, expected beside seen.
// Called by cli. Not a search: nothing is stored, nothing ships.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace kw {

struct SelftestRow {
  std::string section, name;
  std::string expected;  // a verdict's code, or what must be seen
  std::string got;
  std::string
      caught;  // stage that saw it: "source rules", "loader", "worker", ...; empty when nothing had to
  bool ok = false;
  double seconds = 0;
  Json evidence = Json::object();  // of what came out differently
};

// One section's outcome. `measured` holds its figures by name ("false_win_share": 0.002), with the seeds.
struct SelftestSection {
  std::string name;
  std::vector<SelftestRow> rows;
  Json measured = Json::object();
  std::vector<std::string> skipped;  // "item: why this machine cannot run it"
  double seconds = 0;
  [[nodiscard]] int64_t passed() const;
  // Every row is as expected, and there is at least one.
  [[nodiscard]] bool ok() const;
};

// How much of each section: kShort ends within 5 minutes on 2 cores, kFull is what the bars are measured
// with.
struct SelftestDepth {
  int mutant_seeds, honest_seeds;  // secret seeds per kernel
  int equal_pairs, planted_pairs;  // comparisons of a kernel with itself; with one 3 % slower
  int candidates, faults;          // of the fault run; every fault is one of the candidates
};
inline constexpr SelftestDepth kShort{1, 1, 200, 40, 240, 80};
inline constexpr SelftestDepth kFull{3, 20, 1000, 200, 3000, 1000};

struct SelftestPlan {
  std::string target = "cpu";  // or "cuda"
  SelftestDepth depth = kShort;
  std::vector<std::string> sections;  // empty = all
  std::string only;                   // the one item of this name; empty = all
  std::function<void(const SelftestRow&)> report = [](const SelftestRow&) {};  // each row as it ends
  std::function<bool()> should_stop = [] { return false; };
};

// Names of the sections in the order they run, with one line on what each shows.
struct SelftestTopic {
  std::string name, shows;
};
[[nodiscard]] std::vector<SelftestTopic> list_selftest_sections(const std::string& target = "cpu");

// User error for a section or item that does not exist. An interrupted run returns what it has.
[[nodiscard]] Result<std::vector<SelftestSection>> run_selftest(const SelftestPlan& plan);

}  // namespace kw
