// Shapes on which a binary is verified besides its own (protocol.md A.7). In: the problem, the launch
// record's domain, where the code changes path. Out: small problems inside the domain, most telling first.
// Draws no operand values.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/random.h"
#include "problem/check.h"
#include "problem/range.h"
#include "problem/workload.h"

namespace kw {
namespace {

constexpr double kCheapFlops = 2e7;
constexpr double kCheapElements = 1 << 20;  // of any operand, so that k = 0 does not hide a huge output
constexpr int64_t kLongest = 4096;          // most that a random side is drawn
constexpr int kRandomDraws = 64;            // random shapes tried per shape that is still missing

struct Shape {
  int64_t m, n, k;
};

struct Scalars {
  double alpha, beta;
};

// In turn; the first four meet every path.
constexpr std::array<Scalars, 7> kScalars = {
    {{1, 0}, {1, 1}, {-0.5, 0}, {2, 0.5}, {1, -1}, {0.75, 0}, {1.5, -0.25}}};

double count_flops(const Shape& s) {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

bool is_cheap(const Shape& s) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return count_flops(s) <= kCheapFlops && m * k <= kCheapElements && k * n <= kCheapElements &&
         m * n <= kCheapElements;
}

// Tile edges with the other sides small, so that two tiles of any size stay cheap; most telling first.
std::vector<Shape> list_edges(const TileHint& tile) {
  const int64_t m = tile.m > 0 ? tile.m : 8, n = tile.n > 0 ? tile.n : 16, k = tile.k > 0 ? tile.k : 64;
  return {
      {m + 1, n - 1, 7},     {m - 1, n + 1, k + 1},     {m, n, k},          {2 * m + 1, 3, k - 1},
      {5, 2 * n + 1, k},     {m + 1, n + 1, 2 * k + 1}, {m - 1, n - 1, 13}, {2 * m - 1, 2 * n - 1, 11},
      {3, n + 1, 2 * k - 1}, {m + 1, 2, k + 1},         {3 * m + 2, n, 5},  {m, 3 * n + 2, 6},
      {m + 1, n + 1, k + 1}, {m - 1, n - 1, k - 1},     {1, n - 1, k + 1},  {m - 1, 1, k + 1},
  };
}

struct ZeroCase {
  Shape shape;
  Scalars scalars;
};

// Without products beta C is left, and C is not read when beta is 0.
constexpr std::array<ZeroCase, 4> kZeros = {
    {{{5, 7, 0}, {1, 0}}, {{6, 9, 5}, {0, 0.5}}, {{7, 5, 0}, {1, 0.5}}, {{9, 6, 4}, {0, 0}}}};

// Every remainder of every side modulo 16, each once: a tail handled wrongly for one of them alone shows.
std::vector<Shape> list_remainders() {
  std::vector<Shape> shapes;
  for (int64_t r = 0; r < 16; ++r)
    shapes.push_back({17 + 3 * r % 16, 33 + (5 * r + 4) % 16, 49 + (11 * r + 8) % 16});
  return shapes;
}

// Sizes at which kernels break whatever their tiles: primes, thin and long ones, empty ones.
const std::vector<Shape>& list_classics() {
  static const std::vector<Shape> shapes = {
      {31, 37, 41},  {1, 1, 1},     {1021, 3, 17},   {2, 1531, 29}, {0, 5, 7}, {3, 5, 4099}, {1, 211, 307},
      {2, 3, 1},     {307, 1, 211}, {113, 109, 127}, {5, 0, 7},     {3, 2, 5}, {1, 1, 1031}, {33, 29, 1},
      {67, 131, 61}, {1, 3, 2},     {257, 241, 2},   {2, 1, 3},     {0, 0, 0},
  };
  return shapes;
}

class Sampler {
 public:
  Sampler(const Problem& problem, const LaunchRecord& launch, size_t count, uint64_t seed)
      : problem_(problem), launch_(launch), count_(count), random_(seed) {
    for (const char* name : {"m", "n", "k", "lda", "ldb", "ldc"}) ranges_.push_back(find_range(launch, name));
  }

