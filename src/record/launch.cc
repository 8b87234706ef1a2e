#include "record/launch.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "record/json_fields.h"

namespace kw {
namespace {

bool is_symbol_name(std::string_view name) {
  if (name.empty() || name.size() > 200 || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

Result<Contract> parse_contract(const Json& json) {
  JsonFields fields(json, "launch.contract");
  KW_TRY_VOID(fields.check_object());
  Contract contract;
  const std::pair<const char*, Dtype*> parts[] = {
      {"input", &contract.input}, {"accumulate", &contract.accumulate}, {"output", &contract.output}};
  for (const auto& [name, where] : parts) {
    KW_TRY(const std::string text, fields.text(name));
    auto dtype = parse_dtype(text);
    if (!dtype) return with_context(dtype.error(), fmt::format("launch.contract.{}", name));
    *where = *dtype;
  }
  KW_TRY_VOID(fields.check_nothing_left());
  return contract;
}

Result<KernelLaunch> parse_kernel(const Json& json, size_t index, bool on_grid) {
  JsonFields fields(json, fmt::format("launch.kernels[{}]", index));
  KW_TRY_VOID(fields.check_object());
  KernelLaunch kernel;
  KW_TRY(kernel.name, fields.text("name"));
  if (!is_symbol_name(kernel.name))
    return fail_user("{}: name \"{}\" is not a C symbol of at most 200 characters", fields.where(),
                     kernel.name);
  if (on_grid) {
    KW_TRY(kernel.grid, parse_grid(fields));
  } else {
    KW_TRY(kernel.items, take_expression(fields, "items", nullptr));
  }
  KW_TRY_VOID(fields.check_nothing_left());
  return kernel;
}

Result<DomainRule> parse_domain_rule(const Json& json, size_t index) {
  JsonFields fields(json, fmt::format("launch.domain[{}]", index));
  KW_TRY_VOID(fields.check_object());
  DomainRule rule;
  KW_TRY(rule.variable, fields.text("variable"));
  if (!is_symbol_name(rule.variable))
    return fail_user("{}: variable \"{}\" is not a name such as m or lda", fields.where(), rule.variable);
  KW_TRY(rule.low, fields.integer("low", 0));
  KW_TRY(rule.high, fields.integer("high", INT64_MAX));
  KW_TRY(rule.multiple, fields.integer("multiple", 1));
  if (rule.low > rule.high || rule.multiple < 1)
    return fail_user("{}: low {} high {} multiple {}; low must not exceed high, multiple must be 1 or more",
                     fields.where(), rule.low, rule.high, rule.multiple);
  KW_TRY_VOID(fields.check_nothing_left());
  return rule;
}

Status parse_lists(JsonFields& fields, LaunchRecord& launch) {
  const Json* kernels = fields.find("kernels");
  if (kernels == nullptr || !kernels->is_array() || kernels->empty() || kernels->size() > kMaxKernels)
    return fail_user("launch.kernels: a list of 1 to {} kernels is needed", kMaxKernels);
  for (size_t i = 0; i < kernels->size(); ++i) {
    KW_TRY(KernelLaunch kernel, parse_kernel((*kernels)[i], i, launch.target == "cuda"));
    launch.kernels.push_back(std::move(kernel));
  }
  const Json* domain = fields.find("domain");
  if (domain == nullptr) return {};
  if (!domain->is_array() || domain->size() > 64)
    return fail_user("launch.domain: a list of at most 64 rules is needed, not {}",
                     domain->dump().substr(0, 60));
  for (size_t i = 0; i < domain->size(); ++i) {
    KW_TRY(DomainRule rule, parse_domain_rule((*domain)[i], i));
    launch.domain.push_back(std::move(rule));
  }
  return {};
}

// The instruction sets of a target, as a record names them.
bool is_known_isa(std::string_view target, std::string_view isa) {
  if (target == "cpu") return isa == "avx2" || isa == "avx512";
  if (!isa.starts_with("sm_")) return false;
  std::string_view digits = isa.substr(3);
  if (digits.ends_with('a')) digits.remove_suffix(1);
  return (digits.size() == 2 || digits.size() == 3) && digits >= "80" &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Json print_launch(const LaunchRecord& launch) {
  Json json;
  json["target"] = launch.target;
  json["op"] = launch.op;
  json["layout"] = print_layout(launch.layout);
  json["contract"] = {{"input", print_dtype(launch.contract.input)},
                      {"accumulate", print_dtype(launch.contract.accumulate)},
                      {"output", print_dtype(launch.contract.output)}};
  json["isa"] = launch.isa;
  json["kernels"] = Json::array();
  for (const KernelLaunch& kernel : launch.kernels) {
    Json one = {{"name", kernel.name}};
    if (kernel.grid)
      print_grid(*kernel.grid, one);
    else
      one["items"] = kernel.items.text();
    json["kernels"].push_back(std::move(one));
  }
  json["workspace_bytes"] = launch.workspace_bytes.text();
  json["scratch_bytes"] = launch.scratch_bytes.text();
  json["domain"] = Json::array();
  for (const DomainRule& rule : launch.domain)
    json["domain"].push_back(
        {{"variable", rule.variable}, {"low", rule.low}, {"high", rule.high}, {"multiple", rule.multiple}});
  json["deterministic"] = launch.deterministic;
  return json;
}

Result<LaunchRecord> parse_launch(const Json& json) {
  JsonFields fields(json, "launch");
  KW_TRY_VOID(fields.check_object());
  LaunchRecord launch;
  KW_TRY(launch.target, fields.text("target", "cpu"));
  if (launch.target != "cpu" && launch.target != "cuda")
    return fail_user("launch.target \"{}\" is not known; use cpu or cuda", launch.target);
  KW_TRY(launch.op, fields.text("op", "gemm"));
  if (!is_symbol_name(launch.op)) return fail_user("launch.op \"{}\" is not a name such as gemm", launch.op);
  KW_TRY(const std::string layout, fields.text("layout"));
  KW_TRY(launch.layout, parse_layout(layout));
  if (const Json* contract = fields.find("contract")) {
    KW_TRY(launch.contract, parse_contract(*contract));
  }
  KW_TRY(launch.isa, fields.text("isa", launch.target == "cpu" ? "avx2" : "sm_80"));
  if (!is_known_isa(launch.target, launch.isa))
    return fail_user("launch.isa \"{}\" is not known; use {}", launch.isa,
                     launch.target == "cpu" ? "avx2 or avx512" : "sm_80, sm_90a or another of sm_80 and up");
  KW_TRY_VOID(parse_lists(fields, launch));
  KW_TRY(launch.workspace_bytes, take_expression(fields, "workspace_bytes", "0"));
  KW_TRY(launch.scratch_bytes, take_expression(fields, "scratch_bytes", "0"));
  if (fields.find("deterministic") != nullptr) {
    KW_TRY(launch.deterministic, fields.boolean("deterministic"));
  }
  KW_TRY_VOID(fields.check_nothing_left());
  return launch;
}

Result<LaunchNumbers> evaluate_launch(const LaunchRecord& launch, const Variables& variables) {
  LaunchNumbers numbers;
  KW_TRY(numbers.workspace_bytes,
         evaluate_within(launch.workspace_bytes, variables, "workspace_bytes", 0, kMaxWorkspaceBytes));
  KW_TRY(numbers.scratch_bytes,
         evaluate_within(launch.scratch_bytes, variables, "scratch_bytes", 0, kMaxWorkspaceBytes));
  for (const KernelLaunch& kernel : launch.kernels) {
    if (kernel.grid) {
      KW_TRY(GridNumbers grid, evaluate_grid(*kernel.grid, variables, numbers.workspace_bytes));
      numbers.grids.push_back(std::move(grid));
      continue;
    }
    KW_TRY(const int64_t items, evaluate_within(kernel.items, variables, "items", 0, kMaxItems));
    numbers.items.push_back(items);
  }
  return numbers;
}

Variables make_variables(const Workload& workload, int threads) {
  KW_CHECK(workload.size_names.size() == workload.sizes.size(), "{} names, {} sizes",
           workload.size_names.size(), workload.sizes.size());
  Variables variables;
  for (size_t i = 0; i < workload.sizes.size(); ++i) variables[workload.size_names[i]] = workload.sizes[i];
  variables["threads"] = threads;
  return variables;
}

std::optional<std::string> find_domain_violation(const LaunchRecord& launch, const Variables& variables) {
  for (const DomainRule& rule : launch.domain) {
    const auto found = variables.find(rule.variable);
    if (found == variables.end())
      return fmt::format("domain names \"{}\", which the operation does not have", rule.variable);
    const int64_t value = found->second;
    if (value < rule.low || value > rule.high)
      return fmt::format("{} = {} is outside [{}, {}]", rule.variable, value, rule.low, rule.high);
    if (value % rule.multiple != 0)
      return fmt::format("{} = {} is not a multiple of {}", rule.variable, value, rule.multiple);
  }
  return std::nullopt;
}

}  // namespace kw
