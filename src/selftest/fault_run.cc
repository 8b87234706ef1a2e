#include "selftest/fault_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <optional>

#include "base/check.h"
#include "base/random.h"
#include "emit/emit.h"
#include "problem/check.h"
#include "selftest/fault_host.h"
#include "selftest/fault_saboteur.h"

namespace kw {
namespace {

enum class Injection {
  kNone,  // the kernel's own text is the fault
  kKillWorker,
  kStopWorker,
  kKillCompilerOnce,
  kKillCompiler,
  kTearEntry,
  kChangeEntry,
  kGarbageObject,
};

struct FaultKind {
  const char* name;
  const char* kernel;    // of the mutants; nullptr = a right kernel drawn at random
  const char* expected;  // "pass" where the bench must recover by itself
  Injection injection = Injection::kNone;
};

constexpr FaultKind kKinds[] = {
    {"segfault", "null_pointer", "crash/segfault"},
    {"illegal_instruction", "illegal_instruction", "crash/illegal_instruction"},
    {"division_by_zero", "division_by_zero", "crash/arithmetic"},
    {"stack_overflow", "endless_recursion", "crash/segfault"},
    {"hang", "never_ends", "hang/time_limit"},
    {"write_past_end", "writes_past_c", "out_of_bounds/write_past_c"},
    {"read_before_start", "reads_before_a", "out_of_bounds/before_a"},
    {"system_call", "hidden_system_call", "cheat/forbidden_syscall"},
    {"undefined_symbol", "calls_a_library", "illegal/undefined_symbol"},
    {"compile_error", "no_cxx", "compile_error/syntax"},
    {"wrong_result", "lost_item", "wrong_result/unwritten"},
    {"worker_killed", nullptr, "pass", Injection::kKillWorker},
    {"worker_stopped", nullptr, "pass", Injection::kStopWorker},
    {"compiler_killed_once", nullptr, "pass", Injection::kKillCompilerOnce},
    {"compiler_killed", nullptr, "compile_error/compiler_crash", Injection::kKillCompiler},
    {"torn_cache_entry", nullptr, "pass", Injection::kTearEntry},
    {"changed_cache_entry", nullptr, "pass", Injection::kChangeEntry},
    {"garbage_object", nullptr, "illegal/object_format", Injection::kGarbageObject},
};

constexpr Milliseconds kRunLimit{10'000}, kShortLimit{150};
constexpr int kStrikeAttempts = 20;
// Processor time of a worker when the saboteur strikes: after its start, within the run.
constexpr int64_t kEarliestUs = 4000, kLatestUs = 9000;
constexpr size_t kGarbageBytes = 3000;

// Kills the program that g++ starts, as the kernel does when memory is short; as often as lines are in
// `strikes`.
constexpr const char* kKillingCompiler = R"(
[ -s {0} ] || exec g++ "$@"
sed -i 1d {0}
exec 3<&0
g++ "$@" <&3 &
driver=$!
while [ -d /proc/$driver ]; do
  read child < /proc/$driver/task/$driver/children
  [ -n "$child" ] && break
done
kill -9 $child
wait $driver
)";

// Slow enough for a saboteur to meet it at work.
constexpr const char* kDelay = "\n  for (volatile int wait = 0; wait < 300000; wait = wait + 1) {}\n";

class Runner {
 public:
  Runner(Battery& battery, uint64_t seed) : battery_(battery), random_(seed) {}

  [[nodiscard]] Status prepare() {
    for (CorpusKernel& kernel : make_mutants()) mutants_.emplace(kernel.name, std::move(kernel));
    for (CorpusKernel& kernel : make_honest_kernels())
      if (kernel.layout == Layout::kNN && !kernel.launch && kernel.domain.empty() &&
          kernel.kernels == std::vector<std::string>{"gemm"})
        right_.push_back(std::move(kernel));
    Problem problem;
    problem.m = 19, problem.n = 21, problem.k = 23;
    problem_ = with_tight_strides(problem);
    KW_TRY(checks_, make_checks(problem_, {.families = {"normal", "exact_integers"}}, random_.next()));
    strikes_ = battery_.folder() / "strikes";
    KW_TRY(Compiler killing,
           make_script_compiler(battery_.folder(),
                                fmt::format(fmt::runtime(kKillingCompiler), strikes_.string()),
                                {.cache_folder = battery_.folder() / "objects"}));
    killing_compiler_ = std::move(killing);
    return {};
  }

