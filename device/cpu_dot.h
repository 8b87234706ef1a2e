// Register tile by dot products: R rows of Y times V rows of X, both contiguous along k, in vectors along k.
// Sums over lanes come last: four outputs at a time.

// One vector of k into acc.                                  y (R, kLanes) x (V, kLanes) acc (R, V vectors)
template <int R, int V, bool kTail>
static inline void dot_step(vec (&acc)[R][V], const float* y, long y_ld, const float* x, long x_ld, edge e) {
  vec b[V];
#pragma GCC unroll 16
  for (int v = 0; v < V; ++v) b[v] = kTail ? load_edge(x + v * x_ld, e) : load(x + v * x_ld);
#pragma GCC unroll 32
  for (int r = 0; r < R; ++r) {
    const vec a = kTail ? load_edge(y + r * y_ld, e) : load(y + r * y_ld);
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) acc[r][v] += a * b[v];
  }
}

// Sums over the lanes of four vectors.
static inline quad sum_lanes(vec a, vec b, vec c, vec d) {
  const vec ab = low_pairs(a, b) + high_pairs(a, b);
  const vec cd = low_pairs(c, d) + high_pairs(c, d);
  return fold(low_halves(ab, cd) + high_halves(ab, cd));
}

// Four outputs along the row, `width` of them real.
__attribute__((noinline)) static void store_row_quad(quad sum, float* at, float beta, int width) {
  if (width == 4) {
    if (beta != 0) sum += beta * load_quad(at);
    *(quad_anywhere*)at = sum;
  } else {
    const quad_edge e = make_quad_edge(width);
    if (beta != 0) sum += beta * load_quad_edge(at, e);
    store_quad_edge(at, sum, e);
  }
}
// Four outputs down the column, `height` of them real.
static inline void store_column_quad(quad sum, float* at, long c_ld, float beta, int height) {
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q)
    if (q < height) at[q * c_ld] = beta != 0 ? sum[q] + beta * at[q * c_ld] : sum[q];
}

template <int R, int V>
static inline void store_sums(vec (&acc)[R][V], float* c, long c_ld, float alpha, float beta) {
  if constexpr (V == 1) {
#pragma GCC unroll 8
    for (int r = 0; r < R; r += 4)
      store_column_quad(alpha * sum_lanes(acc[r][0], acc[r + 1 < R ? r + 1 : r][0],
                                          acc[r + 2 < R ? r + 2 : r][0], acc[r + 3 < R ? r + 3 : r][0]),
                        c + r * c_ld, c_ld, beta, R - r);
  } else {
#pragma GCC unroll 32
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < V; v += 4)
        store_row_quad(alpha * sum_lanes(acc[r][v], acc[r][v + 1 < V ? v + 1 : v],
                                         acc[r][v + 2 < V ? v + 2 : v], acc[r][v + 3 < V ? v + 3 : v]),
                       c + r * c_ld + v, beta, V - v < 4 ? V - v : 4);
  }
}

// c = alpha * sum over k of y x + beta * c.                  y (R, k) x (V, k) c (R, V)
template <int R, int V>
__attribute__((noinline)) static void tile(long k, const float* y, long y_ld, const float* x, long x_ld,
                                           float* c, long c_ld, float alpha, float beta, long, const float*) {
  constexpr int kSteps = R == kRows && V == kWidth ? kUnroll : kSums;
  if (kPrefetchC) {
#pragma GCC unroll 32
    for (int r = 0; r < R; ++r) __builtin_prefetch(c + r * c_ld, 1, 3);
  }
  vec acc[kSums][R][V] = {};
  for (; k >= kSteps * kLanes; k -= kSteps * kLanes) {
#pragma GCC unroll 16
    for (int p = 0; p < kSteps; ++p) {
      if (kPrefetchX) {  // the rows of the next tile, into L2
#pragma GCC unroll 16
        for (int v = 0; v < V; ++v) __builtin_prefetch(x + (V + v) * x_ld, 0, 2);
      }
      if (kPrefetchY) {
#pragma GCC unroll 32
        for (int r = 0; r < R; ++r) __builtin_prefetch(y + (R + r) * y_ld, 0, 2);
      }
      dot_step<R, V, false>(acc[p % kSums], y, y_ld, x, x_ld, edge{});
      x += kLanes;
      y += kLanes;
    }
  }
#pragma GCC unroll 1
  for (; kSteps > 1 && k >= kLanes; k -= kLanes) {
    dot_step<R, V, false>(acc[0], y, y_ld, x, x_ld, edge{});
    x += kLanes;
    y += kLanes;
  }
  if (k > 0) dot_step<R, V, true>(acc[0], y, y_ld, x, x_ld, make_edge(k));
#pragma GCC unroll 4
  for (int s = 1; s < kSums; ++s)
#pragma GCC unroll 32
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) acc[0][r][v] += acc[s][r][v];
  store_sums<R, V>(acc[0], c, c_ld, alpha, beta);
}
