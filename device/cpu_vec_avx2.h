// Vectors of 8 floats and quads of 4 for kernels on AVX2 with FMA. Pasted by src/emit in front of a kernel.
// Edges are masked: no lane outside an operand is read or written.
typedef float vec __attribute__((vector_size(32)));
typedef float vec_anywhere __attribute__((vector_size(32), aligned(4), may_alias));
typedef int edge __attribute__((vector_size(32)));
constexpr int kLanes = 8;

static inline vec load(const float* at) { return *(const vec_anywhere*)at; }
static inline void store(float* at, vec v) { *(vec_anywhere*)at = v; }
static inline edge make_edge(long lanes) {
  const int limit = lanes >= kLanes ? kLanes : (int)lanes;
  return edge{0, 1, 2, 3, 4, 5, 6, 7} < limit;
}
static inline vec load_edge(const float* at, edge e) {
  return __builtin_ia32_maskloadps256((const vec*)at, e);
}
static inline void store_edge(float* at, vec v, edge e) { __builtin_ia32_maskstoreps256((vec*)at, e, v); }

typedef float quad __attribute__((vector_size(16)));
typedef float quad_anywhere __attribute__((vector_size(16), aligned(4), may_alias));
static inline quad load_quad(const float* at) { return *(const quad_anywhere*)at; }

// Quad c of v.
template <int c>
static inline quad get_quad(vec v) {
  return __builtin_shufflevector(v, v, 4 * c, 4 * c + 1, 4 * c + 2, 4 * c + 3);
}
// Quad c of the result is the quad at src + 4 * c * ld.
static inline vec load_quads(const float* src, long ld) {
  return __builtin_shufflevector(load_quad(src), load_quad(src + 4 * ld), 0, 1, 2, 3, 4, 5, 6, 7);
}
static inline vec low_pairs(vec a, vec b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13); }
static inline vec high_pairs(vec a, vec b) {
  return __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
}
static inline vec low_halves(vec a, vec b) { return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13); }
static inline vec high_halves(vec a, vec b) {
  return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
}
// Sum of the two quads.
static inline quad fold(vec v) { return get_quad<0>(v) + get_quad<1>(v); }
