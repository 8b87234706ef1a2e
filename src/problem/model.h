// Model files and shape lists -> the GEMMs they need. Reads text, touches no disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/problem.h"

namespace kw {

// Up to so many tokens are a decode step (one new token for each sequence of a batch), more are a prefill.
inline constexpr int64_t kMaxDecodeTokens = 32;

struct ModelPlan {
  std::vector<int64_t> tokens;  // rows of activations: 1..: decode batch or prefill length
  bool training = false;        // forward, dgrad and wgrad instead of inference
  bool lm_head = true;
  Dtype dtype = Dtype::kF32;
};

// A Hugging Face style config.json -> the products with weights of one step, for each token count in turn.
// `origin` names the text in messages. Logits: m = tokens in decode and training, 1 in prefill (only the last
// token's are needed). Routed experts: m = tokens * active / experts rounded up, one call for each expert in
// use. User errors name the field, its value and what is accepted. Not listed: attention's own Q K^T and P V,
// which have no weights.
[[nodiscard]] Result<std::vector<ProblemUse>> parse_model(std::string_view json_text,
                                                          const std::string& origin, const ModelPlan& plan);

// CSV: comment lines (#) and blank lines anywhere, a header line with m,n,k and any of layout (nn), dtype
// (f32), lda,ldb,ldc (empty or 0 = tight), alpha (1), beta (0), name, phase, tokens (0), count (1) in any
// order, then one shape a line. CRLF, a byte order mark and "quoted" cells are read. User errors name line,
// column, value, what is accepted.
[[nodiscard]] Result<std::vector<ProblemUse>> parse_shapes_csv(std::string_view text,
                                                               const std::string& origin);
// Inverse of parse_shapes_csv, all columns.
[[nodiscard]] std::string print_shapes_csv(const std::vector<ProblemUse>& uses);

// Same problem twice -> one entry with the counts added and the different names and phases joined by "+";
// tokens 0 where they differ. Order of first appearance.
[[nodiscard]] std::vector<ProblemUse> merge_uses(const std::vector<ProblemUse>& uses);

}  // namespace kw
