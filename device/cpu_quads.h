// 4 x 4 transposes between vectors and rows of memory. Pasted after cpu_vec_*.h.
typedef int quad_edge __attribute__((vector_size(16)));
static inline quad_edge make_quad_edge(int lanes) { return quad_edge{0, 1, 2, 3} < lanes; }
static inline quad load_quad_edge(const float* at, quad_edge e) {
  return __builtin_ia32_maskloadps((const quad*)at, e);
}
static inline void store_quad_edge(float* at, quad v, quad_edge e) {
  __builtin_ia32_maskstoreps((quad*)at, e, v);
}

// In each quad c: v[q] becomes (v[0][4c+q], v[1][4c+q], v[2][4c+q], v[3][4c+q]).
static inline void transpose_quads(vec (&v)[4]) {
  const vec a = low_pairs(v[0], v[1]), b = high_pairs(v[0], v[1]);
  const vec c = low_pairs(v[2], v[3]), d = high_pairs(v[2], v[3]);
  v[0] = low_halves(a, c);
  v[1] = high_halves(a, c);
  v[2] = low_halves(b, d);
  v[3] = high_halves(b, d);
}
// Writes v[0..3][lane] to dst + lane * stride for the first `lanes` lanes.
template <int c = 0>
static inline void scatter_rows(float* dst, long stride, long lanes, const vec (&v)[4]) {
  if constexpr (c < kLanes / 4) {
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q)
      if (4 * c + q < lanes) *(quad_anywhere*)(dst + (4 * c + q) * stride) = get_quad<c>(v[q]);
    scatter_rows<c + 1>(dst, stride, lanes, v);
  }
}
