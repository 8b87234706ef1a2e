#include "record/launch.h"

#include <algorithm>
#include <cctype>

#include "record/json_fields.h"

namespace kw {
namespace {

// A number or an expression text.
Result<Expression> take_expression(JsonFields& fields, const char* name, const char* absent) {
  const Json* value = fields.find(name);
  if (value == nullptr && absent != nullptr) return Expression::parse(absent);
  if (value == nullptr) return fail_user("{}: field \"{}\" is missing", fields.where(), name);
  if (value->is_number_integer()) return Expression::parse(value->dump());
  if (!value->is_string())
    return fail_user("{}: field \"{}\" must be a number or an expression, not {}", fields.where(), name,
                     value->dump());
  auto parsed = Expression::parse(value->get<std::string>());
  if (!parsed) return with_context(parsed.error(), fields.where() + ": field \"" + name + "\"");
  return parsed;
}

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

Result<KernelLaunch> parse_kernel(const Json& json, size_t index) {
  JsonFields fields(json, fmt::format("launch.kernels[{}]", index));
  KW_TRY_VOID(fields.check_object());
  KernelLaunch kernel;
  KW_TRY(kernel.name, fields.text("name"));
  if (!is_symbol_name(kernel.name))
    return fail_user("{}: name \"{}\" is not a C symbol of at most 200 characters", fields.where(),
                     kernel.name);
  KW_TRY(kernel.items, take_expression(fields, "items", nullptr));
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
    KW_TRY(KernelLaunch kernel, parse_kernel((*kernels)[i], i));
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

Result<int64_t> evaluate_within(const Expression& expression, const Variables& variables, const char* what,
                                int64_t most) {
  KW_TRY(const int64_t value, expression.evaluate(variables));
  if (value < 0 || value > most)
    return fail_user("{} = {} gives {}; allowed are 0 to {}", what, expression.text(), value, most);
  return value;
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
  for (const KernelLaunch& kernel : launch.kernels)
    json["kernels"].push_back({{"name", kernel.name}, {"items", kernel.items.text()}});
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
  if (launch.target != "cpu") return fail_user("launch.target \"{}\" is not known; use cpu", launch.target);
  KW_TRY(launch.op, fields.text("op", "gemm"));
  if (!is_symbol_name(launch.op)) return fail_user("launch.op \"{}\" is not a name such as gemm", launch.op);
  KW_TRY(const std::string layout, fields.text("layout"));
  KW_TRY(launch.layout, parse_layout(layout));
  if (const Json* contract = fields.find("contract")) {
    KW_TRY(launch.contract, parse_contract(*contract));
  }
  KW_TRY(launch.isa, fields.text("isa", "avx2"));
  if (launch.isa != "avx2" && launch.isa != "avx512")
    return fail_user("launch.isa \"{}\" is not known; use avx2 or avx512", launch.isa);
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
  for (const KernelLaunch& kernel : launch.kernels) {
    KW_TRY(const int64_t items, evaluate_within(kernel.items, variables, "items", kMaxItems));
    numbers.items.push_back(items);
  }
  KW_TRY(numbers.workspace_bytes,
         evaluate_within(launch.workspace_bytes, variables, "workspace_bytes", kMaxWorkspaceBytes));
  KW_TRY(numbers.scratch_bytes,
         evaluate_within(launch.scratch_bytes, variables, "scratch_bytes", kMaxWorkspaceBytes));
  return numbers;
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
