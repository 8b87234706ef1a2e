#include "selftest/timed_bench.h"

#include <cmath>

#include "base/random.h"
#include "emit/emit.h"
#include "problem/workload.h"
#include "schedule/space.h"
#include "target/cpu/affinity.h"
#include "target/cpu/facts.h"

namespace kw {
namespace {

constexpr double kConfirmingUs = 3e6;
constexpr double kRare = 0.01;

// The battery's devices run on the last usable cores.
std::vector<int> find_measuring_cores() { return {find_usable_cpus().back()}; }

}  // namespace

Result<TimedBench> TimedBench::open(Battery& battery, const Problem& problem, int sets) {
  const Workload workload = make_workload(problem);
  if (sets == 0) sets = plan_sets(workload, battery.device().facts());
  KW_TRY(auto buffers, battery.device().make_buffers(workload, {.sets = sets}));
  fill_for_timing(*buffers, make_secret_seed());
  return TimedBench(battery, std::move(buffers));
}

void TimedBench::complete(MeasurePlan& plan) const {
  const bool on_gpu = battery_->device().facts().target == "cuda";
  if (!on_gpu) plan.cores = find_measuring_cores();
  plan.watch_load = !on_gpu;
  if (plan.seed == 0) plan.seed = make_secret_seed();
}

Result<tl::expected<Timing, Verdict>> TimedBench::compare(const Binary& candidate, const Binary& baseline,
                                                          MeasurePlan plan) {
  using Outcome = tl::expected<Timing, Verdict>;
  complete(plan);
  const AwayFrom away(plan.cores);
  KW_TRY(auto second, battery_->device().start_candidate(baseline, *buffers_));
  if (!second) return Outcome(tl::unexpected(second.error()));
  KW_TRY(auto first, battery_->device().start_candidate(candidate, *buffers_));
  if (!first) return Outcome(tl::unexpected(first.error()));
  return Outcome(run_comparison(**first, **second, *buffers_, plan));
}

Result<tl::expected<Timing, Verdict>> TimedBench::compare_fresh(const Binary& candidate,
                                                                const Binary& baseline, MeasurePlan plan) {
  complete(plan);
  const AwayFrom away(plan.cores);
  const auto start = [&](const Binary& binary) {
    return [&] { return battery_->device().start_candidate(binary, *buffers_); };
  };
  return run_fresh_comparison(start(candidate), start(baseline), *buffers_, plan);
}

MeasurePlan make_confirming_plan() {
  MeasurePlan plan;
  plan.min_pairs = plan.max_pairs = kConfirmingPairs;
  plan.budget_us = kConfirmingUs;
  return plan;
}

Result<Binary> build_timed(Battery& battery, const CorpusKernel& kernel) {
  KW_TRY(auto built, battery.build(kernel));
  if (!built) return fail("kernel {} does not build: {}", kernel.name, built.error().verdict.code());
  return *std::move(built);
}

Result<Binary> build_ranked_first(Battery& battery, const Problem& problem) {
  const DeviceFacts& facts = battery.device().facts();
  const auto spaces = make_spaces(problem, facts);
  if (spaces.empty()) return fail("no kernel family computes {}", describe_problem(problem));
  Proposal proposal;
  proposal.proposer = "seed";
  proposal.family = spaces.front()->family();
  proposal.schedule = spaces.front()->rank(1).front();
  const auto source = make_source(problem, proposal, facts);
  if (!source) return fail("schedule {} is refused: {}", proposal.schedule, source.error().code());
  KW_TRY(auto binary, battery.compiler().compile_one(*source, -1));
  if (!binary) return fail("schedule {} does not compile: {}", proposal.schedule, binary.error().code());
  return *std::move(binary);
}

Problem make_square(int64_t size, Dtype dtype) {
  Problem problem;
  problem.dtype = dtype;
  problem.m = problem.n = problem.k = size;
  return with_tight_strides(problem);
}

int64_t most_by_chance(int64_t trials, double share) {
  double term = std::pow(1 - share, static_cast<double>(trials)), below = term;
  int64_t most = 0;
  for (; most < trials && below < 1 - kRare; below += term) {
    term *= static_cast<double>(trials - most) / static_cast<double>(most + 1) * share / (1 - share);
    ++most;
  }
  return most;
}

}  // namespace kw
