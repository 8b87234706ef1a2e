// How attacks reach the stages. See attack.h.
#include "selftest/attack.h"

#include <algorithm>

#include "base/check.h"
#include "problem/spot.h"
#include "problem/workload.h"
#include "selftest/mutants.h"
#include "selftest/timed_bench.h"

namespace kw {
namespace {

constexpr int kTightCpuS = 1;
constexpr size_t kTightMemoryBytes = size_t{400} << 20;
constexpr int64_t kTimedSize = 48;

// Enough to see that something is wrong; no figure comes of it.
MeasurePlan make_short_plan() {
  MeasurePlan plan;
  plan.sample_us = 2000;
  plan.min_pairs = 4, plan.max_pairs = 8;
  plan.budget_us = 2e5;
  plan.watch_load = false;
  return plan;
}

std::string find_detail(const Verdict& verdict) {
  for (const char* name : {"message", "detail"})
    if (verdict.evidence.contains(name)) return verdict.evidence[name].get<std::string>();
  return verdict.evidence.dump();
}

}  // namespace

Stopped make_stopped(const Judged& judged) {
  return {judged.verdict.code(), judged.caught, find_detail(judged.verdict)};
}

Result<AttackBench> AttackBench::make(Battery& battery, uint64_t seed) {
  CompilePlan plan;
  plan.cache_folder = battery.folder() / "attack_objects";
  plan.max_cpu_s = kTightCpuS;
  plan.max_memory_bytes = kTightMemoryBytes;
  KW_TRY(Compiler compiler, Compiler::find(plan));
  return AttackBench(battery, std::move(compiler), seed);
}

Result<Stopped> AttackBench::judge(const CorpusKernel& kernel) {
  KW_TRY(const Judged judged, battery_->judge(kernel, kernel.threads, seed_));
  return make_stopped(judged);
}

Result<Stopped> AttackBench::judge_object(const std::string& object) {
  KW_TRY(const LaunchRecord launch, make_launch(CorpusKernel{}));
  return judge_object(object, launch);
}

Result<Stopped> AttackBench::judge_object(const std::string& object, const LaunchRecord& launch) {
  Binary binary;
  binary.hash = "hand-made";
  binary.object = object;
  binary.launch = launch;
  KW_TRY(const Judged judged, battery_->judge_binary(binary, 1, seed_));
  return make_stopped(judged);
}

Result<Stopped> AttackBench::compile(const std::string& text) {
  Source source;
  source.text = text;
  KW_TRY(source.launch, make_launch(CorpusKernel{}));
  KW_TRY(const auto binary, tight_.compile_one(source, -1));
  if (binary) return Stopped{"pass", "", "it compiles"};
  return make_stopped({binary.error(), "compiler"});
}

Result<Stopped> AttackBench::judge_mutant(const std::string& name) {
  const auto mutants = make_mutants();
  const auto found = std::find_if(mutants.begin(), mutants.end(),
                                  [&](const CorpusKernel& mutant) { return mutant.name == name; });
  KW_CHECK(found != mutants.end(), "no mutant is called {}", name);
  return judge(*found);
}

Result<Stopped> AttackBench::time(const CorpusKernel& kernel, int sets, bool spots) {
  const Problem problem = make_square(kTimedSize);
  KW_TRY(const Binary honest, build_timed(*battery_, make_mutant({.name = "right kernel"})));
  KW_TRY(const Binary candidate, build_timed(*battery_, kernel));
  KW_TRY(TimedBench bench, TimedBench::open(*battery_, problem, sets));
  MeasurePlan plan = make_short_plan();
  plan.floor_us = 0.5;  // 48 cubed multiply-adds in that time: 440 GFLOP/s, more than any core has
  if (spots) plan.reference = make_spot_reference(make_workload(problem), {});
  KW_TRY(const auto timing, bench.compare(candidate, honest, plan));
  if (timing)
    return Stopped{"pass", "",
                   fmt::format("{:.2f} us against {:.2f} us", timing->median_us, timing->baseline_median_us)};
  return make_stopped({timing.error(), "timing"});
}

}  // namespace kw
