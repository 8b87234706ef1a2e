// Sources: the model classes of the Hugging Face transformers library (names of fields and of projections).
#include "problem/architecture.h"

#include <algorithm>

namespace kw {
namespace {

// Sizes that all decoders but GPT-2 share.
struct Core {
  int64_t hidden = 0, layers = 0, heads = 0, vocabulary = 0;
};

Result<Core> read_core(const ModelFields& fields) {
  Core core;
  KW_TRY(core.hidden, fields.get_count("hidden_size"));
  KW_TRY(core.layers, fields.get_count("num_hidden_layers"));
  KW_TRY(core.heads, fields.get_count("num_attention_heads"));
  KW_TRY(core.vocabulary, fields.get_count("vocab_size"));
  // Tied or not, the logits are one product with a (vocabulary, hidden) matrix; only the type is checked.
  KW_TRY([[maybe_unused]] const bool tied, fields.get_flag_or("tie_word_embeddings", false));
  return core;
}

// Grouped-query attention. Absent num_key_value_heads: one per head. Absent head_dim: hidden_size / heads.
Status add_attention(const ModelFields& fields, const Core& core, std::vector<Linear>& linears) {
  KW_TRY(const int64_t kv_heads, fields.get_count_or("num_key_value_heads", core.heads));
  if (kv_heads > core.heads || core.heads % kv_heads != 0)
    return fields.reject("num_key_value_heads",
                         fmt::format("a divisor of num_attention_heads = {}", core.heads));
  if (!fields.has("head_dim") && core.hidden % core.heads != 0)
    return fields.reject(
        "num_attention_heads",
        fmt::format("a divisor of hidden_size = {} where head_dim is not given", core.hidden));
  KW_TRY(const int64_t head, fields.get_count_or("head_dim", std::max<int64_t>(core.hidden / core.heads, 1)));
  linears.push_back({"layers.q_proj", core.hidden, core.heads * head, core.layers});
  linears.push_back({"layers.k_proj", core.hidden, kv_heads * head, core.layers});
  linears.push_back({"layers.v_proj", core.hidden, kv_heads * head, core.layers});
  linears.push_back({"layers.o_proj", core.heads * head, core.hidden, core.layers});
  return {};
}

// Gate, up and down projection of `layers` layers; nothing for no layers.
void add_mlp(const std::string& prefix, int64_t hidden, int64_t inner, int64_t layers,
             std::vector<Linear>& linears) {
  if (layers == 0) return;
  linears.push_back({prefix + "gate_proj", hidden, inner, layers});
  linears.push_back({prefix + "up_proj", hidden, inner, layers});
  linears.push_back({prefix + "down_proj", inner, hidden, layers});
}

struct Routing {
  int64_t experts = 0, active = 0, inner = 0, layers = 0;
};

// The router and the routed experts of `layers` layers.
void add_experts(int64_t hidden, const Routing& routing, const char* const (&names)[3],
                 std::vector<Linear>& linears) {
  const auto& [experts, active, inner, layers] = routing;
  const std::string prefix = "layers.experts.";
  linears.push_back({"layers.router", hidden, experts, layers});
  linears.push_back({prefix + names[0], hidden, inner, layers, experts, active});
  linears.push_back({prefix + names[1], hidden, inner, layers, experts, active});
  linears.push_back({prefix + names[2], inner, hidden, layers, experts, active});
}

constexpr const char* kProjections[3] = {"gate_proj", "up_proj", "down_proj"};

Result<Routing> read_routing(const ModelFields& fields, const char* experts_field) {
  Routing routing;
  KW_TRY(routing.experts, fields.get_count(experts_field));
  KW_TRY(routing.active, fields.get_count("num_experts_per_tok"));
  if (routing.active > routing.experts)
    return fields.reject("num_experts_per_tok",
                         fmt::format("at most {} = {}", experts_field, routing.experts));
  return routing;
}

void add_head(const Core& core, std::vector<Linear>& linears) {
  Linear head{"lm_head", core.hidden, core.vocabulary};
  head.is_head = true;
  linears.push_back(head);
}

Result<std::vector<Linear>> read_llama(const ModelFields& fields) {
  std::vector<Linear> linears;
  KW_TRY(const Core core, read_core(fields));
  KW_TRY(const int64_t inner, fields.get_count("intermediate_size"));
  KW_TRY_VOID(add_attention(fields, core, linears));
  add_mlp("layers.", core.hidden, inner, core.layers, linears);
  add_head(core, linears);
  return linears;
}

// Mixtral names its experts' gate, up and down projection w1, w3 and w2.
Result<std::vector<Linear>> read_mixtral(const ModelFields& fields) {
  std::vector<Linear> linears;
  KW_TRY(const Core core, read_core(fields));
  KW_TRY(Routing routing, read_routing(fields, "num_local_experts"));
  KW_TRY(routing.inner, fields.get_count("intermediate_size"));
  routing.layers = core.layers;
  KW_TRY_VOID(add_attention(fields, core, linears));
  constexpr const char* kNames[3] = {"w1", "w3", "w2"};
  add_experts(core.hidden, routing, kNames, linears);
  add_head(core, linears);
  return linears;
}

// Layer i (from 0) is sparse when it is not in mlp_only_layers and i + 1 is a multiple of
// decoder_sparse_step.
Result<std::vector<Linear>> read_qwen_moe(const ModelFields& fields) {
  std::vector<Linear> linears;
  KW_TRY(const Core core, read_core(fields));
  KW_TRY(Routing routing, read_routing(fields, "num_experts"));
  KW_TRY(routing.inner, fields.get_count("moe_intermediate_size"));
  KW_TRY(const int64_t step, fields.get_count_or("decoder_sparse_step", 1));
  KW_TRY(const std::vector<int64_t> dense_only, fields.get_indices("mlp_only_layers", core.layers));
  KW_TRY(const int64_t shared, fields.get_count_or("shared_expert_intermediate_size", 0, 0));
  routing.layers = core.layers / step;
  std::vector<int64_t> removed = dense_only;
  std::sort(removed.begin(), removed.end());
  removed.erase(std::unique(removed.begin(), removed.end()), removed.end());
  for (const int64_t layer : removed) routing.layers -= (layer + 1) % step == 0 ? 1 : 0;

  KW_TRY_VOID(add_attention(fields, core, linears));
  if (const int64_t dense = core.layers - routing.layers; dense > 0) {
    KW_TRY(const int64_t inner, fields.get_count("intermediate_size"));
    add_mlp("layers.", core.hidden, inner, dense, linears);
  }
  if (routing.layers > 0) {
    add_experts(core.hidden, routing, kProjections, linears);
    if (shared > 0) {
      add_mlp("layers.shared_expert.", core.hidden, shared, routing.layers, linears);
      linears.push_back({"layers.shared_expert_gate", core.hidden, 1, routing.layers});
    }
  }
  add_head(core, linears);
  return linears;
}

// Multi-head latent attention. kv_b_proj is counted for the step's own tokens; an implementation that folds
// it into attention at decode time has other products, without weights of their own.
Status add_latent_attention(const ModelFields& fields, const Core& core, std::vector<Linear>& linears) {
  KW_TRY(const int64_t q_rank, fields.get_count_or("q_lora_rank", 0));
  KW_TRY(const int64_t kv_rank, fields.get_count("kv_lora_rank"));
  KW_TRY(const int64_t nope, fields.get_count("qk_nope_head_dim"));
  KW_TRY(const int64_t rope, fields.get_count("qk_rope_head_dim"));
  KW_TRY(const int64_t value, fields.get_count("v_head_dim"));
  const int64_t queries = core.heads * (nope + rope);
  if (q_rank > 0) {
    linears.push_back({"layers.q_a_proj", core.hidden, q_rank, core.layers});
    linears.push_back({"layers.q_b_proj", q_rank, queries, core.layers});
  } else {
    linears.push_back({"layers.q_proj", core.hidden, queries, core.layers});
  }
  linears.push_back({"layers.kv_a_proj_with_mqa", core.hidden, kv_rank + rope, core.layers});
  linears.push_back({"layers.kv_b_proj", kv_rank, core.heads * (nope + value), core.layers});
  linears.push_back({"layers.o_proj", core.heads * value, core.hidden, core.layers});
  return {};
}

// Layer i (from 0) is sparse from first_k_dense_replace on where i is a multiple of moe_layer_freq. Layers
// for multi-token prediction are not part of a step and not listed.
Result<std::vector<Linear>> read_deepseek(const ModelFields& fields) {
  std::vector<Linear> linears;
  KW_TRY(const Core core, read_core(fields));
  KW_TRY(Routing routing, read_routing(fields, "n_routed_experts"));
  KW_TRY(routing.inner, fields.get_count("moe_intermediate_size"));
  KW_TRY(const int64_t shared, fields.get_count_or("n_shared_experts", 0, 0));
  KW_TRY(const int64_t first, fields.get_count_or("first_k_dense_replace", 0, 0));
  KW_TRY(const int64_t every, fields.get_count_or("moe_layer_freq", 1));
  if (first > core.layers)
    return fields.reject("first_k_dense_replace", fmt::format("at most num_hidden_layers = {}", core.layers));
  for (int64_t layer = first; layer < core.layers; ++layer) routing.layers += layer % every == 0 ? 1 : 0;

  KW_TRY_VOID(add_latent_attention(fields, core, linears));
  if (const int64_t dense = core.layers - routing.layers; dense > 0) {
    KW_TRY(const int64_t inner, fields.get_count("intermediate_size"));
    add_mlp("layers.", core.hidden, inner, dense, linears);
  }
  if (routing.layers > 0) {
    add_experts(core.hidden, routing, kProjections, linears);
    if (shared > 0)
      add_mlp("layers.shared_experts.", core.hidden, routing.inner * shared, routing.layers, linears);
  }
  add_head(core, linears);
  return linears;
}

// Conv1D weights are stored (in, out); the head is an ordinary linear layer.
Result<std::vector<Linear>> read_gpt2(const ModelFields& fields) {
  Core core;
  KW_TRY(core.hidden, fields.get_count("n_embd"));
  KW_TRY(core.heads, fields.get_count("n_head"));
  KW_TRY(core.layers, fields.get_count("n_layer"));
  KW_TRY(core.vocabulary, fields.get_count("vocab_size"));
  KW_TRY(const int64_t inner, fields.get_count_or("n_inner", 4 * core.hidden));
  KW_TRY([[maybe_unused]] const bool tied, fields.get_flag_or("tie_word_embeddings", true));
  if (core.hidden % core.heads != 0)
    return fields.reject("n_head", fmt::format("a divisor of n_embd = {}", core.hidden));
  std::vector<Linear> linears = {
      {"layers.attn.c_attn", core.hidden, 3 * core.hidden, core.layers},
      {"layers.attn.c_proj", core.hidden, core.hidden, core.layers},
      {"layers.mlp.c_fc", core.hidden, inner, core.layers},
      {"layers.mlp.c_proj", inner, core.hidden, core.layers},
  };
  for (Linear& linear : linears) linear.in_by_out = true;
  add_head(core, linears);
  return linears;
}

}  // namespace

const std::vector<Architecture>& get_architectures() {
  static const std::vector<Architecture> architectures = {
      {"LlamaForCausalLM", "llama", read_llama},
      {"MistralForCausalLM", "mistral", read_llama},
      {"Qwen2ForCausalLM", "qwen2", read_llama},
      {"Qwen3ForCausalLM", "qwen3", read_llama},
      {"GPT2LMHeadModel", "gpt2", read_gpt2},
      {"MixtralForCausalLM", "mixtral", read_mixtral},
      {"Qwen2MoeForCausalLM", "qwen2_moe", read_qwen_moe},
      {"Qwen3MoeForCausalLM", "qwen3_moe", read_qwen_moe},
      {"DeepseekV2ForCausalLM", "deepseek_v2", read_deepseek},
      {"DeepseekV3ForCausalLM", "deepseek_v3", read_deepseek},
  };
  return architectures;
}

}  // namespace kw
