#include "problem/grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/random.h"
#include "problem/model.h"

namespace kw {
namespace {

struct Shape {
  int64_t m = 0, n = 0, k = 0;
  auto operator<=>(const Shape&) const = default;
};

struct NamedShape {
  Shape shape;
  std::string name;
};

constexpr std::array<int64_t, 10> kSides = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384};

// 100 targets evenly spaced in log2(flops) between the least and the largest of the grid above; at each the
// nearest shape not taken yet, ties broken by a hash, so that orientations mix.
// clang-format off
constexpr std::array<Shape, 100> kServerShapes = {{
    {64, 64, 64}, {64, 64, 128}, {64, 128, 64}, {128, 64, 64}, {64, 64, 256}, {64, 128, 128}, {64, 256, 64},
    {128, 64, 128}, {128, 128, 64}, {256, 64, 64}, {64, 256, 128}, {64, 512, 64}, {128, 64, 256},
    {128, 256, 64}, {256, 64, 128}, {64, 128, 512}, {64, 256, 256}, {128, 128, 256}, {256, 128, 128},
    {64, 1024, 128}, {128, 512, 128}, {256, 128, 256}, {512, 64, 256}, {64, 128, 2048}, {128, 128, 1024},
    {128, 512, 256}, {256, 1024, 64}, {64, 1024, 512}, {128, 4096, 64}, {512, 256, 256}, {2048, 64, 256},
    {64, 12288, 64}, {12288, 64, 64}, {256, 1024, 256}, {2048, 64, 512}, {128, 64, 12288}, {12288, 128, 64},
    {256, 256, 2048}, {4096, 512, 64}, {64, 12288, 256}, {128, 12288, 128}, {8192, 512, 64},
    {16384, 128, 128}, {256, 128, 12288}, {512, 12288, 64}, {16384, 64, 512}, {16384, 512, 64},
    {64, 1024, 12288}, {12288, 1024, 64}, {512, 2048, 1024}, {1024, 2048, 512}, {256, 512, 12288},
    {12288, 1024, 128}, {4096, 512, 1024}, {8192, 1024, 256}, {2048, 128, 12288}, {4096, 64, 12288},
    {512, 1024, 8192}, {1024, 256, 16384}, {64, 8192, 12288}, {8192, 64, 12288}, {12288, 8192, 64},
    {64, 16384, 8192}, {64, 12288, 12288}, {128, 8192, 12288}, {8192, 128, 12288}, {128, 16384, 8192},
    {12288, 128, 12288}, {256, 12288, 8192}, {12288, 2048, 1024}, {16384, 2048, 1024}, {12288, 256, 12288},
    {2048, 12288, 2048}, {12288, 1024, 4096}, {1024, 16384, 4096}, {12288, 512, 12288}, {12288, 1024, 8192},
    {16384, 12288, 512}, {2048, 4096, 16384}, {1024, 12288, 12288}, {1024, 16384, 12288},
    {2048, 8192, 12288}, {8192, 4096, 8192}, {2048, 12288, 12288}, {12288, 2048, 12288},
    {12288, 16384, 2048}, {4096, 8192, 16384}, {4096, 12288, 12288}, {12288, 4096, 12288},
    {16384, 4096, 12288}, {8192, 16384, 8192}, {16384, 8192, 8192}, {12288, 8192, 12288},
    {16384, 12288, 8192}, {12288, 12288, 12288}, {8192, 16384, 16384}, {12288, 12288, 16384},
    {16384, 12288, 16384}, {16384, 16384, 12288}, {16384, 16384, 16384},
}};
// clang-format on

// Words a model knows (columns of its output layer) and its width: none of these vocabularies is a multiple
// of 8. GPT-2 in four sizes, BERT with and without case, BART, Whisper in five, XLM-R, LLaMA with one word
// added.
struct Vocabulary {
  int64_t words, width;
};
constexpr std::array<Vocabulary, 17> kVocabularies = {{
    {50257, 768},
    {50257, 1024},
    {50257, 1280},
    {50257, 1600},
    {30522, 768},
    {30522, 1024},
    {28996, 768},
    {50265, 768},
    {50265, 1024},
    {51865, 384},
    {51865, 512},
    {51865, 768},
    {51865, 1024},
    {51865, 1280},
    {250002, 768},
    {250002, 1024},
    {32001, 4096},
}};
constexpr std::array<int64_t, 6> kTokens = {1, 2, 7, 16, 33, 128};

constexpr std::array<int64_t, 14> kPrimes = {2,   3,   7,    13,   31,   61,   127,
                                             251, 509, 1021, 2039, 4093, 8191, 12289};
constexpr size_t kPrimeShapes = 99, kOffByOneShapes = 99;
constexpr double kMostFlops = 0x1p38;  // of a drawn shape
constexpr uint64_t kOddSeed = 50257, kOrderSeed = 1;

std::vector<NamedShape> make_cuda_l2() {
  std::vector<NamedShape> shapes;
  for (const int64_t m : kSides)
    for (const int64_t n : kSides)
      for (const int64_t k : kSides) shapes.push_back({{m, n, k}, "cuda-l2"});
  return shapes;
}

std::vector<NamedShape> make_server() {
  std::vector<NamedShape> shapes;
  for (const Shape& shape : kServerShapes) shapes.push_back({shape, "server"});
  return shapes;
}

// Draws until `count` new shapes are there.
template <class Draw>
void add_drawn(size_t count, const char* name, const Draw& draw, std::set<Shape>& known,
               std::vector<NamedShape>& shapes) {
  for (size_t added = 0; added < count;) {
    const Shape shape = draw();
    const double flops =
        2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
    if (flops > kMostFlops || !known.insert(shape).second) continue;
    shapes.push_back({shape, name});
    ++added;
  }
}

std::vector<NamedShape> make_odd() {
  std::vector<NamedShape> shapes;
  std::set<Shape> known;
  for (const Vocabulary& vocabulary : kVocabularies)
    for (const int64_t tokens : kTokens) {
      const Shape shape{tokens, vocabulary.words, vocabulary.width};
      known.insert(shape);
      shapes.push_back({shape, "odd/vocabulary"});
    }
  Random random(kOddSeed);
  const auto draw_prime = [&] { return kPrimes[random.below(kPrimes.size())]; };
  const auto draw_prime_shape = [&] { return Shape{draw_prime(), draw_prime(), draw_prime()}; };
  add_drawn(kPrimeShapes, "odd/prime", draw_prime_shape, known, shapes);
  // One, two or three sides one below or above a multiple of 8 between 64 and 8192.
  const auto draw_off_by_one = [&] {
    std::array<int64_t, 3> sides{};
    for (int64_t& side : sides)
      side = 8 * static_cast<int64_t>(std::llround(std::exp2(3 + 7 * random.uniform())));
    const uint64_t which = 1 + random.below(7);
    for (size_t i = 0; i < sides.size(); ++i)
      if ((which >> i & 1) != 0) sides[i] += random.chance(0.5) ? 1 : -1;
    return Shape{sides[0], sides[1], sides[2]};
  };
  add_drawn(kOffByOneShapes, "odd/off_by_one", draw_off_by_one, known, shapes);
  return shapes;
}

Result<std::vector<ProblemUse>> make_decode(const GridPlan& plan) {
  if (plan.models.empty()) return fail_user("grid decode: no model files are given");
  ModelPlan model_plan{.tokens = {1, 2, 4, 8, 16, 32}, .dtype = plan.dtype};
  std::vector<ProblemUse> uses;
  for (const ModelText& model : plan.models) {
    KW_TRY(std::vector<ProblemUse> more, parse_model(model.text, model.name, model_plan));
    for (ProblemUse& use : more) {
      use.name = model.name + "/" + use.name;
      uses.push_back(std::move(use));
    }
  }
  return merge_uses(uses);
}

std::vector<ProblemUse> make_uses(const std::vector<NamedShape>& shapes, Dtype dtype) {
  std::vector<ProblemUse> uses;
  for (const auto& [shape, name] : shapes) {
    Problem problem{.dtype = dtype, .m = shape.m, .n = shape.n, .k = shape.k};
    uses.push_back({.problem = with_tight_strides(problem), .name = name});
  }
  return uses;
}

void mix(std::vector<ProblemUse>& uses) {
  Random random(kOrderSeed);
  for (size_t i = uses.size(); i > 1; --i) std::swap(uses[i - 1], uses[random.below(i)]);
}

}  // namespace

