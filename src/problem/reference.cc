// Blocked float64 product: blocks of A and B are decoded into packed panels (8 rows, 16 columns, zero-filled
// at the rim of the rectangle, never along k), a register kernel multiplies panels, results are added in
// ascending k.
#include "problem/reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/parallel.h"
#include "record/element.h"

namespace kw {
namespace {

constexpr int64_t kPanelRows = 8, kPanelCols = 16;
constexpr int64_t kBlockRows = 64, kBlockCols = 256, kBlockDepth = 256;
constexpr int64_t kSmallestPart = 1 << 20;  // multiply-adds below which a thread costs more than it saves

// out (8,16) = a (depth,8) panel times b (depth,16) panel.
template <int kVectorBytes, int kRows>
[[gnu::always_inline]] inline void multiply_panels(const double* a, const double* b, int64_t depth,
                                                   double* out) {
  typedef double Vector __attribute__((vector_size(kVectorBytes), aligned(8)));
  constexpr int kLanes = kVectorBytes / 8, kCols = 2 * kLanes;
  for (int row = 0; row < kPanelRows; row += kRows) {
    for (int col = 0; col < kPanelCols; col += kCols) {
      Vector sums[kRows][2] = {};
      for (int64_t p = 0; p < depth; ++p) {
        const double* b_row = b + p * kPanelCols + col;
        const Vector left = *reinterpret_cast<const Vector*>(b_row);
        const Vector right = *reinterpret_cast<const Vector*>(b_row + kLanes);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
          const double factor = a[p * kPanelRows + row + i];
          sums[i][0] += factor * left;
          sums[i][1] += factor * right;
        }
      }
      for (int i = 0; i < kRows; ++i) {
        double* target = out + (row + i) * kPanelCols + col;
        *reinterpret_cast<Vector*>(target) = sums[i][0];
        *reinterpret_cast<Vector*>(target + kLanes) = sums[i][1];
      }
    }
  }
}

using PanelKernel = void (*)(const double* a, const double* b, int64_t depth, double* out);

void multiply_panels_plain(const double* a, const double* b, int64_t depth, double* out) {
  multiply_panels<16, 4>(a, b, depth, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void multiply_panels_avx2(const double* a, const double* b, int64_t depth,
                                                      double* out) {
  multiply_panels<32, 4>(a, b, depth, out);
}
[[gnu::target("avx512f")]] void multiply_panels_avx512(const double* a, const double* b, int64_t depth,
                                                       double* out) {
  multiply_panels<64, 8>(a, b, depth, out);
}
#endif

PanelKernel find_panel_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return multiply_panels_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return multiply_panels_avx2;
#endif
  return multiply_panels_plain;
}

struct LoadF32 {
  const std::byte* base;
  double operator()(int64_t index) const {
    float value;
    std::memcpy(&value, base + index * 4, 4);
    return value;
  }
};
struct LoadF64 {
  const std::byte* base;
  double operator()(int64_t index) const {
    double value;
    std::memcpy(&value, base + index * 8, 8);
    return value;
  }
};
struct LoadF16 {
  const std::byte* base;
  double operator()(int64_t index) const {
    uint16_t bits;
    std::memcpy(&bits, base + index * 2, 2);
    return decode_f16(bits);
  }
};
struct LoadBf16 {
  const std::byte* base;
  double operator()(int64_t index) const {
    uint16_t bits;
    std::memcpy(&bits, base + index * 2, 2);
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

// An operand seen along the output (rows of A, columns of B) and along k.
struct View {
  Dtype dtype;
  const std::byte* base;
  int64_t outer_step, depth_step;  // elements
};

// Packs `outers` lines from `outer`, depth [p0, p0 + depth), into panels of `width` lines: panel[p][line].
template <class Load>
void pack(Load load, const View& view, int64_t outer, int64_t outers, int64_t p0, int64_t depth,
          int64_t width, bool absolute, double* out) {
  for (int64_t first = 0; first < outers; first += width, out += width * depth) {
    const int64_t lines = std::min(width, outers - first);
    const int64_t origin = (outer + first) * view.outer_step + p0 * view.depth_step;
    for (int64_t p = 0; p < depth; ++p) {
      double* row = out + p * width;
      for (int64_t line = 0; line < lines; ++line)
        row[line] = load(origin + line * view.outer_step + p * view.depth_step);
      for (int64_t line = lines; line < width; ++line) row[line] = 0;
      if (absolute)
        for (int64_t line = 0; line < lines; ++line) row[line] = std::fabs(row[line]);
    }
  }
}

void pack_panels(const View& view, int64_t outer, int64_t outers, int64_t p0, int64_t depth, int64_t width,
                 bool absolute, double* out) {
  switch (view.dtype) {
    case Dtype::kF32:
      return pack(LoadF32{view.base}, view, outer, outers, p0, depth, width, absolute, out);
    case Dtype::kF16:
      return pack(LoadF16{view.base}, view, outer, outers, p0, depth, width, absolute, out);
    case Dtype::kBf16:
      return pack(LoadBf16{view.base}, view, outer, outers, p0, depth, width, absolute, out);
    case Dtype::kF64:
      return pack(LoadF64{view.base}, view, outer, outers, p0, depth, width, absolute, out);
  }
}

// Adds the panel products of one block to target (rows, cols) with row length ld.
void add_block(PanelKernel kernel, const double* a_panels, const double* b_panels, int64_t depth,
               int64_t rows, int64_t cols, double* target, int64_t ld) {
  alignas(64) double tile[kPanelRows * kPanelCols];
  for (int64_t j = 0; j < cols; j += kPanelCols) {
    for (int64_t i = 0; i < rows; i += kPanelRows) {
      kernel(a_panels + i * depth, b_panels + j * depth, depth, tile);
      const int64_t tile_rows = std::min(kPanelRows, rows - i), tile_cols = std::min(kPanelCols, cols - j);
      for (int64_t r = 0; r < tile_rows; ++r)
        for (int64_t c = 0; c < tile_cols; ++c) target[(i + r) * ld + j + c] += tile[r * kPanelCols + c];
    }
  }
}

// target (where.rows, where.cols) += op(A) op(B), or with absolute values; target has row length ld.
void multiply(const View& a, const View& b, int64_t k, const Rectangle& where, bool absolute, double* target,
              int64_t ld) {
  static const PanelKernel kernel = find_panel_kernel();
  std::vector<double> a_panels(kBlockRows * kBlockDepth), b_panels(kBlockCols * kBlockDepth);
  for (int64_t j = 0; j < where.cols; j += kBlockCols) {
    const int64_t cols = std::min(kBlockCols, where.cols - j);
    for (int64_t p = 0; p < k; p += kBlockDepth) {
      const int64_t depth = std::min(kBlockDepth, k - p);
      pack_panels(b, where.col + j, cols, p, depth, kPanelCols, absolute, b_panels.data());
      for (int64_t i = 0; i < where.rows; i += kBlockRows) {
        const int64_t rows = std::min(kBlockRows, where.rows - i);
        pack_panels(a, where.row + i, rows, p, depth, kPanelRows, absolute, a_panels.data());
        add_block(kernel, a_panels.data(), b_panels.data(), depth, rows, cols, target + i * ld + j, ld);
      }
    }
  }
}

}  // namespace

Sums compute_sums(const Workload& workload, std::span<const std::vector<std::byte>> contents,
                  const Rectangle& where, bool with_magnitude) {
  const Problem& problem = workload.problem;
  KW_CHECK(where.row >= 0 && where.col >= 0 && where.row + where.rows <= problem.m &&
               where.col + where.cols <= problem.n && contents.size() >= 2,
           "rectangle {}+{}, {}+{} of {}x{}", where.row, where.rows, where.col, where.cols, problem.m,
           problem.n);
  const bool a_transposed = problem.layout == Layout::kTN || problem.layout == Layout::kTT;
  const bool b_transposed = problem.layout == Layout::kNT || problem.layout == Layout::kTT;
  const View a{problem.dtype, contents[0].data(), a_transposed ? 1 : problem.lda,
               a_transposed ? problem.lda : 1};
  const View b{problem.dtype, contents[1].data(), b_transposed ? problem.ldb : 1,
               b_transposed ? 1 : problem.ldb};

  Sums sums;
  sums.value.assign(static_cast<size_t>(where.elements()), 0);
  if (with_magnitude) sums.magnitude.assign(sums.value.size(), 0);
  if (where.elements() == 0) return sums;
  const bool split_rows = where.rows >= where.cols;
  const int64_t lines = split_rows ? where.rows : where.cols;
  const int64_t work_per_line = (where.elements() / lines) * std::max<int64_t>(problem.k, 1);
  for_ranges(lines, kSmallestPart / work_per_line + 1, [&](int64_t begin, int64_t end) {
    Rectangle part = where;
    (split_rows ? part.row : part.col) += begin;
    (split_rows ? part.rows : part.cols) = end - begin;
    const int64_t offset = split_rows ? begin * where.cols : begin;
    multiply(a, b, problem.k, part, false, sums.value.data() + offset, where.cols);
    if (with_magnitude) multiply(a, b, problem.k, part, true, sums.magnitude.data() + offset, where.cols);
  });
  return sums;
}

}  // namespace kw
