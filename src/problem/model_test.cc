// Hand-checked lists of GEMMs of public models, and bad model files.
#include "problem/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"

namespace kw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Folder of this file: src/problem.
const fs::path kModels = fs::path(__FILE__).parent_path() / "../../examples/models";

std::string read_example(const std::string& name) {
  const Result<std::string> text = read_file(kModels / name);
  EXPECT_TRUE(text.has_value()) << name;
  return text.value_or("");
}

ModelPlan make_plan(std::vector<int64_t> tokens, bool training = false) {
  ModelPlan plan;
  plan.tokens = std::move(tokens);
  plan.training = training;
  return plan;
}

std::vector<ProblemUse> read_uses(const std::string& name, const ModelPlan& plan) {
  Result<std::vector<ProblemUse>> uses = parse_model(read_example(name), name, plan);
  EXPECT_TRUE(uses.has_value()) << (uses ? "" : uses.error().message);
  return uses ? std::move(*uses) : std::vector<ProblemUse>{};
}

// "decode layers.q_proj 1x896x896 nt x24"
std::vector<std::string> print_uses(const std::vector<ProblemUse>& uses) {
  std::vector<std::string> lines;
  for (const ProblemUse& use : uses)
    lines.push_back(fmt::format("{} {} {}x{}x{} {} x{}", use.phase, use.name, use.problem.m, use.problem.n,
                                use.problem.k, print_layout(use.problem.layout), use.count));
  return lines;
}

double count_step_flops(const std::vector<ProblemUse>& uses) {
  double flops = 0;
  for (const ProblemUse& use : uses)
    flops += 2.0 * static_cast<double>(use.problem.m) * static_cast<double>(use.problem.n) *
             static_cast<double>(use.problem.k) * static_cast<double>(use.count);
  return flops;
}

TEST(Model, lists_decode_of_qwen_half_billion) {
  EXPECT_THAT(print_uses(read_uses("qwen2.5-0.5b.json", make_plan({16}))),
              testing::ElementsAre(
                  "decode layers.q_proj 16x896x896 nt x24", "decode layers.k_proj 16x128x896 nt x24",
                  "decode layers.v_proj 16x128x896 nt x24", "decode layers.o_proj 16x896x896 nt x24",
                  "decode layers.gate_proj 16x4864x896 nt x24", "decode layers.up_proj 16x4864x896 nt x24",
                  "decode layers.down_proj 16x896x4864 nt x24", "decode lm_head 16x151936x896 nt x1"));
}

TEST(Model, takes_logits_of_the_last_token_only_in_prefill) {
  const std::vector<ProblemUse> uses = read_uses("qwen2.5-0.5b.json", make_plan({512}));
  EXPECT_EQ(print_uses(uses).front(), "prefill layers.q_proj 512x896x896 nt x24");
  EXPECT_EQ(print_uses(uses).back(), "prefill lm_head 1x151936x896 nt x1");
  ModelPlan without = make_plan({512});
  without.lm_head = false;
  EXPECT_EQ(read_uses("qwen2.5-0.5b.json", without).size(), 7U);
}

TEST(Model, lists_forward_dgrad_and_wgrad_of_a_training_step) {
  const std::vector<std::string> lines = print_uses(read_uses("qwen2.5-0.5b.json", make_plan({512}, true)));
  ASSERT_EQ(lines.size(), 24U);
  EXPECT_EQ(lines[12], "forward layers.gate_proj 512x4864x896 nt x24");
  EXPECT_EQ(lines[13], "dgrad layers.gate_proj 512x896x4864 nn x24");
  EXPECT_EQ(lines[14], "wgrad layers.gate_proj 4864x896x512 tn x24");
  EXPECT_EQ(lines[21], "forward lm_head 512x151936x896 nt x1");
}

