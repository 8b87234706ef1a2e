// Model files and shape lists -> the GEMMs they need. Reads text, touches no disk.
#pragma once

#include <vector>

#include "record/problem.h"

namespace kw {

struct ModelPlan {
  std::vector<int64_t> tokens;     // rows of activations: 1..: decode batch or prefill length
  bool training = false;           // forward, dgrad and wgrad instead of inference
  bool lm_head = true;
  Dtype dtype = Dtype::kF32;
};

// A Hugging Face style config.json. `origin` names the text in messages.
[[nodiscard]] Result<std::vector<ProblemUse>> parse_model(std::string_view json_text, const std::string& origin,
                                                          const ModelPlan& plan);

// CSV with a header line: m,n,k and optionally layout,dtype,lda,ldb,ldc,alpha,beta,name,count.
[[nodiscard]] Result<std::vector<ProblemUse>> parse_shapes_csv(std::string_view text, const std::string& origin);
[[nodiscard]] std::string print_shapes_csv(const std::vector<ProblemUse>& uses);

// Same problem twice -> one entry with the counts added and names joined; order of first appearance.
[[nodiscard]] std::vector<ProblemUse> merge_uses(const std::vector<ProblemUse>& uses);

}  // namespace kw
