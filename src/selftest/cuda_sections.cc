// The sections "mutants" and "honest" on the GPU: CUDA texts with a known verdict, and every family's kernels
// for both layouts and element types, on problems aligned, odd and tiny.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/random.h"
#include "schedule/space.h"
#include "selftest/cuda_mutants.h"
#include "selftest/section.h"

namespace kw {
namespace {

// Faults that change no result on the GPU: a sanitizer has to find them (tools/gpu/sanitizer.sh).
constexpr const char* kSanitizersWork[] = {"race/", "out_of_bounds/shared",
                                           "wrong_result/uninitialised_shared", "out_of_bounds/past_"};

bool needs_sanitizer(const std::string& expected) {
  return std::any_of(std::begin(kSanitizersWork), std::end(kSanitizersWork),
                     [&](const char* start) { return expected.starts_with(start); });
}

Result<std::array<Expression, 3>> parse_three(const std::string& x, const std::string& y,
                                              const std::string& z) {
  std::array<Expression, 3> three;
  KW_TRY(three[0], Expression::parse(x));
  KW_TRY(three[1], Expression::parse(y));
  KW_TRY(three[2], Expression::parse(z));
  return three;
}

// a, b, c, m, n, k, lda, ldb, ldc, alpha, beta, workspace.
Result<std::vector<Argument>> make_arguments() {
  using Kind = Argument::Kind;
  std::vector<Argument> arguments;
  for (const char* name : {"a", "b", "c"}) arguments.push_back({Kind::kOperand, name, {}, {}});
  for (const char* name : {"m", "n", "k", "lda", "ldb", "ldc"}) {
    KW_TRY(Expression value, Expression::parse(name));
    arguments.push_back({Kind::kInt64, "", std::move(value), {}});
  }
  for (const char* name : {"alpha", "beta"}) arguments.push_back({Kind::kFloat32, name, {}, {}});
  arguments.push_back({Kind::kWorkspace, "", Expression(), {}});
  return arguments;
}

Result<CorpusKernel> make_corpus_kernel(const CudaMutant& mutant) {
  CorpusKernel kernel;
  kernel.name = mutant.name;
  kernel.text = mutant.text;
  kernel.expected = mutant.expected;
  LaunchRecord launch;
  launch.target = "cuda";
  launch.isa = "sm_80";
  launch.contract = {Dtype::kF16, Dtype::kF32, Dtype::kF16};
  KW_TRY(launch.workspace_bytes, Expression::parse(mutant.workspace_bytes));
  for (const CudaMutantLaunch& one : mutant.launches) {
    GridLaunch grid;
    KW_TRY(grid.grid, parse_three(one.grid_x, one.grid_y, one.grid_z));
    KW_TRY(grid.block, parse_three(one.block_x, "1", "1"));
    KW_TRY(grid.cluster, parse_three("1", "1", "1"));
    KW_TRY(grid.shared_bytes, Expression::parse(one.smem_bytes));
    KW_TRY(grid.arguments, make_arguments());
    launch.kernels.push_back({.name = one.kernel, .items = {}, .grid = std::move(grid)});
  }
  kernel.launch = std::move(launch);
  return kernel;
}

Status add_text(Battery& battery, SectionRun& run, const CudaMutant& mutant, int seeds) {
  if (!run.wants(mutant.name)) return {};
  if (needs_sanitizer(mutant.expected)) {
    run.skip(mutant.name, "changes no result here; a sanitizer finds it");
    return {};
  }
  KW_TRY(const CorpusKernel kernel, make_corpus_kernel(mutant));
  const auto start = Clock::now();
  Judged judged;
  for (int at = 0; at < seeds; ++at) {
    KW_TRY(judged, battery.judge(kernel, 1, make_secret_seed()));
    if (judged.verdict.code() != kernel.expected) break;
  }
  run.add(kernel.name, kernel.expected, judged, start);
  return {};
}

struct Shape {
  int64_t m, n, k, gap;
};
// Aligned; off by one in each direction; deep; tiny; a decode step; with gaps.
constexpr Shape kShapes[] = {{256, 256, 512, 0}, {65, 129, 333, 0}, {64, 64, 4096, 0},
                             {8, 896, 1024, 0},  {3, 5, 7, 0},      {200, 136, 264, 8}};
constexpr size_t kRanked = 3;
constexpr int kDrawn = 3;

// The best ranked schedules of a family and some drawn ones, each verified on its whole domain.
Status add_family(Battery& battery, SectionRun& run, const std::string& family, const Problem& problem) {
  const auto space = make_space(family, problem, battery.device().facts());
  if (!space) return {};  // the family does not compute this problem
  Random random(make_secret_seed());
  std::vector<std::string> keys = (*space)->rank(kRanked);
  for (int at = 0; at < kDrawn; ++at) keys.push_back((*space)->draw(random));
  for (const std::string& key : keys) {
    const std::string name = fmt::format("{} {} {}", family, describe_problem(problem), key);
    if (!run.wants(name)) continue;
    const auto start = Clock::now();
    KW_TRY(const Judged judged,
           battery.judge_schedule(problem, family, key, (*space)->tile(key), random.next()));
    run.add(name, "pass", judged, start);
  }
  return {};
}

Status add_vendor_routines(Battery& battery, SectionRun& run) {
  for (const Layout layout : {Layout::kNN, Layout::kNT}) {
    const uint64_t seed = make_secret_seed();
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

Status run_cuda_mutant_section(Battery& battery, SectionRun& run) {
  for (const CudaMutant& mutant : make_cuda_mutants())
    KW_TRY_VOID(add_text(battery, run, mutant, run.depth().mutant_seeds));
  return {};
}

Status run_cuda_honest_section(Battery& battery, SectionRun& run) {
  for (const CudaMutant& kernel : make_cuda_kernels())
    KW_TRY_VOID(add_text(battery, run, kernel, run.depth().mutant_seeds));
  return add_vendor_routines(battery, run);
}

Status run_cuda_family_section(Battery& battery, SectionRun& run) {
  for (const char* family : {"gemm_direct", "gemm_wgmma", "gemm_async"})
    for (const Layout layout : {Layout::kNT, Layout::kNN})
      for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16})
        for (const Shape& shape : kShapes) {
          Problem problem;
          problem.dtype = dtype;
          problem.layout = layout;
          problem.m = shape.m, problem.n = shape.n, problem.k = shape.k;
          problem = with_tight_strides(problem);
          problem.lda += shape.gap, problem.ldb += shape.gap, problem.ldc += shape.gap;
          KW_TRY_VOID(add_family(battery, run, family, problem));
        }
  return {};
}

}  // namespace kw