TEST(Model, lists_mixtral_with_routed_experts) {
  EXPECT_THAT(
      print_uses(read_uses("mixtral-8x7b.json", make_plan({1, 64}))),
      testing::ElementsAre(
          "decode layers.q_proj 1x4096x4096 nt x32", "decode layers.k_proj 1x1024x4096 nt x32",
          "decode layers.v_proj 1x1024x4096 nt x32", "decode layers.o_proj 1x4096x4096 nt x32",
          "decode layers.router 1x8x4096 nt x32", "decode layers.experts.w1 1x14336x4096 nt x64",
          "decode layers.experts.w3 1x14336x4096 nt x64", "decode layers.experts.w2 1x4096x14336 nt x64",
          "decode lm_head 1x32000x4096 nt x1",  //
          "prefill layers.q_proj 64x4096x4096 nt x32", "prefill layers.k_proj 64x1024x4096 nt x32",
          "prefill layers.v_proj 64x1024x4096 nt x32", "prefill layers.o_proj 64x4096x4096 nt x32",
          "prefill layers.router 64x8x4096 nt x32", "prefill layers.experts.w1 16x14336x4096 nt x256",
          "prefill layers.experts.w3 16x14336x4096 nt x256",
          "prefill layers.experts.w2 16x4096x14336 nt x256", "prefill lm_head 1x32000x4096 nt x1"));
}

TEST(Model, lists_deepseek_with_latent_attention_dense_and_shared_layers) {
  EXPECT_THAT(print_uses(read_uses("deepseek-v3.json", make_plan({32}))),
              testing::ElementsAre(
                  "decode layers.q_a_proj 32x1536x7168 nt x61", "decode layers.q_b_proj 32x24576x1536 nt x61",
                  "decode layers.kv_a_proj_with_mqa 32x576x7168 nt x61",
                  "decode layers.kv_b_proj 32x32768x512 nt x61", "decode layers.o_proj 32x7168x16384 nt x61",
                  "decode layers.gate_proj 32x18432x7168 nt x3", "decode layers.up_proj 32x18432x7168 nt x3",
                  "decode layers.down_proj 32x7168x18432 nt x3", "decode layers.router 32x256x7168 nt x58",
                  "decode layers.experts.gate_proj 1x2048x7168 nt x14848",
                  "decode layers.experts.up_proj 1x2048x7168 nt x14848",
                  "decode layers.experts.down_proj 1x7168x2048 nt x14848",
                  "decode layers.shared_experts.gate_proj 32x2048x7168 nt x58",
                  "decode layers.shared_experts.up_proj 32x2048x7168 nt x58",
                  "decode layers.shared_experts.down_proj 32x7168x2048 nt x58",
                  "decode lm_head 32x129280x7168 nt x1"));
}

TEST(Model, lists_gpt2_with_weights_stored_in_by_out) {
  EXPECT_THAT(print_uses(read_uses("gpt2.json", make_plan({1}))),
              testing::ElementsAre(
                  "decode layers.attn.c_attn 1x2304x768 nn x12", "decode layers.attn.c_proj 1x768x768 nn x12",
                  "decode layers.mlp.c_fc 1x3072x768 nn x12", "decode layers.mlp.c_proj 1x768x3072 nn x12",
                  "decode lm_head 1x50257x768 nt x1"));
  const std::vector<std::string> training = print_uses(read_uses("gpt2.json", make_plan({64}, true)));
  EXPECT_EQ(training[1], "dgrad layers.attn.c_attn 64x768x2304 nt x12");
  EXPECT_EQ(training[2], "wgrad layers.attn.c_attn 768x2304x64 tn x12");
}