  [[nodiscard]] Result<Verdict> run_right() {
    return judge(draw_right_kernel(), battery_.compiler(), kRunLimit);
  }
  [[nodiscard]] Result<Verdict> run_fault(const FaultKind& kind);

 private:
  const CorpusKernel& get_mutant(const std::string& name) const {
    const auto found = mutants_.find(name);
    KW_CHECK(found != mutants_.end(), "no mutant {}", name);
    return found->second;
  }
  const CorpusKernel& draw_right_kernel() { return right_[random_.below(right_.size())]; }

  // A text that no candidate had before.
  [[nodiscard]] Result<tl::expected<Source, Verdict>> make_new_source(const CorpusKernel& kernel) {
    Proposal proposal;
    proposal.proposer = "user";
    proposal.family = "free";
    proposal.free_text = fmt::format("{}\n// candidate {}\n", kernel.text, ++texts_);
    KW_TRY(proposal.free_launch, make_launch(kernel));
    return make_source(problem_, proposal, battery_.device().facts());
  }

  [[nodiscard]] Result<Verdict> check(const Binary& binary, Milliseconds limit) {
    return check_binary(battery_.device(), binary, checks_, {.limit = limit, .seed = random_.next()});
  }

  [[nodiscard]] Result<Verdict> judge(const CorpusKernel& kernel, const Compiler& compiler,
                                      Milliseconds limit) {
    KW_TRY(const auto source, make_new_source(kernel));
    if (!source) return source.error();
    KW_TRY(const auto binary, compiler.compile_one(*source, -1));
    if (!binary) return binary.error();
    return check(*binary, limit);
  }

  [[nodiscard]] Result<Verdict> sabotage(int signal);
  [[nodiscard]] Result<Verdict> kill_compiler(int strikes);
  [[nodiscard]] Result<Verdict> damage_entry(bool tear);
  [[nodiscard]] Result<Verdict> load_garbage();

