// Fills a store with made-up but plausible measurements, for the browser test of the report. Prints the
// problems that are decided, one a line. Names and reasons hold HTML that must not become HTML. Runs no
// kernel. Usage: report_fixture STORE SHAPES [both], with `both` for one and for two threads; the last of
// three or more shapes stays undecided, 0 shapes leave an empty store.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/hash.h"
#include "base/random.h"
#include "store/store.h"

namespace kw {
namespace {

constexpr int kEvaluationsPerShape = 60;
constexpr const char* kHostile =
    "<script>window.hacked = 1</script><img src=x onerror=\"window.hacked = 2\">";

DeviceFacts make_device(int threads) {
  return {.target = "cpu",
          .name = "Example CPU 8000 <b>",
          .isa = "avx512",
          .cores = 2,
          .threads = threads,
          .l1d_bytes = 48 << 10,
          .l2_bytes = 2 << 20,
          .l3_bytes = 32 << 20,
          .peak_gflops = 115.0 * threads,
          .bandwidth_gbs = 11.8 * threads,
          .launch_floor_us = 0.3,
          .os = "Linux 6.1",
          .compiler = "g++ 12.2.0"};
}

Problem make_problem(int index, Random& random) {
  const auto draw = [&] { return static_cast<int64_t>(std::exp2(random.uniform() * 11)); };
  Problem problem;
  problem.layout = static_cast<Layout>(index % 4);
  problem.m = index % 3 == 0 ? 1 : draw();
  problem.n = draw() + index;
  problem.k = draw();
  problem.beta = index % 5 == 0 ? 0.5 : 0;
  return with_tight_strides(problem);
}

std::string make_schedule(Random& random) {
  return fmt::format("avx512 {} r{} v{} s1 u{} pa{} pb{} mc{} ncall kc256 bx ty pf{} tm1 tn1 tk1",
                     random.chance(0.7) ? "outer_n" : "dot", random.between(1, 8), random.between(1, 4),
                     1 << random.between(0, 3), random.between(0, 1), random.between(0, 1),
                     32 << random.between(0, 3), random.chance(0.8) ? 0 : 16);
}

Verdict make_failure(Random& random) {
  static const std::vector<std::pair<VerdictClass, const char*>> kKinds = {
      {VerdictClass::kWrongResult, "k_tail"}, {VerdictClass::kWrongResult, "unwritten"},
      {VerdictClass::kOutOfBounds, "past_a"}, {VerdictClass::kHang, "time_limit"},
      {VerdictClass::kCrash, "segfault"},     {VerdictClass::kNondeterministic, "repeat"}};
  const double place = random.uniform();
  const auto& [klass, reason] =
      kKinds[static_cast<size_t>(place * place * static_cast<double>(kKinds.size()))];
  Verdict verdict{.klass = klass, .reason = reason};
  verdict.evidence = {
      {"family", "normal"}, {"row", random.between(0, 99)}, {"got", 0.25}, {"want", 1.5}, {"note", kHostile}};
  return verdict;
}

Timing make_timing(double ratio, double baseline_us, Random& random) {
  Timing timing{.baseline = "onednn"};
  timing.ratio = ratio;
  timing.ratio_low = ratio * (1 - 0.002 - 0.04 * random.uniform());
  timing.ratio_high = ratio * (1 + 0.002 + 0.04 * random.uniform());
  timing.median_us = baseline_us / ratio;
  timing.baseline_median_us = baseline_us;
  for (int i = 0; i < 8; ++i) {
    timing.latency_us.push_back(timing.median_us * (1 + 0.01 * random.normal()));
    timing.baseline_latency_us.push_back(baseline_us * (1 + 0.01 * random.normal()));
  }
  return timing;
}

struct Story {
  double baseline_us = 0, reachable = 1;  // ratio that the search approaches
};

Story make_story(const Problem& problem, int threads, Random& random) {
  const double flops = 2.0 * problem.m * problem.n * problem.k;
  const double bytes = 4.0 * (problem.m * problem.k + problem.k * problem.n + problem.m * problem.n);
  const double floor_us = roofline_us(make_device(threads), flops, bytes);
  const double used = 0.15 + 0.75 * random.uniform();  // share of the roofline that the vendor reaches
  return {floor_us / used, std::min(0.97 / used, 0.9 + 1.6 * random.uniform() * random.uniform() / used)};
}

std::vector<Evaluation> make_search(const std::string& problem, const Story& story, double start_s,
                                    Random& random) {
  std::vector<Evaluation> evaluations;
  for (int i = 0; i < kEvaluationsPerShape; ++i) {
    Evaluation one;
    one.problem = problem;
    const bool seed = i < 12 || random.chance(0.15);
    one.proposal = {.proposer = seed ? "seed" : "evolve",
                    .family = "gemm_cpu",
                    .schedule = make_schedule(random),
                    .note = seed ? fmt::format("seed rank {}", i) : "mutate mr",
                    .seed = 7};
    one.kernel_name = fmt::format("gemm_{}{}", i, i == 3 ? kHostile : "");
    one.source_text = "void kernel(void);";
    one.source_hash = hash_parts({problem, one.proposal.schedule, "source"});
    one.binary_hash =
        hash_parts({problem, fmt::format("{}", start_s), one.proposal.schedule, fmt::format("{}", i)});
    one.compiler = "g++ 12.2.0";
    one.compile_us = 4e5;
    one.finished_s = start_s + 0.35 * (i + random.uniform());
    if (random.chance(0.12)) {
      one.verdict = make_failure(random);
    } else {
      one.verdict.klass = VerdictClass::kPass;
      const double near = 1 - std::exp(-(i + 4) / 14.0) * (0.5 + 0.5 * random.uniform());
      one.timing = make_timing(story.reachable * (0.35 + 0.65 * near) * (0.8 + 0.2 * random.uniform()),
                               story.baseline_us, random);
      one.timing->binary_hash = one.binary_hash;
    }
    one.verdict.binary_hash = one.binary_hash;
    evaluations.push_back(std::move(one));
  }
  return evaluations;
}

Status decide(Store& store, int64_t run, const std::vector<Evaluation>& evaluations, Random& random) {
  const Evaluation* best = nullptr;
  for (const Evaluation& one : evaluations)
    if (one.timing && (best == nullptr || one.timing->ratio > best->timing->ratio)) best = &one;
  Timing confirmation = make_timing(best->timing->ratio * 0.985, best->timing->baseline_median_us, random);
  confirmation.binary_hash = best->binary_hash;
  confirmation.confirmed = true;
  const bool wins = confirmation.ratio_low > 1;
  Decision decision{.problem = best->problem, .baseline = "onednn"};
  decision.median_us = decision.baseline_median_us = confirmation.baseline_median_us;
  decision.reason = fmt::format("interval [{:.3f}, {:.3f}] {} 1", confirmation.ratio_low,
                                confirmation.ratio_high, wins ? "excludes" : "does not exclude");
  if (wins) {
    decision.binary_hash = best->binary_hash;
    decision.median_us = confirmation.median_us;
    decision.ratio = confirmation.ratio;
    decision.ratio_low = confirmation.ratio_low;
    decision.ratio_high = confirmation.ratio_high;
  } else {
    decision.reason += std::string(" ") + kHostile;
  }
  return store.add_decision(run, decision, confirmation);
}

Status fill(const std::string& path, int shapes, int threads) {
  KW_TRY(Store store, Store::open(path));
  Random random(11, static_cast<uint64_t>(threads));
  const RunRecord record{.command = fmt::format("kernelwright tune --shapes list.csv --threads {}", threads),
                         .seed = 7,
                         .device = make_device(threads),
                         .version = "0.1.0"};
  KW_TRY(const int64_t run, store.add_run(record));
  for (int i = 0; i < shapes; ++i) {
    const Problem problem = make_problem(i, random);
    const std::string key = print_problem(problem);
    const Story story = make_story(problem, threads, random);
    KW_TRY_VOID(
        store.add_baselines(run, {{key, "onednn", "3.0.0", story.baseline_us, ""},
                                  {key, "openblas", "0.3.21", story.baseline_us * 1.2, ""},
                                  {key, "libxsmm", "1.17", std::nullopt, "too large for its generator"}}));
    const auto evaluations = make_search(key, story, i * 21.0, random);
    KW_TRY_VOID(store.add_evaluations(run, evaluations));
    if (i + 1 < shapes || shapes < 3) {
      KW_TRY_VOID(decide(store, run, evaluations, random));
      std::printf("%s\n", key.c_str());
    }
  }
  return store.finish_run(run, "done");
}

int run_fixture(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: report_fixture STORE SHAPES [both]\n");
    return 2;
  }
  for (int threads = 1; threads <= (argc > 3 ? 2 : 1); ++threads)
    if (const Status status = fill(argv[1], std::atoi(argv[2]), threads); !status) {
      std::fprintf(stderr, "report_fixture: %s\n", status.error().message.c_str());
      return 1;
    }
  return 0;
}

}  // namespace
}  // namespace kw

int main(int argc, char** argv) { return kw::run_fixture(argc, argv); }