// Two flops per weight and token. Weights of products = all parameters less norms and the embedding lookup.
TEST(Model, counts_two_flops_per_weight) {
  const double llama = 8.030e9 - 128256.0 * 4096;
  EXPECT_NEAR(count_step_flops(read_uses("llama-3.1-8b.json", make_plan({1}))) / (2 * llama), 1, 1e-3);
  const double llama_70b = 70.554e9 - 128256.0 * 8192;
  EXPECT_NEAR(count_step_flops(read_uses("llama-3.1-70b.json", make_plan({1}))) / (2 * llama_70b), 1, 1e-3);
  const double qwen_72b = 72.706e9 - 152064.0 * 8192;
  EXPECT_NEAR(count_step_flops(read_uses("qwen2.5-72b.json", make_plan({1}))) / (2 * qwen_72b), 1, 1e-3);
  const double qwen_7b = 7.616e9 - 152064.0 * 3584;
  EXPECT_NEAR(count_step_flops(read_uses("qwen2.5-7b.json", make_plan({1}))) / (2 * qwen_7b), 1, 1e-3);
  const double mistral = 7.242e9 - 32000.0 * 4096;
  EXPECT_NEAR(count_step_flops(read_uses("mistral-7b.json", make_plan({1}))) / (2 * mistral), 1, 1e-3);
  const double mixtral_all = 46.703e9 - 32000.0 * 4096;  // 64 tokens use every expert, 16 rows each
  const double mixtral_experts = 32 * 8 * 3 * 4096.0 * 14336;
  EXPECT_NEAR(count_step_flops(read_uses("mixtral-8x7b.json", make_plan({64}, true))) /
                  (6 * (64 * (mixtral_all - mixtral_experts) + 16 * mixtral_experts)),
              1, 1e-3);
  EXPECT_NEAR(count_step_flops(read_uses("deepseek-v3.json", make_plan({1}))) / (2 * 36.6e9), 1, 0.01);
  EXPECT_NEAR(count_step_flops(read_uses("qwen3-30b-a3b.json", make_plan({1}))) / (2 * 3.04e9), 1, 0.01);
  EXPECT_NEAR(count_step_flops(read_uses("gpt2.json", make_plan({1}))) / (2 * 123.6e6), 1, 1e-2);
}

TEST(Model, obeys_sparse_step_and_dense_only_layers) {
  Json json = *parse_json(read_example("qwen3-30b-a3b.json"), "test");
  json["num_hidden_layers"] = 10;
  json["decoder_sparse_step"] = 2;         // layers 1, 3, 5, 7, 9
  json["mlp_only_layers"] = {1, 1, 2, 9};  // leaves 3, 5, 7
  json["shared_expert_intermediate_size"] = 512;
  const std::vector<std::string> lines = print_uses(*parse_model(json.dump(), "test", make_plan({1})));
  EXPECT_THAT(lines, testing::IsSupersetOf({"decode layers.gate_proj 1x6144x2048 nt x7",
                                            "decode layers.router 1x128x2048 nt x3",
                                            "decode layers.experts.up_proj 1x768x2048 nt x24",
                                            "decode layers.shared_expert.down_proj 1x2048x512 nt x3",
                                            "decode layers.shared_expert_gate 1x1x2048 nt x3"}));
}

TEST(Model, reads_the_decoder_of_a_nested_file) {
  Json nested = Json::object();
  nested["architectures"] = {"Mistral3ForConditionalGeneration"};
  nested["text_config"] = *parse_json(read_example("mistral-7b.json"), "test");
  nested["text_config"].erase("architectures");
  EXPECT_EQ(print_uses(*parse_model(nested.dump(), "test", make_plan({1}))),
            print_uses(read_uses("mistral-7b.json", make_plan({1}))));
}

struct BadField {
  const char* file;
  const char* field;
  const char* value;  // JSON; nullptr = absent
};

TEST(Model, names_file_field_value_and_accepted_values_of_an_odd_field) {
  const char* const odd[] = {
      nullptr, "null",    "0",    "-5", "4096.5", "1000000000000", "18446744073709551615",
      "true",  "\"896\"", "[896]"};
  const std::pair<const char*, const char*> needed[] = {{"llama-3.1-8b.json", "hidden_size"},
                                                        {"llama-3.1-8b.json", "intermediate_size"},
                                                        {"llama-3.1-8b.json", "vocab_size"},
                                                        {"llama-3.1-8b.json", "num_hidden_layers"},
                                                        {"gpt2.json", "n_embd"},
                                                        {"mixtral-8x7b.json", "num_local_experts"},
                                                        {"qwen3-30b-a3b.json", "num_experts"},
                                                        {"qwen3-30b-a3b.json", "moe_intermediate_size"},
                                                        {"deepseek-v3.json", "kv_lora_rank"},
                                                        {"deepseek-v3.json", "n_routed_experts"},
                                                        {"deepseek-v3.json", "v_head_dim"},
                                                        {"mixtral-8x7b.json", "num_experts_per_tok"}};
  for (const auto& [file, field] : needed) {
    for (const char* value : odd) {
      Json json = *parse_json(read_example(file), "test");
      if (value == nullptr)
        json.erase(field);
      else
        json[field] = *parse_json(value, "value");
      const auto uses = parse_model(json.dump(), "odd.json", make_plan({1}));
      ASSERT_FALSE(uses.has_value()) << field << " " << (value ? value : "absent");
      EXPECT_EQ(uses.error().kind, ErrorKind::kUser);
      EXPECT_THAT(uses.error().message, AllOf(HasSubstr("odd.json"), HasSubstr(fmt::format("\"{}\"", field)),
                                              HasSubstr(value ? value : "missing"), HasSubstr("from 1 to")));
      EXPECT_EQ(uses.error().message.find('\n'), std::string::npos);
    }
  }
}

