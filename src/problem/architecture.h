// Weight matrices of known transformer architectures. In: a model's fields. Out: its linear layers, as the
// checkpoint has them. Used by parse_model, which turns them into GEMMs. The matmuls inside attention (Q K^T
// and P V) have no weights and belong to attention kernels: they are not listed. Neither are embeddings (a
// lookup).
#pragma once

#include <string>
#include <vector>

#include "problem/model_fields.h"

namespace kw {

struct Linear {
  std::string name;         // "layers.q_proj"
  int64_t in = 0, out = 0;  // features
  int64_t layers = 1;       // layers that have it
  int64_t experts = 1;      // copies per layer between which tokens are routed
  int64_t active = 1;       // copies each token goes to; experts = active = 1: an ordinary layer
  bool in_by_out = false;   // weight stored (in, out) as GPT-2's Conv1D does; else (out, in), y = x W^T
  bool is_head = false;     // logits
};

using ReadLinears = Result<std::vector<Linear>> (*)(const ModelFields& fields);

struct Architecture {
  const char* name;        // as in "architectures"
  const char* model_type;  // as in "model_type"
  ReadLinears read;
};

[[nodiscard]] const std::vector<Architecture>& get_architectures();

}  // namespace kw