  bool full() const { return found_.size() >= count_; }

  // Moves the shape into the domain; keeps it when it is legal, cheap and new.
  void add(const Shape& wanted) { add(wanted, kScalars[found_.size() % kScalars.size()]); }

  void add(const Shape& wanted, const Scalars& scalars) {
    const auto m = ranges_[0].nearest(wanted.m), n = ranges_[1].nearest(wanted.n),
               k = ranges_[2].nearest(wanted.k);
    if (full() || !m || !n || !k) return;
    const Shape shape{*m, *n, *k};
    if (!is_cheap(shape) || is_known(shape)) return;
    Problem sample = problem_;
    sample.m = shape.m, sample.n = shape.n, sample.k = shape.k;
    sample.alpha = scalars.alpha, sample.beta = scalars.beta;
    const bool pitched = found_.size() % 2 == 1;
    if (pitched && keep(sample, true)) return;
    keep(sample, false);
  }

  void add_random() {
    Shape shape{draw_side(), draw_side(), draw_side()};
    while (!is_cheap(shape)) {
      int64_t& longest = shape.m >= shape.n ? (shape.m >= shape.k ? shape.m : shape.k)
                                            : (shape.n >= shape.k ? shape.n : shape.k);
      longest = longest / 2 + 1;
    }
    add(shape);
  }

  std::vector<Problem> take() { return std::move(found_); }

 private:
  int64_t draw_side() {
    return static_cast<int64_t>(std::exp2(random_.uniform() * std::log2(static_cast<double>(kLongest))));
  }

  bool is_known(const Shape& shape) const {
    return std::any_of(found_.begin(), found_.end(), [&](const Problem& known) {
      return known.m == shape.m && known.n == shape.n && known.k == shape.k;
    });
  }

  // Strides: tight, or a different few elements more for each operand, moved into the domain.
  bool keep(const Problem& shape, bool pitched) {
    Problem sample = with_tight_strides(shape);
    int64_t* const strides[] = {&sample.lda, &sample.ldb, &sample.ldc};
    for (size_t i = 0; i < 3; ++i) {
      const int64_t gap = pitched ? random_.between(1, 9) + static_cast<int64_t>(i) : 0;
      const auto stride = ranges_[3 + i].nearest(*strides[i] + gap);
      if (!stride) return false;
      *strides[i] = *stride;
    }
    if (!check_problem(sample)) return false;
    if (find_domain_violation(launch_, make_variables(make_workload(sample), 1))) return false;
    found_.push_back(sample);
    return true;
  }

  const Problem& problem_;
  const LaunchRecord& launch_;
  size_t count_;
  Random random_;
  std::vector<Range> ranges_;  // m n k lda ldb ldc
  std::vector<Problem> found_;
};

}  // namespace

std::vector<Problem> sample_domain(const Problem& problem, const LaunchRecord& launch, TileHint tile,
                                   int count, uint64_t seed) {
  KW_CHECK(count >= 0 && tile.m >= 0 && tile.n >= 0 && tile.k >= 0, "count {}, tile {}x{}x{}", count, tile.m,
           tile.n, tile.k);
  Sampler sampler(problem, launch, static_cast<size_t>(count), seed);
  const std::vector<Shape> edges = list_edges(tile), remainders = list_remainders();
  const std::vector<Shape>& classics = list_classics();
  for (size_t i = 0; i < std::max(edges.size(), classics.size()); ++i) {
    if (i < edges.size()) sampler.add(edges[i]);
    if (i < kZeros.size()) sampler.add(kZeros[i].shape, kZeros[i].scalars);
    if (i < classics.size()) sampler.add(classics[i]);
    for (size_t r = 2 * i; r < std::min(2 * i + 2, remainders.size()); ++r) sampler.add(remainders[r]);
  }
  for (int64_t draw = 0; draw < int64_t{kRandomDraws} * count && !sampler.full(); ++draw)
    sampler.add_random();
  return sampler.take();
}

}  // namespace kw