TEST(Model, refuses_fields_that_do_not_fit_together) {
  const BadField bad[] = {{"llama-3.1-8b.json", "num_key_value_heads", "5"},
                          {"llama-3.1-8b.json", "num_key_value_heads", "64"},
                          {"llama-3.1-8b.json", "num_attention_heads", "24"},
                          {"llama-3.1-8b.json", "head_dim", "-1"},
                          {"llama-3.1-8b.json", "tie_word_embeddings", "\"no\""},
                          {"mixtral-8x7b.json", "num_experts_per_tok", "9"},
                          {"qwen3-30b-a3b.json", "mlp_only_layers", "[48]"},
                          {"qwen3-30b-a3b.json", "mlp_only_layers", "3"},
                          {"deepseek-v3.json", "first_k_dense_replace", "62"},
                          {"gpt2.json", "n_head", "7"},
                          {"llama-3.1-8b.json", "architectures", "\"LlamaForCausalLM\""}};
  for (const BadField& entry : bad) {
    Json json = *parse_json(read_example(entry.file), "test");
    json[entry.field] = *parse_json(entry.value, "value");
    const auto uses = parse_model(json.dump(), "odd.json", make_plan({1}));
    ASSERT_FALSE(uses.has_value()) << entry.field << " " << entry.value;
    EXPECT_THAT(uses.error().message, HasSubstr(entry.value));
  }
}

TEST(Model, lists_supported_architectures_for_an_unknown_one) {
  const auto uses =
      parse_model(R"({"architectures": ["BertModel"], "hidden_size": 8})", "bert.json", make_plan({1}));
  ASSERT_FALSE(uses.has_value());
  EXPECT_THAT(uses.error().message, AllOf(HasSubstr("bert.json"), HasSubstr("BertModel"),
                                          HasSubstr("LlamaForCausalLM"), HasSubstr("DeepseekV3ForCausalLM")));
  EXPECT_FALSE(parse_model("{}", "empty.json", make_plan({1})).has_value());
  EXPECT_FALSE(parse_model("[]", "list.json", make_plan({1})).has_value());
  EXPECT_FALSE(parse_model("{", "broken.json", make_plan({1})).has_value());
}

TEST(Model, refuses_impossible_token_counts) {
  for (const std::vector<int64_t>& tokens : {std::vector<int64_t>{}, {0}, {4, -1}, {int64_t{1} << 40}})
    EXPECT_FALSE(parse_model(read_example("gpt2.json"), "gpt2.json", make_plan(tokens)).has_value());
}

TEST(MergeUses, adds_counts_and_joins_names) {
  const std::vector<ProblemUse> merged = merge_uses(read_uses("qwen2.5-0.5b.json", make_plan({16})));
  EXPECT_THAT(print_uses(merged),
              testing::ElementsAre("decode layers.q_proj+layers.o_proj 16x896x896 nt x48",
                                   "decode layers.k_proj+layers.v_proj 16x128x896 nt x48",
                                   "decode layers.gate_proj+layers.up_proj 16x4864x896 nt x48",
                                   "decode layers.down_proj 16x896x4864 nt x24",
                                   "decode lm_head 16x151936x896 nt x1"));
  EXPECT_EQ(merged[0].tokens, 16);
}

TEST(MergeUses, joins_phases_and_drops_tokens_that_differ) {
  const std::vector<ProblemUse> merged = merge_uses(read_uses("qwen2.5-0.5b.json", make_plan({1, 512})));
  ASSERT_EQ(merged.size(), 9U);
  EXPECT_EQ(print_uses(merged)[4], "decode+prefill lm_head 1x151936x896 nt x2");
  EXPECT_EQ(merged[4].tokens, 0);
}

}  // namespace
}  // namespace kw
