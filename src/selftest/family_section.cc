// The section "families": before a kernel is judged, the judges. Every input family on shapes of every kind
// must refuse the null kernels, see single elements off by four bounds and accept the reference; and families
// that are degenerate on purpose must not be admitted.
#include <fmt/format.h>

#include <functional>
#include <limits>

#include "base/random.h"
#include "problem/check.h"
#include "selftest/section.h"

namespace kw {
namespace {

struct Shape {
  int64_t m, n, k, gap;
  double alpha, beta;
};

// Odd, square, thin, long, empty; alpha and beta of every kind.
constexpr Shape kShapes[] = {
    {37, 45, 67, 3, 1, 0},   {32, 32, 32, 0, 1, 0},   {24, 33, 132, 0, -0.75, 0.625},
    {5, 64, 257, 1, 1, 1},   {61, 3, 19, 2, 2, -0.5}, {1, 97, 31, 0, 1, 0},
    {83, 1, 40, 5, 1, 1},    {17, 19, 2, 1, 1, 0},    {16, 16, 0, 0, 1, 0.5},
    {9, 11, 0, 2, 1, 0},     {0, 12, 8, 0, 1, 0},     {12, 0, 8, 1, 1, 1},
    {13, 21, 34, 0, 0, 0.5}, {21, 13, 8, 0, 1e-3, 0}, {40, 40, 1100, 0, 1, 0},
};
constexpr Layout kLayouts[] = {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT};

Problem make_problem(Layout layout, const Shape& shape) {
  Problem problem;
  problem.layout = layout;
  problem.m = shape.m, problem.n = shape.n, problem.k = shape.k;
  problem.alpha = shape.alpha, problem.beta = shape.beta;
  problem = with_tight_strides(problem);
  problem.lda += shape.gap, problem.ldb += shape.gap, problem.ldc += shape.gap;
  return problem;
}

std::vector<Problem> list_problems() {
  std::vector<Problem> problems;
  for (const Layout layout : kLayouts)
    for (const Shape& shape : kShapes) problems.push_back(make_problem(layout, shape));
  return problems;
}

// One family on all problems.
Status add_family(SectionRun& run, const std::string& family, uint64_t seed) {
  const auto start = Clock::now();
  NullKernelCounts nulls;
  int64_t seen = 0, problems = 0;
  SelftestRow row;
  row.name = family;
  for (const Problem& problem : list_problems()) {
    KW_TRY(std::vector<Check> checks, make_checks(problem, {.families = {family, family}}, seed));
    KW_TRY(std::vector<Check> others, make_checks(problem, {.families = {family}}, seed + 1));
    checks.back() = std::move(others.front());  // of which the first one's answer is the previous one
    const auto refused = count_null_refusals(checks);
    const auto errors = refused ? count_seen_errors(checks) : Result<int64_t>(0);
    if (!refused || !errors) {
      row.evidence["slipped"] = refused ? errors.error().message : refused.error().message;
      break;
    }
    nulls.refused += refused->refused;
    nulls.not_applicable += refused->not_applicable;
    seen += *errors;
    ++problems;
  }
  row.ok = row.evidence.empty() && nulls.refused > 0 && seen > 0;
  row.expected = row.ok ? fmt::format("refuses {} null answers, {} errors", nulls.refused, seen)
                        : "refuses every null answer and error";
  row.got = row.ok ? row.expected : "lets one pass";
  row.evidence["null_refusals"] = nulls.refused;
  row.evidence["null_not_applicable"] = nulls.not_applicable;
  row.evidence["errors_seen"] = seen;
  row.evidence["problems"] = problems;
  run.measured()["null_refusals"] = run.measured().value("null_refusals", int64_t{0}) + nulls.refused;
  run.measured()["errors_seen"] = run.measured().value("errors_seen", int64_t{0}) + seen;
  run.add(std::move(row), start);
  return {};
}

// A family that must not be admitted: made from a good one by `spoil`.
struct Degenerate {
  const char* name;
  Shape shape;
  const char* family;
  std::function<void(Check&)> spoil;
};

void fill_values(Check& check, double value, double bound) {
  for (Patch& patch : check.patches) {
    patch.value.assign(patch.value.size(), value);
    patch.bound.assign(patch.bound.size(), bound);
  }
}

const std::vector<Degenerate>& list_degenerates() {
  constexpr Shape kPlain{37, 45, 67, 0, 1, 0};
  static const std::vector<Degenerate> list = {
      {"all inputs zero", kPlain, "normal", [](Check& check) { fill_values(check, 0, 1e-6); }},
      {"all results alike", kPlain, "normal", [](Check& check) { fill_values(check, 3, 1e-6); }},
      {"all rows alike", kPlain, "normal",
       [](Check& check) {
         Patch& patch = check.patches.front();
         for (size_t at = 0; at < patch.value.size(); ++at) {
           patch.value[at] = patch.value[at % static_cast<size_t>(patch.cols)];
           patch.bound[at] = patch.bound[at % static_cast<size_t>(patch.cols)];
         }
       }},
      {"bounds as wide as the values", kPlain, "positive",
       [](Check& check) {
         for (Patch& patch : check.patches) patch.bound = patch.value;
       }},
      {"bounds wider than the noise", kPlain, "positive",
       [](Check& check) {
         for (Patch& patch : check.patches)
           for (size_t at = 1; at < patch.bound.size(); ++at) patch.bound[at] = 2.5;
       }},
      {"no bounds at all", kPlain, "uniform",
       [](Check& check) {
         for (Patch& patch : check.patches)
           patch.bound.assign(patch.bound.size(), std::numeric_limits<double>::infinity());
       }},
      {"reference outside its own bound", kPlain, "normal",
       [](Check& check) {
         check.patches.front().value.front() = 1e-50;
         check.patches.front().bound.front() = 0;
       }},
      {"sticky with one product", {37, 45, 1, 0, 1, 0}, "sticky", [](Check&) {}},
      {"a single selected row", {9, 45, 1, 0, 1, 0}, "permutation", [](Check&) {}},
  };
  return list;
}

Status add_degenerate(SectionRun& run, const Degenerate& degenerate, uint64_t seed) {
  const std::string name = std::string("degenerate: ") + degenerate.name;
  if (!run.wants(name)) return {};
  const auto start = Clock::now();
  KW_TRY(std::vector<Check> checks,
         make_checks(make_problem(Layout::kNN, degenerate.shape), {.families = {degenerate.family}}, seed));
  degenerate.spoil(checks.front());
  const Status admitted = check_families_are_admitted(checks);
  SelftestRow row;
  row.name = name;
  row.expected = "not admitted";
  row.got = admitted ? "admitted" : "not admitted";
  row.caught = "admission";
  row.ok = !admitted;
  row.evidence["said"] = admitted ? "" : admitted.error().message;
  run.add(std::move(row), start);
  return {};
}

}  // namespace

Status run_family_section(Battery&, SectionRun& run) {
  const uint64_t seed = make_secret_seed();
  run.measured()["seed"] = seed;
  for (const std::string& family : check_families())
    if (run.wants(family)) KW_TRY_VOID(add_family(run, family, seed));
  for (const Degenerate& degenerate : list_degenerates()) KW_TRY_VOID(add_degenerate(run, degenerate, seed));
  return {};
}

}  // namespace kw
