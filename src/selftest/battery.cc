#include "selftest/battery.h"

#include <fmt/format.h>

#include "emit/emit.h"
#include "problem/check.h"
#include "target/cpu/device.h"

namespace kw {
namespace {

constexpr int kDomainShapes = 8;
constexpr Milliseconds kRunLimit{10'000}, kHangLimit{500};

Problem make_gapped_problem(Layout layout, int64_t m, int64_t n, int64_t k, double alpha, double beta, int64_t gap) {
  Problem problem;
  problem.layout = layout;
  problem.m = m, problem.n = n, problem.k = k, problem.alpha = alpha, problem.beta = beta;
  problem = with_tight_strides(problem);
  problem.lda += gap, problem.ldb += gap, problem.ldc += gap;
  return problem;
}

std::vector<Problem> list_problems(Layout layout, uint64_t seed) {
  std::vector<Problem> problems = {make_gapped_problem(layout, 37, 45, 67, 1, 0, 3),
                                   make_gapped_problem(layout, 24, 33, 132, -0.75, 0.625, 0),
                                   make_gapped_problem(layout, 32, 32, 32, 1, 0, 1)};
  LaunchRecord everywhere;
  everywhere.layout = layout;
  for (Problem& problem : sample_domain(problems[0], everywhere, {8, 16, 8}, kDomainShapes, seed))
    problems.push_back(std::move(problem));
  return problems;
}

std::string find_stage(const Verdict& verdict) {
  switch (verdict.klass) {
    case VerdictClass::kPass:
    case VerdictClass::kSkipped:
      return "";
    case VerdictClass::kIllegal:
    case VerdictClass::kLaunchError:
      return "loader";
    case VerdictClass::kHang:
    case VerdictClass::kCrash:
      return "worker";
    default:
      return verdict.reason == "forbidden_syscall" ? "worker" : "comparison";
  }
}

}  // namespace

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

Result<Battery> Battery::make() {
  Battery battery;
  KW_TRY(TempFolder folder, TempFolder::make());
  battery.folder_ = std::move(folder);
  CompilePlan plan;
  plan.cache_folder = battery.folder_->path() / "objects";
  KW_TRY(Compiler compiler, Compiler::find(plan));
  battery.compiler_ = std::move(compiler);
  for (const int threads : {1, 2}) {
    CpuDevicePlan device_plan;
    device_plan.threads = threads;
    auto device = make_cpu_device(device_plan);
    if (device) battery.devices_[threads] = std::move(*device);
    if (!device && threads == 1) return tl::unexpected(device.error());
  }
  return battery;
}

Result<tl::expected<Binary, Judged>> Battery::build(const CorpusKernel& kernel) {
  if (const auto known = built_.find(kernel.name); known != built_.end()) return known->second;
  Proposal proposal;
  proposal.proposer = "user";
  proposal.family = "free";
  proposal.free_text = kernel.text;
  KW_TRY(proposal.free_launch, make_launch(kernel));
  const Problem problem = make_gapped_problem(kernel.layout, 37, 45, 67, 1, 0, 0);
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
  KW_TRY(const auto* checks, find_checks(kernel.layout, seed));
  const bool hangs = kernel.expected.starts_with("hang/");
  const VerifyPlan plan{.repeats = 2, .limit = hangs ? kHangLimit : kRunLimit, .seed = seed + 1};
  KW_TRY(const Verdict verdict, check_binary(device(threads), *binary, *checks, plan));
  return Judged{verdict, find_stage(verdict)};
}

Result<Judged> Battery::judge_vendor(const std::string& name, Layout layout, uint64_t seed) {
  KW_TRY(const auto* checks, find_checks(layout, seed));
  const VerifyPlan plan{.repeats = 2, .limit = kRunLimit, .seed = seed + 1};
  KW_TRY(const Verdict verdict, check_baseline(device(), name, *checks, plan));
  return Judged{verdict, find_stage(verdict)};
}

Result<std::set<std::string>> Battery::find_vendors(Layout layout, uint64_t seed) {
  std::set<std::string> names;
  KW_TRY(const auto* checks, find_checks(layout, seed));
  for (const Check& check : *checks)
    for (const std::string& name : device().find_baselines(check.workload)) names.insert(name);
  return names;
}

Result<const std::vector<Check>*> Battery::find_checks(Layout layout, uint64_t seed) {
  const auto key = std::pair(layout, seed);
  if (checks_.contains(key)) return &checks_[key];
  std::vector<Check> checks;
  for (const Problem& problem : list_problems(layout, seed)) {
    KW_TRY(auto made, make_checks(problem, {}, seed));
    for (Check& check : made) checks.push_back(std::move(check));
  }
  return &(checks_[key] = std::move(checks));
}

}  // namespace kw