  Battery& battery_;
  Random random_;
  std::map<std::string, CorpusKernel> mutants_;
  std::vector<CorpusKernel> right_;
  Problem problem_;
  std::vector<Check> checks_;
  fs::path strikes_;
  std::optional<Compiler> killing_compiler_;
  int64_t texts_ = 0;
};

// A verdict that says the fault was never there.
Verdict make_missed(const std::string& why) {
  Verdict verdict;
  verdict.klass = VerdictClass::kSkipped;
  verdict.reason = "not_injected";
  verdict.evidence["why"] = why;
  return verdict;
}

Result<Verdict> Runner::sabotage(int signal) {
  CorpusKernel slow = draw_right_kernel();
  const size_t body = slow.text.find('{', slow.text.find("void gemm("));
  KW_CHECK(body != std::string::npos, "no kernel body in {}", slow.name);
  slow.text.insert(body + 1, kDelay);
  KW_TRY(const auto source, make_new_source(slow));
  if (!source) return source.error();
  KW_TRY(const auto binary, battery_.compiler().compile_one(*source, -1));
  if (!binary) return binary.error();
  reap_orphans();  // from here on, the only children are workers
  const Milliseconds limit = signal == SIGSTOP ? kShortLimit : kRunLimit;
  for (int attempt = 0; attempt < kStrikeAttempts; ++attempt) {
    const Saboteur saboteur(signal, std::chrono::microseconds(random_.between(kEarliestUs, kLatestUs)));
    KW_TRY(Verdict verdict, check(*binary, limit));
    if (saboteur.has_struck() || !verdict.passed()) return verdict;
  }
  return make_missed("every worker was done before the saboteur came");
}

Result<Verdict> Runner::kill_compiler(int strikes) {
  std::ofstream(strikes_) << std::string(static_cast<size_t>(strikes), '\n');
  KW_TRY(Verdict verdict, judge(draw_right_kernel(), *killing_compiler_, kRunLimit));
  const auto left = read_file(strikes_);
  if (!left || !left->empty()) return make_missed("the compiler was not started often enough");
  return verdict;
}

Result<Verdict> Runner::damage_entry(bool tear) {
  KW_TRY(const auto source, make_new_source(draw_right_kernel()));
  if (!source) return source.error();
  KW_TRY(const auto first, battery_.compiler().compile_one(*source, -1));
  if (!first) return first.error();
  const fs::path entry = battery_.folder() / "objects" / first->source_hash.substr(0, 2) / first->source_hash;
  KW_TRY(std::string content, read_file(entry));
  const size_t place = content.size() / 2 + random_.below(content.size() / 2);
  if (tear) content.resize(place);
  if (!tear) content[place] = static_cast<char>(content[place] ^ 0x10);
  std::ofstream(entry, std::ios::binary | std::ios::trunc) << content;
  KW_TRY(const auto again, battery_.compiler().compile_one(*source, -1));
  if (!again) return again.error();
  if (again->from_cache) return make_missed("the damaged entry was believed");
  KW_TRY(const auto third, battery_.compiler().compile_one(*source, -1));
  if (!third || !third->from_cache) return make_missed("the entry was not rebuilt");
  return check(*third, kRunLimit);
}

Result<Verdict> Runner::load_garbage() {
  KW_TRY(const auto source, make_new_source(draw_right_kernel()));
  if (!source) return source.error();
  KW_TRY(auto binary, battery_.compiler().compile_one(*source, -1));
  if (!binary) return binary.error();
  binary->object.clear();
  for (size_t at = 0; at < kGarbageBytes; ++at) binary->object += static_cast<char>(random_.below(256));
  return check(*binary, kRunLimit);
}

Result<Verdict> Runner::run_fault(const FaultKind& kind) {
  switch (kind.injection) {
    case Injection::kNone:
      break;
    case Injection::kKillWorker:
      return sabotage(SIGKILL);
    case Injection::kStopWorker:
      return sabotage(SIGSTOP);
    case Injection::kKillCompilerOnce:
      return kill_compiler(1);
    case Injection::kKillCompiler:
      return kill_compiler(2);
    case Injection::kTearEntry:
    case Injection::kChangeEntry:
      return damage_entry(kind.injection == Injection::kTearEntry);
    case Injection::kGarbageObject:
      return load_garbage();
  }
  const bool hangs = std::string_view(kind.expected).starts_with("hang/");
  return judge(get_mutant(kind.kernel), battery_.compiler(), hangs ? kShortLimit : kRunLimit);
}

// Index into kKinds for every candidate, -1 without a fault.
std::vector<int> draw_order(int candidates, int faults, Random& random) {
  std::vector<int> order(static_cast<size_t>(candidates), -1);
  for (int at = 0; at < faults; ++at)
    order[static_cast<size_t>(at)] = at % static_cast<int>(std::size(kKinds));
  for (size_t at = order.size(); at > 1; --at) std::swap(order[at - 1], order[random.below(at)]);
  return order;
}

void count(FaultTally& tally, const Verdict& verdict, int position, Clock::time_point start) {
  ++tally.count;
  tally.seconds += seconds_since(start);
  tally.as_expected += verdict.code() == tally.expected;
  if (verdict.code() == tally.expected || !tally.surprise.empty()) return;
  tally.surprise = {{"got", verdict.code()}, {"candidate", position}, {"evidence", verdict.evidence}};
}

}  // namespace

std::vector<std::string> list_fault_kinds() {
  std::vector<std::string> names;
  for (const FaultKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

Result<FaultRun> run_faults(Battery& battery, const FaultPlan& plan) {
  const auto [candidates, faults, seed, should_stop] = plan;
  KW_CHECK(faults <= candidates, "{} faults in {} candidates", faults, candidates);
  KW_TRY(const TempRedirect temp, TempRedirect::make(battery.folder()));
  Random random(seed, 0x6661756c74);
  Runner runner(battery, random.next());
  KW_TRY_VOID(runner.prepare());
  FaultRun result;
  result.others.expected = "pass";
  for (const FaultKind& kind : kKinds) result.kinds[kind.name].expected = kind.expected;
  KW_TRY(const Verdict first, runner.run_right());  // loads what is loaded once
  if (!first.passed())
    return fail("a right kernel is refused before any fault: {} {}", first.code(), first.evidence.dump());
  result.before = result.early = read_footprint(temp.path());
  const std::vector<int> order = draw_order(candidates, faults, random);
  for (int at = 0; at < candidates && !should_stop(); ++at) {
    reap_orphans();
    if (at == candidates / 4) result.early = read_footprint(temp.path());
    const auto start = Clock::now();
    const int kind = order[static_cast<size_t>(at)];
    KW_TRY(const Verdict verdict, kind < 0 ? runner.run_right() : runner.run_fault(kKinds[kind]));
    count(kind < 0 ? result.others : result.kinds[kKinds[kind].name], verdict, at, start);
  }
  reap_orphans();
  result.after = read_footprint(temp.path());
  return result;
}

}  // namespace kw
