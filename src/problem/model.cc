// Finds the architecture of a config.json, reads its linear layers and writes down the GEMMs that a step of
// so many tokens needs: y = x W^T as nt (A: tokens x in, B: out x in), or nn where the weight is stored (in,
// out).
#include "problem/model.h"

#include <algorithm>

#include "problem/architecture.h"

namespace kw {
namespace {

constexpr int64_t kMaxTokens = int64_t{1} << 24;

std::string list_architectures() {
  std::vector<std::string> names;
  for (const Architecture& architecture : get_architectures()) names.emplace_back(architecture.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const Architecture* find_architecture(const Json& value, bool by_model_type) {
  if (!value.is_string()) return nullptr;
  const auto& text = value.get_ref<const std::string&>();
  for (const Architecture& architecture : get_architectures())
    if (text == (by_model_type ? architecture.model_type : architecture.name)) return &architecture;
  return nullptr;
}

// By the first known entry of "architectures", else by "model_type".
Result<const Architecture*> read_architecture(const Json& json, const ModelFields& fields) {
  const std::string supported = "one of " + list_architectures();
  if (fields.has("architectures")) {
    const Json& names = json.at("architectures");
    if (!names.is_array()) return fields.reject("architectures", "a list that holds " + supported);
    for (const Json& name : names)
      if (const Architecture* found = find_architecture(name, false)) return found;
  }
  if (fields.has("model_type"))
    if (const Architecture* found = find_architecture(json.at("model_type"), true)) return found;
  if (!fields.has("architectures") && fields.has("model_type"))
    return fields.reject("model_type", "that of " + supported);
  return fields.reject("architectures", "a list that holds " + supported);
}

// What one layer is at a step of `tokens` rows.
struct Step {
  int64_t rows = 0, count = 0;
};

// Routed experts: tokens * active assignments spread evenly, so each of the min(experts, assignments) experts
// that are used gets assignments / experts rows, rounded up; the sum may exceed the assignments by that
// rounding.
Step plan_step(const Linear& linear, int64_t tokens) {
  if (linear.experts == 1) return {tokens, linear.layers};
  const int64_t assignments = tokens * linear.active;
  return {(assignments + linear.experts - 1) / linear.experts,
          linear.layers * std::min(linear.experts, assignments)};
}

class UseWriter {
 public:
  UseWriter(const ModelPlan& plan, std::string origin) : plan_(plan), origin_(std::move(origin)) {}

  // y = x W: m rows, n out, k in.
  Status add_forward(const Linear& linear, const Step& step, const char* phase) {
    return add(linear, step, phase, linear.in_by_out ? Layout::kNN : Layout::kNT, step.rows, linear.out,
               linear.in);
  }

  // dX = dY W: (rows, out) times W as (out, in).
  Status add_dgrad(const Linear& linear, const Step& step) {
    return add(linear, step, "dgrad", linear.in_by_out ? Layout::kNT : Layout::kNN, step.rows, linear.in,
               linear.out);
  }

  // dW in the shape the weight is stored: dY^T X (out, in), or X^T dY (in, out).
  Status add_wgrad(const Linear& linear, const Step& step) {
    const int64_t m = linear.in_by_out ? linear.in : linear.out,
                  n = linear.in_by_out ? linear.out : linear.in;
    return add(linear, step, "wgrad", Layout::kTN, m, n, step.rows);
  }

  void set_tokens(int64_t tokens) { tokens_ = tokens; }
  std::vector<ProblemUse> take() { return std::move(uses_); }

 private:
  Status add(const Linear& linear, const Step& step, const char* phase, Layout layout, int64_t m, int64_t n,
             int64_t k) {
    Problem problem;
    problem.dtype = plan_.dtype;
    problem.layout = layout;
    problem.m = m, problem.n = n, problem.k = k;
    problem = with_tight_strides(problem);
    if (const Status checked = check_problem(problem); !checked)
      return with_context(checked.error(), fmt::format("{}: {}", origin_, linear.name));
    uses_.push_back({problem, linear.name, phase, tokens_, step.count});
    return {};
  }

  const ModelPlan& plan_;
  std::string origin_;
  int64_t tokens_ = 0;
  std::vector<ProblemUse> uses_;
};

Status add_step(const std::vector<Linear>& linears, const ModelPlan& plan, int64_t tokens,
                UseWriter& writer) {
  const bool decode = tokens <= kMaxDecodeTokens;
  writer.set_tokens(tokens);
  for (const Linear& linear : linears) {
    if (linear.is_head && !plan.lm_head) continue;
    Step step = plan_step(linear, tokens);
    if (plan.training) {
      KW_TRY_VOID(writer.add_forward(linear, step, "forward"));
      KW_TRY_VOID(writer.add_dgrad(linear, step));
      KW_TRY_VOID(writer.add_wgrad(linear, step));
      continue;
    }
    if (linear.is_head && !decode) step.rows = 1;
    KW_TRY_VOID(writer.add_forward(linear, step, decode ? "decode" : "prefill"));
  }
  return {};
}

}  // namespace

Result<std::vector<ProblemUse>> parse_model(std::string_view json_text, const std::string& origin,
                                            const ModelPlan& plan) {
  if (plan.tokens.empty())
    return fail_user("{}: no token counts given; name at least one, such as 1,16,512", origin);
  for (const int64_t tokens : plan.tokens)
    if (tokens < 1 || tokens > kMaxTokens)
      return fail_user("token count {} is not possible; use whole numbers from 1 to {}", tokens, kMaxTokens);
  KW_TRY(const Json whole, parse_json(json_text, origin));
  if (!whole.is_object())
    return fail_user("{}: a model file must hold one JSON object, as config.json does", origin);
  // Multi-modal files keep the decoder's fields one level down.
  const bool nested =
      whole.contains("text_config") && whole.at("text_config").is_object() && !whole.contains("hidden_size");
  const Json& json = nested ? whole.at("text_config") : whole;
  const ModelFields fields(json, nested ? origin + ": text_config" : origin);
  KW_TRY(const Architecture* architecture, read_architecture(json, fields));
  KW_TRY(const std::vector<Linear> linears, architecture->read(fields));
  UseWriter writer(plan, origin);
  for (const int64_t tokens : plan.tokens) KW_TRY_VOID(add_step(linears, plan, tokens, writer));
  return writer.take();
}

}  // namespace kw
