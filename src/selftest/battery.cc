#include "selftest/battery.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "emit/emit.h"
#include "problem/check.h"
#include "target/cpu/device.h"
#include "target/cuda/device.h"

namespace kw {
namespace {

// Families on the sampled shapes: what only a shape brings out shows in these. One for each placement.
const std::vector<std::string> kDomainFamilies = {"exact_integers", "nan_inf"};
constexpr Milliseconds kRunLimit{10'000}, kHangLimit{500};

Problem make_gapped_problem(Dtype dtype, Layout layout, int64_t m, int64_t n, int64_t k, double alpha,
                            double beta, int64_t gap) {
  Problem problem;
  problem.dtype = dtype;
  problem.layout = layout;
  problem.m = m, problem.n = n, problem.k = k, problem.alpha = alpha, problem.beta = beta;
  problem = with_tight_strides(problem);
  problem.lda += gap, problem.ldb += gap, problem.ldc += gap;
  return problem;
}

struct CheckedProblem {
  Problem problem;
  std::vector<std::string> families;  // empty = all
};

// Odd sizes with gaps, both kinds of beta, a square; k so deep that rounded inputs hide in the bound of a
// sum, with scalars that no power of two divides; several cache blocks; then what promotion samples.
std::vector<CheckedProblem> list_problems(Dtype dtype, const LaunchRecord& record, uint64_t seed) {
  const auto make = [&](int64_t m, int64_t n, int64_t k, double alpha, double beta, int64_t gap) {
    return make_gapped_problem(dtype, record.layout, m, n, k, alpha, beta, gap);
  };
  std::vector<CheckedProblem> problems = {
      {make(37, 45, 67, 1, 0, 3), {}},
      {make(24, 33, 132, -0.75, 0.625, 0), {}},
      {make(32, 32, 32, 1, 0, 1), {}},
      {make(5, 19, 2053, 0.3, 0.7, 0), {"normal", "exact_integers", "permutation"}},
      {make(141, 70, 290, 1, 1, 2), {"normal", "exact_integers"}}};
  for (Problem& problem : sample_domain(problems[0].problem, record, {8, 16, 8}, kDomainShapes, seed))
    problems.push_back({std::move(problem), kDomainFamilies});
  return problems;
}

std::string find_stage(const Verdict& verdict) {
  switch (verdict.klass) {
    case VerdictClass::kPass:
      return "";
    case VerdictClass::kIllegal:
    case VerdictClass::kLaunchError:
      return "loader";
    case VerdictClass::kHang:
    case VerdictClass::kCrash:
      return "worker";
    default:
      break;
  }
  const bool in_worker = verdict.reason == "forbidden_syscall" || verdict.reason == "clock" ||
                         verdict.evidence.contains("signal");  // an access that faulted
  return in_worker ? "worker" : "comparison";
}

// A routine is verified as it is used. Known faults of vendors elsewhere (doc/kernel.md): LIBXSMM (nn, tn)
// and OpenBLAS (nt) compute offsets in 32 bits at spread strides; OpenBLAS multiplies NaN by alpha = 0.
bool is_used_with_vendors(const Check& check) { return !check.spread && check.workload.problem.alpha != 0; }

}  // namespace

Result<LaunchRecord> make_launch(const CorpusKernel& kernel) {
  if (kernel.launch) return *kernel.launch;
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

// Of a kernel that may be used everywhere.
LaunchRecord Battery::make_record(Layout layout) const {
  const DeviceFacts& facts = devices_.at(1)->facts();
  LaunchRecord everywhere;
  everywhere.target = facts.target;
  everywhere.layout = layout;
  everywhere.contract = get_contract();
  return everywhere;
}

Contract Battery::get_contract() const {
  const bool on_gpu = devices_.at(1)->facts().target == "cuda";
  return on_gpu ? Contract{Dtype::kF16, Dtype::kF32, Dtype::kF16} : Contract();
}

Result<Battery> Battery::make(const std::string& target) {
  Battery battery;
  KW_TRY(TempFolder folder, TempFolder::make());
  battery.folder_ = std::move(folder);
  CompilePlan plan;
  plan.cache_folder = battery.folder_->path() / "objects";
  if (target == "cuda") {
    KW_TRY(battery.devices_[1], make_cuda_device({}));
    plan.architecture = battery.device().facts().isa;
  }
  KW_TRY(Compiler compiler, Compiler::find(plan));
  battery.compiler_ = std::move(compiler);
  if (target == "cuda") return battery;
  for (const int threads : {1, 2}) {
    CpuDevicePlan device_plan;
    device_plan.threads = threads;
    auto device = make_cpu_device(device_plan);
    if (device) battery.devices_[threads] = std::move(*device);
    if (!device && threads == 1) return tl::unexpected(device.error());
  }
  return battery;
}

bool Battery::can_run(const CorpusKernel& kernel, int threads) const {
  if (!devices_.contains(threads)) return false;
  return !kernel.launch || kernel.launch->isa != "avx512" || devices_.at(threads)->facts().isa == "avx512";
}

Result<tl::expected<Binary, Judged>> Battery::build(const CorpusKernel& kernel) {
  if (const auto known = built_.find(kernel.name); known != built_.end()) return known->second;
  Proposal proposal;
  proposal.proposer = "user";
  proposal.family = "free";
  proposal.free_text = kernel.text;
  KW_TRY(proposal.free_launch, make_launch(kernel));
  if (device().facts().target == "cuda") proposal.free_language = "cuda";
  const Problem problem = make_gapped_problem(get_contract().input, kernel.layout, 37, 45, 67, 1, 0, 0);
  tl::expected<Binary, Judged> built = tl::unexpected(Judged{{}, "source rules"});
  if (const auto source = make_source(problem, proposal, device().facts()); source) {
    KW_TRY(auto binary, compiler_->compile_one(*source, -1));
    built = binary ? tl::expected<Binary, Judged>(std::move(*binary))
                   : tl::unexpected(Judged{std::move(binary.error()), "compiler"});
  } else {
    built.error().verdict = source.error();
  }
  return built_.emplace(kernel.name, std::move(built)).first->second;
}

Result<Judged> Battery::judge(const CorpusKernel& kernel, int threads, uint64_t seed) {
  KW_TRY(const auto binary, build(kernel));
  if (!binary) return binary.error();
  return judge_binary(*binary, threads, seed, kernel.expected.starts_with("hang/"));
}

Result<Judged> Battery::judge_binary(const Binary& binary, int threads, uint64_t seed, bool hangs) {
  KW_TRY(const auto* checks, find_checks(binary.launch.layout, seed));
  const VerifyPlan plan{.repeats = 2, .limit = hangs ? kHangLimit : kRunLimit, .seed = seed + 1};
  KW_TRY(const Verdict verdict, check_binary(device(threads), binary, *checks, plan));
  return Judged{verdict, find_stage(verdict)};
}

Result<Judged> Battery::judge_schedule(const Problem& problem, const std::string& family,
                                       const std::string& key, const std::vector<int64_t>& tile,
                                       uint64_t seed) {
  Proposal proposal;
  proposal.family = family;
  proposal.schedule = key;
  const auto source = make_source(problem, proposal, device().facts());
  if (!source) return Judged{source.error(), "legality"};
  KW_TRY(const auto binary, compiler_->compile_one(*source, -1));
  if (!binary) return Judged{binary.error(), "compiler"};
  const LaunchRecord& launch = binary->launch;
  KW_TRY(auto checks, make_checks(problem, {.contract = launch.contract}, seed));
  const TileHint hint{tile[0], tile[1], tile[2]};
  for (const Problem& sample : sample_domain(problem, launch, hint, kDomainShapes, seed)) {
    KW_TRY(auto more, make_checks(sample, {.contract = launch.contract, .families = kDomainFamilies}, seed));
    for (Check& check : more) checks.push_back(std::move(check));
  }
  KW_TRY(auto spread, make_spread_checks(problem, launch, seed));
  for (Check& check : spread) checks.push_back(std::move(check));
  KW_TRY(const Verdict verdict,
         check_binary(device(), *binary, checks, {.repeats = 2, .limit = kRunLimit, .seed = seed + 1}));
  return Judged{verdict, find_stage(verdict)};
}

Result<Judged> Battery::judge_vendor(const std::string& name, Layout layout, uint64_t seed) {
  KW_TRY(const auto* all, find_checks(layout, seed));
  const VerifyPlan plan{.repeats = 2, .limit = kRunLimit, .seed = seed + 1};
  std::vector<Check> checks;
  std::copy_if(all->begin(), all->end(), std::back_inserter(checks), is_used_with_vendors);
  KW_TRY(const Verdict verdict, check_baseline(device(), name, checks, plan));
  return Judged{verdict, find_stage(verdict)};
}

Result<std::set<std::string>> Battery::find_vendors(Layout layout, uint64_t seed) {
  std::set<std::string> names;
  KW_TRY(const auto* checks, find_checks(layout, seed));
  for (const Check& check : *checks) {
    KW_TRY(const std::vector<std::string> here, device().find_baselines(check.workload));
    names.insert(here.begin(), here.end());
  }
  return names;
}

Result<const std::vector<Check>*> Battery::find_checks(Layout layout, uint64_t seed) {
  const auto key = std::pair(layout, seed);
  if (checks_.contains(key)) return &checks_[key];
  std::vector<Check> checks;
  const LaunchRecord record = make_record(layout);
  for (const CheckedProblem& entry : list_problems(record.contract.input, record, seed)) {
    KW_TRY(auto made,
           make_checks(entry.problem, {.contract = record.contract, .families = entry.families}, seed));
    for (Check& check : made) checks.push_back(std::move(check));
  }
  KW_TRY(auto spread, make_spread_checks(make_gapped_problem(record.contract.input, layout, 1, 1, 1, 1, 0, 0),
                                         record, seed));
  for (Check& check : spread) checks.push_back(std::move(check));
  return &(checks_[key] = std::move(checks));
}

}  // namespace kw
