// Register tile by outer products: R rows of Y, one value each, times V vectors of X; k steps.
// c holds the tile row by row, or (kTransposed) column by column.

// y(r, p): packed panels are (k, R), direct operands (rows, k) or (k, rows).
template <int R>
static inline float y_value(const float* y, long y_ld, int r, int p) {
  if (kPackY) return y[p * R + r];
  return kYDepthFirst ? y[r * y_ld + p] : y[p * y_ld + r];
}
template <int R>
static inline const float* y_next(const float* y, long y_ld, int steps) {
  return y + steps * (kPackY ? R : kYDepthFirst ? 1 : y_ld);
}

// One k step into acc.                                       y (R) x (V vectors) acc (R, V vectors)
template <int R, int V>
static inline void outer_step(vec (&acc)[R][V], const float* y, long y_ld, int p, const float* x, edge e) {
  vec b[V];
#pragma GCC unroll 16
  for (int v = 0; v < V; ++v)
    b[v] = kPackX || v < V - 1 ? load(x + v * kLanes) : load_edge(x + v * kLanes, e);
#pragma GCC unroll 32
  for (int r = 0; r < R; ++r) {
    const float s = y_value<R>(y, y_ld, r, p);
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) acc[r][v] += s * b[v];
  }
}

template <int R, int V>
static inline void store_rows(vec (&acc)[R][V], float* c, long c_ld, float alpha, float beta, edge e) {
#pragma GCC unroll 32
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) {
      float* at = c + r * c_ld + v * kLanes;
      vec sum = alpha * acc[r][v];
      if (v < V - 1) {
        if (beta != 0) sum += beta * load(at);
        store(at, sum);
      } else {
        if (beta != 0) sum += beta * load_edge(at, e);
        store_edge(at, sum, e);
      }
    }
}

// Quad c of four transposed vectors goes to the output rows 4c..4c+3, `width` values each.
template <int c = 0>
static inline void store_quads(const vec (&v)[4], float* at, long c_ld, float beta, long lanes, int width) {
  if constexpr (c < kLanes / 4) {
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      if (4 * c + q >= lanes) return;
      float* row = at + (4 * c + q) * c_ld;
      quad sum = get_quad<c>(v[q]);
      if (width == 4) {
        if (beta != 0) sum += beta * load_quad(row);
        *(quad_anywhere*)row = sum;
      } else {
        const quad_edge e = make_quad_edge(width);
        if (beta != 0) sum += beta * load_quad_edge(row, e);
        store_quad_edge(row, sum, e);
      }
    }
    store_quads<c + 1>(v, at, c_ld, beta, lanes, width);
  }
}
__attribute__((noinline)) static void store_transposed(vec v0, vec v1, vec v2, vec v3, float* at, long c_ld,
                                                       float beta, long lanes, int width) {
  vec v[4] = {v0, v1, v2, v3};
  transpose_quads(v);
  store_quads(v, at, c_ld, beta, lanes, width);
}

// Four rows of acc at a time are transposed and lie beside each other in the output.
template <int R, int V>
static inline void store_columns(vec (&acc)[R][V], float* c, long c_ld, float alpha, float beta, long lanes) {
#pragma GCC unroll 16
  for (int v = 0; v < V; ++v)
#pragma GCC unroll 8
    for (int r = 0; r < R; r += 4)
      store_transposed(alpha * acc[r][v], alpha * acc[r + 1 < R ? r + 1 : r][v],
                       alpha * acc[r + 2 < R ? r + 2 : r][v], alpha * acc[r + 3 < R ? r + 3 : r][v],
                       c + v * kLanes * c_ld + r, c_ld, beta, v < V - 1 ? kLanes : lanes,
                       R - r < 4 ? R - r : 4);
}

// Touches the output lines of the tile, so that they arrive while k is summed.
template <int R, int V>
static inline void prefetch_c(const float* c, long c_ld, long lanes) {
  if constexpr (kTransposed) {
    const long rows = (V - 1) * kLanes + lanes;
    for (long row = 0; row < rows; ++row) __builtin_prefetch(c + row * c_ld, 1, 3);
  } else {
#pragma GCC unroll 32
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) __builtin_prefetch(c + r * c_ld + v * kLanes, 1, 3);
  }
}
// Touches, into L2, what the next tile reads of an unpacked Y. Depth-first rows hold 16 steps in one line:
// each of four successive steps touches a quarter of them.
template <int R>
static inline void prefetch_y(const float* y, long y_ld, long step) {
  if constexpr (kYDepthFirst) {
    constexpr int kQuarter = (R + 3) / 4;
    const float* row = y + (R + step % 4 * kQuarter) * y_ld;
#pragma GCC unroll 8
    for (int r = 0; r < kQuarter; ++r) __builtin_prefetch(row + r * y_ld, 0, 2);
  } else {
    __builtin_prefetch(y + R, 0, 2);
  }
}

// Touches, into L2, one line a step of what the next panel of X reads from memory; each row of tiles takes
// its vector.
static inline void prefetch_x(const float* ahead, long x_ld, long step) {
  __builtin_prefetch(
      kXDepthFirst ? ahead + step % kLanes * x_ld + step / kLanes * kLanes : ahead + step * x_ld, 0, 2);
}

// c = alpha * sum over k of y x + beta * c; `lanes` of the last vector count. x_ld is that of the unpacked X.
template <int R, int V>
__attribute__((noinline)) static void tile(long k, const float* y, long y_ld, const float* x, long x_ld,
                                           float* c, long c_ld, float alpha, float beta, long lanes,
                                           const float* ahead) {
  constexpr int kSteps = R == kRows && V == kWidth ? kUnroll : kSums;
  const long x_step = kPackX ? V * kLanes : x_ld;
  const edge e = make_edge(lanes);
  if (kPrefetchC) prefetch_c<R, V>(c, c_ld, lanes);
  vec acc[kSums][R][V] = {};
  long step = 0;
  for (; step + kSteps <= k; step += kSteps) {
    if (kPrefetchY) prefetch_y<R>(y, y_ld, step / kSteps);
#pragma GCC unroll 16
    for (int p = 0; p < kSteps; ++p) {
      if (kPrefetchX) prefetch_x(ahead, x_ld, step + p);
      outer_step<R, V>(acc[p % kSums], y, y_ld, p, x, e);
      x += x_step;
    }
    y = y_next<R>(y, y_ld, kSteps);
  }
#pragma GCC unroll 1
  for (; kSteps > 1 && step < k; ++step) {
    outer_step<R, V>(acc[0], y, y_ld, 0, x, e);
    x += x_step;
    y = y_next<R>(y, y_ld, 1);
  }
#pragma GCC unroll 4
  for (int s = 1; s < kSums; ++s)
#pragma GCC unroll 32
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) acc[0][r][v] += acc[s][r][v];
  if (kTransposed) {
    store_columns<R, V>(acc[0], c, c_ld, alpha, beta, lanes);
  } else {
    store_rows<R, V>(acc[0], c, c_ld, alpha, beta, e);
  }
}
