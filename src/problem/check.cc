// Puts a check together: where to compare, inputs of the family, float64 sums there, reference and bound per
// element.
#include "problem/check.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/random.h"
#include "problem/family.h"
#include "problem/reference.h"
#include "problem/rounding.h"
#include "problem/sampling.h"
#include "problem/workload.h"
#include "record/element.h"

namespace kw {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kFewestFamilies = 2;

// Families in the order in which they are given up last: what catches most mutants first.
constexpr Family kByStrength[] = {Family::kExactIntegers, Family::kNormal,      Family::kNanInf,
                                  Family::kCancel,        Family::kPermutation, Family::kPositive,
                                  Family::kSticky,        Family::kOutlierRows, Family::kUniform,
                                  Family::kTinyScale,     Family::kLargeScale};

double count_check_bytes(const Workload& workload, const CheckPlan& plan) {
  double bytes = 0;
  for (const Operand& operand : workload.operands)
    bytes += static_cast<double>(operand.span()) * static_cast<double>(dtype_bytes(operand.dtype));
  const Problem& problem = workload.problem;
  const double outputs = static_cast<double>(problem.m) * static_cast<double>(problem.n);
  const double affordable =
      plan.max_reference_flops / (2.0 * static_cast<double>(std::max<int64_t>(problem.k, 1)));
  return bytes + 16 * std::min({outputs, affordable, static_cast<double>(kMaxReferenceElements)});
}

Result<std::vector<FamilyName>> find_families(const CheckPlan& plan, double check_bytes) {
  const std::vector<FamilyName>& known = get_family_names();
  std::vector<FamilyName> chosen;
  if (!plan.families.empty()) {
    for (const std::string& name : plan.families) {
      const auto found =
          std::find_if(known.begin(), known.end(), [&](const FamilyName& f) { return f.name == name; });
      if (found == known.end())
        return fail_user("unknown input family \"{}\"; known: {}", name, fmt::join(check_families(), ", "));
      chosen.push_back(*found);
    }
    return chosen;
  }
  const double affordable = std::floor(plan.max_bytes / std::max(check_bytes, 1.0));
  const size_t most =
      std::max(kFewestFamilies, static_cast<size_t>(std::min<double>(affordable, std::size(kByStrength))));
  const auto end = std::begin(kByStrength) + std::min(most, std::size(kByStrength));
  for (const FamilyName& family : known)
    if (std::find(std::begin(kByStrength), end, family.family) != end) chosen.push_back(family);
  return chosen;
}

// Turns a finite reference that the output type cannot hold into what rounding makes of it.
void limit_to_output(const DtypeFacts& output, double& value, double& bound) {
  const double size = std::fabs(value);
  if (size + bound <= output.largest) return;
  if (size - bound > output.largest * (1 + output.unit_roundoff)) {
    value = std::copysign(kInfinity, value);
    bound = 0;
  } else {
    bound = kInfinity;
  }
}

Patch make_patch(const Workload& workload, const Contract& contract, const FamilyInputs& inputs,
                 const Rectangle& where) {
  const Problem& problem = workload.problem;
  const DtypeFacts output = get_dtype_facts(contract.output);
  const ErrorBound error_bound(problem, contract);
  Sums sums = compute_sums(workload, inputs.contents, where, !inputs.exact);
  Patch patch{where.row, where.col, where.rows, where.cols, std::move(sums.value), std::move(sums.magnitude)};
  if (inputs.exact) patch.bound.assign(patch.value.size(), 0);
  for (int64_t i = 0; i < where.rows; ++i) {
    for (int64_t j = 0; j < where.cols; ++j) {
      const auto at = static_cast<size_t>(i * where.cols + j);
      double& value = patch.value[at];
      double& bound = patch.bound[at];
      double previous = 0;
      if (problem.beta != 0)
        previous =
            load_element(problem.dtype, inputs.contents[2], (where.row + i) * problem.ldc + where.col + j);
      if (problem.alpha == 0) value = bound = 0;  // A and B do not count, whatever they hold
      value = problem.alpha * value + (problem.beta != 0 ? problem.beta * previous : 0);
      if (!std::isfinite(value)) {
        bound = 0;
        continue;
      }
      if (!inputs.exact)
        bound = error_bound.at({value, bound, std::fabs(previous)});
      else if (round_to_dtype(contract.output, value) != value)
        bound = output.unit_roundoff * std::fabs(value);
      limit_to_output(output, value, bound);
    }
  }
  return patch;
}

}  // namespace

Contract get_usual_contract(const Problem& problem) {
  const Dtype accumulate = problem.dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32;
  return {problem.dtype, accumulate, problem.dtype};
}

const std::vector<std::string>& check_families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const FamilyName& family : get_family_names()) all.emplace_back(family.name);
    return all;
  }();
  return names;
}

Result<std::vector<Check>> make_checks(const Problem& problem, const CheckPlan& plan, uint64_t seed) {
  KW_TRY_VOID(check_problem(problem));
  if (plan.contract.input != problem.dtype || plan.contract.output != problem.dtype)
    return fail_user("the kernel declares {} in and {} out, the problem is {}; they must be the same",
                     print_dtype(plan.contract.input), print_dtype(plan.contract.output),
                     print_dtype(problem.dtype));
  const Workload workload = make_workload(problem);
  const double check_bytes = count_check_bytes(workload, plan);
  const double machine_bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (!(check_bytes <= machine_bytes / 2))
    return fail(
        "checking {} needs {:.1f} GiB for one input family, at most half of this machine's {:.1f} GiB are "
        "used",
        describe_problem(problem), check_bytes / 0x1p30, machine_bytes / 0x1p30);
  KW_TRY(const std::vector<FamilyName> families, find_families(plan, check_bytes));

  std::vector<Check> checks;
  for (const FamilyName& family : families) {
    Check check;
    check.family = family.name;
    check.seed = Random(seed, static_cast<uint64_t>(family.family)).next();
    check.workload = workload;
    check.output = 2;
    Random sampling(check.seed, 1);
    const std::vector<Rectangle> compared =
        plan_rectangles(problem.m, problem.n, problem.k, plan.max_reference_flops, sampling);
    FamilyInputs inputs = make_family_inputs(workload, plan.contract, family.family, compared, check.seed);
    for (const Rectangle& where : compared)
      check.patches.push_back(make_patch(workload, plan.contract, inputs, where));
    check.contents = std::move(inputs.contents);
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace kw
