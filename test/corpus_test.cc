// Every mutant gets exactly its verdict and no honest kernel is rejected, through the real emitter, compiler,
// worker and checks, over several seeds. Prints a table; `--out FILE` writes a JSON summary; `--only NAME`
// runs one kernel. Started with "worker" it is the caged worker of its own device.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "compile/compile.h"
#include "emit/emit.h"
#include "problem/check.h"
#include "target/cpu/device.h"
#include "target/cpu/worker.h"
#include "test/corpus.h"
#include "verify/verify.h"

namespace kw {
namespace {

constexpr int kSeeds = 3;
constexpr int kDomainShapes = 8;
constexpr Milliseconds kRunLimit{10'000}, kHangLimit{500};

Problem make_problem(Layout layout, int64_t m, int64_t n, int64_t k, double alpha, double beta, int64_t gap) {
  Problem problem;
  problem.layout = layout;
  problem.m = m, problem.n = n, problem.k = k, problem.alpha = alpha, problem.beta = beta;
  problem = with_tight_strides(problem);
  problem.lda += gap, problem.ldb += gap, problem.ldc += gap;
  return problem;
}

// Odd sizes with gaps, both kinds of beta, a square, and samples of the domain.
std::vector<Problem> list_problems(Layout layout, const LaunchRecord& launch, uint64_t seed) {
  std::vector<Problem> problems = {make_problem(layout, 37, 45, 67, 1, 0, 3),
                                   make_problem(layout, 24, 33, 132, -0.75, 0.625, 0),
                                   make_problem(layout, 32, 32, 32, 1, 0, 1)};
  for (Problem& problem : sample_domain(problems[0], launch, {8, 16, 8}, kDomainShapes, seed)) {
    problems.push_back(std::move(problem));
  }
  return problems;
}

Result<std::vector<Check>> make_all_checks(Layout layout, uint64_t seed) {
  std::vector<Check> checks;
  LaunchRecord everywhere;
  everywhere.layout = layout;
  for (const Problem& problem : list_problems(layout, everywhere, seed)) {
    KW_TRY(auto made, make_checks(problem, {}, seed));
    for (Check& check : made) checks.push_back(std::move(check));
  }
  KW_TRY(const auto counts, count_null_refusals(checks));
  fmt::print("layout {}, seed {:016x}: {} checks, null kernels refused {} times, not applicable {} times\n",
             print_layout(layout), seed, checks.size(), counts.refused, counts.not_applicable);
  return checks;
}

Result<LaunchRecord> make_launch(const CorpusKernel& kernel) {
  LaunchRecord launch;
  launch.layout = kernel.layout;
  launch.deterministic = kernel.deterministic;
  launch.domain = kernel.domain;
  for (const std::string& name : kernel.kernels) {
    KW_TRY(const Expression items, Expression::parse(kernel.items));
    launch.kernels.push_back({name, items});
  }
  KW_TRY(launch.workspace_bytes, Expression::parse(kernel.workspace_bytes));
  KW_TRY(launch.scratch_bytes, Expression::parse(kernel.scratch_bytes));
  return launch;
}

using Built = tl::expected<Binary, Verdict>;

Result<Built> build(const Compiler& compiler, const CorpusKernel& kernel, const DeviceFacts& facts) {
  Proposal proposal;
  proposal.proposer = "user";
  proposal.family = "free";
  proposal.free_text = kernel.text;
  KW_TRY(proposal.free_launch, make_launch(kernel));
  const auto source = make_source(make_problem(kernel.layout, 37, 45, 67, 1, 0, 0), proposal, facts);
  if (!source) return Built(tl::unexpected(source.error()));
  return compiler.compile_one(*source, -1);
}

// Verdicts of the corpus over seeds; each kernel is compiled once.
class Corpus {
 public:
  static Result<Corpus> make(const std::vector<uint64_t>& seeds) {
    Corpus corpus;
    KW_TRY(TempFolder folder, TempFolder::make());
    corpus.folder_ = std::move(folder);
    CompilePlan plan;
    plan.cache_folder = corpus.folder_->path();
    KW_TRY(Compiler compiler, Compiler::find(plan));
    corpus.compiler_ = std::move(compiler);
    for (const int threads : {1, 2}) {
      CpuDevicePlan device_plan;
      device_plan.threads = threads;
      auto device = make_cpu_device(device_plan);
      if (device) corpus.devices_[threads] = std::move(*device);
      if (!device && threads == 1) return tl::unexpected(device.error());
      if (!device) fmt::print("{} threads: skipped, {}\n", threads, device.error().message);
    }
    corpus.seeds_ = seeds;
    return corpus;
  }

  // nothing: the verdict is the expected one for every seed. Skipped kernels are counted.
  Result<std::optional<std::string>> find_surprise(const CorpusKernel& kernel, int threads) {
    const auto device = devices_.find(threads);
    if (device == devices_.end()) {
      ++skipped;
      return std::optional<std::string>();
    }
    KW_TRY(const Built binary, build(*compiler_, kernel, device->second->facts()));
    for (const uint64_t seed : seeds_) {
      Verdict verdict;
      if (binary) {
        KW_TRY(const auto* checks, find_checks(kernel.layout, seed));
        const bool hangs = kernel.expected.starts_with("hang/");
        const VerifyPlan plan{.repeats = 2, .limit = hangs ? kHangLimit : kRunLimit, .seed = seed + 1};
        KW_TRY(verdict, check_binary(*device->second, *binary, *checks, plan));
      } else {
        verdict = binary.error();
      }
      if (verdict.code() != kernel.expected) {
        return std::optional(
            fmt::format("{} (seed {:016x}) {}", verdict.code(), seed, verdict.evidence.dump()));
      }
    }
    return std::optional<std::string>();
  }

  // Vendor routines are honest kernels too.
  Result<std::optional<std::string>> find_vendor_surprise(const std::string& name, Layout layout) {
    KW_TRY(const auto* checks, find_checks(layout, seeds_.front()));
    const VerifyPlan plan{.repeats = 2, .limit = kRunLimit, .seed = seeds_.front() + 1};
    KW_TRY(const Verdict verdict, check_baseline(*devices_.at(1), name, *checks, plan));
    if (verdict.passed()) return std::optional<std::string>();
    return std::optional(verdict.code() + " " + verdict.evidence.dump());
  }

  // Routines that can compute any of the checks of a layout.
  Result<std::set<std::string>> find_vendors(Layout layout) {
    std::set<std::string> names;
    KW_TRY(const auto* checks, find_checks(layout, seeds_.front()));
    for (const Check& check : *checks) {
      for (const std::string& name : devices_.at(1)->find_baselines(check.workload)) names.insert(name);
    }
    return names;
  }

  int skipped = 0;

 private:
  Result<const std::vector<Check>*> find_checks(Layout layout, uint64_t seed) {
    const auto key = std::pair(layout, seed);
    if (!checks_.contains(key)) {
      KW_TRY(checks_[key], make_all_checks(layout, seed));
    }
    return &checks_[key];
  }

  std::optional<TempFolder> folder_;
  std::optional<Compiler> compiler_;
  std::map<int, std::unique_ptr<Device>> devices_;
  std::vector<uint64_t> seeds_;
  std::map<std::pair<Layout, uint64_t>, std::vector<Check>> checks_;
};

// One line of the table per kernel; what came out differently is kept for the summary.
struct Tally {
  int kernels = 0, as_expected = 0;
  Json surprises = Json::array();

  void add(const std::string& kind, const std::string& name, const std::string& expected,
           Clock::time_point start, const std::optional<std::string>& surprise) {
    ++kernels;
    as_expected += surprise ? 0 : 1;
    fmt::print("{:4} {:9} {:32} {:40} {:6.0f} ms{}\n", surprise ? "FAIL" : "ok", kind, name, expected,
               microseconds_since(start) / 1000, surprise ? "\n       got " + *surprise : "");
    std::fflush(stdout);
    if (surprise) surprises.push_back({{"kernel", name}, {"expected", expected}, {"got", *surprise}});
  }
};

Result<Tally> run_list(Corpus& corpus, const std::vector<CorpusKernel>& kernels, const char* kind,
                       int threads, const std::string& only) {
  Tally tally;
  for (const CorpusKernel& kernel : kernels) {
    if (!only.empty() && kernel.name != only) continue;
    const auto start = Clock::now();
    const int skipped = corpus.skipped;
    KW_TRY(const auto surprise, corpus.find_surprise(kernel, std::max(threads, kernel.threads)));
    if (corpus.skipped == skipped) tally.add(kind, kernel.name, kernel.expected, start, surprise);
  }
  return tally;
}

Result<Tally> run_vendors(Corpus& corpus, const std::string& only) {
  Tally tally;
  for (const Layout layout : {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT}) {
    if (!only.empty() && only != "vendors") continue;
    KW_TRY(const auto names, corpus.find_vendors(layout));
    for (const std::string& name : names) {
      const auto start = Clock::now();
      KW_TRY(const auto surprise, corpus.find_vendor_surprise(name, layout));
      tally.add("vendor", fmt::format("{} {}", name, print_layout(layout)), "pass", start, surprise);
    }
  }
  return tally;
}

Result<int> run_corpus(const std::string& out, const std::string& only) {
  std::vector<uint64_t> seeds;
  for (int at = 0; at < kSeeds; ++at) seeds.push_back(make_secret_seed());
  KW_TRY(Corpus corpus, Corpus::make(seeds));
  KW_TRY(const Tally mutants, run_list(corpus, make_mutants(), "mutant", 1, only));
  KW_TRY(const Tally honest, run_list(corpus, make_honest_kernels(), "honest", 1, only));
  KW_TRY(const Tally threaded, run_list(corpus, make_honest_kernels(), "honest x2", 2, only));
  KW_TRY(const Tally vendors, run_vendors(corpus, only));
  int rejected = 0;
  for (const Tally* tally : {&honest, &threaded, &vendors}) rejected += tally->kernels - tally->as_expected;
  const double share = mutants.kernels == 0 ? 0 : static_cast<double>(mutants.as_expected) / mutants.kernels;
  fmt::print(
      "mutants with the right verdict: {} of {}; honest kernels rejected: {} of {}, {} of them also with 2 "
      "threads, {} vendor routines; {} seeds; skipped: {}\n",
      mutants.as_expected, mutants.kernels, rejected, honest.kernels + vendors.kernels, threaded.kernels,
      vendors.kernels, kSeeds, corpus.skipped);
  if (!out.empty()) {
    const Json summary = {{"mutants", mutants.kernels},
                          {"mutants_killed_share", share},
                          {"honest", honest.kernels},
                          {"honest_two_threads", threaded.kernels},
                          {"vendor_routines", vendors.kernels},
                          {"honest_rejected", rejected},
                          {"seeds", seeds},
                          {"skipped", corpus.skipped},
                          {"surprises",
                           {{"mutants", mutants.surprises},
                            {"honest", honest.surprises},
                            {"honest_two_threads", threaded.surprises},
                            {"vendor_routines", vendors.surprises}}}};
    KW_TRY_VOID(write_file_atomically(out, summary.dump(2) + "\n"));
  }
  const bool any = mutants.kernels + honest.kernels + vendors.kernels > 0;
  return any && mutants.as_expected == mutants.kernels && rejected == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kw

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], kw::kWorkerArgument) == 0) return kw::run_worker();
  std::string out, only;
  for (int at = 1; at < argc; at += 2) {
    std::string* value = std::strcmp(argv[at], "--out") == 0    ? &out
                         : std::strcmp(argv[at], "--only") == 0 ? &only
                                                                : nullptr;
    if (value == nullptr || at + 1 == argc) {
      fmt::print(stderr,
                 "corpus_test: \"{}\"; allowed are --out FILE and --only NAME (\"vendors\" for the vendor "
                 "routines)\n",
                 argv[at]);
      return 2;
    }
    *value = argv[at + 1];
  }
  const auto code = kw::run_corpus(out, only);
  if (!code) {
    fmt::print(stderr, "corpus_test: {}\n", code.error().message);
    return 1;
  }
  return *code;
}
