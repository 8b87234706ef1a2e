// Named lists of problems, the same ones on every machine. In: a name, layouts, an operand type, model files
// as text. Out: uses in a fixed mixed order, so that any beginning of a list is a sample of the whole. Called
// by cli and tests; touches no disk.
#pragma once

#include <string>
#include <vector>

#include "record/problem.h"

namespace kw {

struct ModelText {
  std::string name, text;  // "gpt2", its config.json
};

struct GridPlan {
  std::vector<Layout> layouts;  // each shape in each of these; empty = the grid's own
  Dtype dtype = Dtype::kF16;
  std::vector<ModelText> models;  // for "decode"
};

// "cuda-l2"  all m, n, k of 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384: 1,000 shapes, nn and nt
// "server"   100 of them, spread evenly over log2(flops), nn and nt
// "odd"      300 shapes of which a side is no multiple of 8: vocabularies, primes, off by one; nn and nt
// "decode"   the linear layers of the given models at m = 1, 2, 4, 8, 16, 32, equal ones once,
//            in the layout in which the model stores its weights
[[nodiscard]] const std::vector<std::string>& grid_names();

// Strides are tight, alpha 1, beta 0. User errors: an unknown name, a model file that cannot be read,
// "decode" without models.
[[nodiscard]] Result<std::vector<ProblemUse>> make_grid(const std::string& name, const GridPlan& plan);

// The given shapes in each of the layouts; a user error where a shape has strides of its own, which no other
// layout can take over.
[[nodiscard]] Result<std::vector<ProblemUse>> with_layouts(const std::vector<ProblemUse>& uses,
                                                           const std::vector<Layout>& layouts);

}  // namespace kw
