// The sections "mutants" and "honest": the two lists of kernels through every stage, over secret seeds. A
// kernel's row is as expected only when it is for every seed.
#include <fmt/format.h>

#include "base/random.h"
#include "selftest/section.h"

namespace kw {
namespace {

std::vector<uint64_t> draw_seeds(int count) {
  std::vector<uint64_t> seeds;
  for (int at = 0; at < count; ++at) seeds.push_back(make_secret_seed());
  return seeds;
}

// Judges one kernel with every seed; stops at the first surprise.
Status add_kernel(Battery& battery, SectionRun& run, const CorpusKernel& kernel, int threads,
                  const std::string& name, const std::vector<uint64_t>& seeds) {
  if (!run.wants(kernel.name)) return {};
  if (!battery.can_run(kernel, threads)) {
    run.skip(name, battery.has_threads(threads) ? "needs AVX-512" : "needs more cores");
    return {};
  }
  const auto start = Clock::now();
  Judged judged;
  for (const uint64_t seed : seeds) {
    KW_TRY(judged, battery.judge(kernel, threads, seed));
    if (judged.verdict.code() == kernel.expected) continue;
    judged.verdict.evidence["selftest_seed"] = seed;
    break;
  }
  run.add(name, kernel.expected, judged, start);
  return {};
}

Status add_vendors(Battery& battery, SectionRun& run, uint64_t seed) {
  for (const Layout layout : {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT}) {
    KW_TRY(const auto names, battery.find_vendors(layout, seed));
    for (const std::string& vendor : names) {
      const std::string name = fmt::format("{} {}", vendor, print_layout(layout));
      if (!run.wants(name)) continue;
      const auto start = Clock::now();
      KW_TRY(const Judged judged, battery.judge_vendor(vendor, layout, seed));
      run.add(name, "pass", judged, start);
    }
  }
  return {};
}

}  // namespace

Status run_mutant_section(Battery& battery, SectionRun& run) {
  const auto seeds = draw_seeds(run.depth().mutant_seeds);
  run.measured()["seeds"] = seeds;
  for (const CorpusKernel& mutant : make_mutants())
    KW_TRY_VOID(add_kernel(battery, run, mutant, mutant.threads, mutant.name, seeds));
  return {};
}

Status run_honest_section(Battery& battery, SectionRun& run) {
  const auto seeds = draw_seeds(run.depth().honest_seeds);
  run.measured()["seeds"] = seeds;
  const auto kernels = make_honest_kernels();
  run.measured()["kernels"] = kernels.size();
  for (const CorpusKernel& kernel : kernels)
    KW_TRY_VOID(add_kernel(battery, run, kernel, kernel.threads, kernel.name, seeds));
  for (const CorpusKernel& kernel : kernels)
    KW_TRY_VOID(add_kernel(battery, run, kernel, 2, kernel.name + " x2", {seeds.front()}));
  return add_vendors(battery, run, seeds.front());
}

}  // namespace kw
