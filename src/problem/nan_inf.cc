#include "problem/nan_inf.h"

#include <limits>
#include <span>
#include <utility>

#include "base/random.h"
#include "record/element.h"

namespace kw {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kDraws = 8;  // for a second line that differs from the first

class Spoiler {
 public:
  Spoiler(const Workload& workload, const std::vector<Rectangle>& compared, uint64_t seed,
          std::vector<std::vector<std::byte>>& contents)
      : workload_(workload),
        problem_(workload.problem),
        compared_(compared),
        random_(seed),
        contents_(contents) {}

  void spoil_a() {
    if (problem_.m == 1 && problem_.n == 1) put_a(0, kInfinity);
    const auto [nan_row, inf_row] = draw_two(true);
    if (problem_.m >= 2) put_a(nan_row, kNan);
    if (problem_.m >= 3) put_a(inf_row, draw_infinity());
  }

  void spoil_b() {
    const auto [nan_col, inf_col] = draw_two(false);
    if (problem_.n >= 2) put_b(nan_col, kNan);
    if (problem_.n >= 3) put_b(inf_col, draw_infinity());
  }

  void spoil_c() {
    if (problem_.m < 4 || problem_.n < 4) return;
    const Rectangle& where = draw_rectangle();
    const int64_t row = where.row + random_.between(0, where.rows - 1);
    store(2, row * problem_.ldc + where.col + random_.between(0, where.cols - 1), kNan);
  }

 private:
  double draw_infinity() { return random_.chance(0.5) ? kInfinity : -kInfinity; }
  int64_t draw_depth() { return random_.between(0, problem_.k - 1); }
  const Rectangle& draw_rectangle() { return compared_[random_.below(compared_.size())]; }

  int64_t draw_line(bool rows) {
    const Rectangle& where = draw_rectangle();
    return rows ? where.row + random_.between(0, where.rows - 1)
                : where.col + random_.between(0, where.cols - 1);
  }

  // Two compared lines, different where there are two; the neighbour of the first when drawing finds no
  // other.
  std::pair<int64_t, int64_t> draw_two(bool rows) {
    const int64_t first = draw_line(rows);
    int64_t second = draw_line(rows);
    for (int draw = 0; second == first && draw < kDraws; ++draw) second = draw_line(rows);
    return {first, second != first ? second : (first + 1) % (rows ? problem_.m : problem_.n)};
  }

  void put_a(int64_t row, double value) {
    const bool transposed = problem_.layout == Layout::kTN || problem_.layout == Layout::kTT;
    const int64_t p = draw_depth();
    store(0, transposed ? p * problem_.lda + row : row * problem_.lda + p, value);
  }

  void put_b(int64_t col, double value) {
    const bool transposed = problem_.layout == Layout::kNT || problem_.layout == Layout::kTT;
    const int64_t p = draw_depth();
    store(1, transposed ? col * problem_.ldb + p : p * problem_.ldb + col, value);
  }

  void store(size_t operand, int64_t index, double value) {
    store_elements(workload_.operands[operand].dtype, contents_[operand], index, std::span(&value, 1));
  }

  const Workload& workload_;
  const Problem& problem_;
  const std::vector<Rectangle>& compared_;
  Random random_;
  std::vector<std::vector<std::byte>>& contents_;
};

}  // namespace

void place_nan_inf(const Workload& workload, const Contract& contract, const std::vector<Rectangle>& compared,
                   uint64_t seed, std::vector<std::vector<std::byte>>& contents) {
  const Problem& problem = workload.problem;
  if (compared.empty()) return;
  Spoiler spoiler(workload, compared, seed, contents);
  // Between alpha 0, which must hide A and B, and one that the accumulator holds, rounding decides.
  const bool defined = problem.alpha == 0 || round_to_dtype(contract.accumulate, problem.alpha) != 0;
  if (problem.k > 0 && defined) {
    spoiler.spoil_a();
    spoiler.spoil_b();
  }
  if (round_to_dtype(contract.accumulate, problem.beta) != 0) spoiler.spoil_c();
}

}  // namespace kw