const std::vector<std::string>& grid_names() {
  static const std::vector<std::string> names = {"cuda-l2", "decode", "odd", "server"};
  return names;
}

Result<std::vector<ProblemUse>> with_layouts(const std::vector<ProblemUse>& uses,
                                             const std::vector<Layout>& layouts) {
  std::vector<ProblemUse> all;
  for (const ProblemUse& use : uses) {
    if (use.problem != with_tight_strides(use.problem))
      return fail_user("{}: has strides of its own, so it cannot be laid out otherwise",
                       describe_problem(use.problem));
    for (const Layout layout : layouts) {
      ProblemUse& one = all.emplace_back(use);
      one.problem.layout = layout;
      one.problem = with_tight_strides(one.problem);
    }
  }
  return merge_uses(all);
}

Result<std::vector<ProblemUse>> make_grid(const std::string& name, const GridPlan& plan) {
  std::vector<ProblemUse> uses;
  if (name == "cuda-l2") {
    uses = make_uses(make_cuda_l2(), plan.dtype);
  } else if (name == "server") {
    uses = make_uses(make_server(), plan.dtype);
  } else if (name == "odd") {
    uses = make_uses(make_odd(), plan.dtype);
  } else if (name == "decode") {
    KW_TRY(uses, make_decode(plan));
  } else {
    return fail_user("grid \"{}\" is not known; use {}", name, fmt::join(grid_names(), ", "));
  }
  std::vector<Layout> layouts = plan.layouts;
  if (layouts.empty() && name != "decode") layouts = {Layout::kNN, Layout::kNT};
  if (!layouts.empty()) {
    KW_TRY(uses, with_layouts(uses, layouts));
  }
  mix(uses);
  return uses;
}

}  // namespace kw
