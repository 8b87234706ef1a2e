// Vectors of 16 floats and quads of 4 for kernels on AVX-512. Pasted by src/emit in front of a kernel.
// Edges are masked: no lane outside an operand is read or written.
typedef float vec __attribute__((vector_size(64)));
typedef float vec_anywhere __attribute__((vector_size(64), aligned(4), may_alias));
typedef unsigned short edge;
constexpr int kLanes = 16;

static inline vec load(const float* at) { return *(const vec_anywhere*)at; }
static inline void store(float* at, vec v) { *(vec_anywhere*)at = v; }
static inline edge make_edge(long lanes) { return lanes >= kLanes ? 0xffff : (edge)((1u << lanes) - 1); }
static inline vec load_edge(const float* at, edge e) { return __builtin_ia32_loadups512_mask(at, vec{}, e); }
static inline void store_edge(float* at, vec v, edge e) { __builtin_ia32_storeups512_mask(at, v, e); }

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
  vec v = __builtin_ia32_broadcastf32x4_512(load_quad(src), vec{}, 0xffff);
  v = __builtin_ia32_broadcastf32x4_512(load_quad(src + 4 * ld), v, 0x00f0);
  v = __builtin_ia32_broadcastf32x4_512(load_quad(src + 8 * ld), v, 0x0f00);
  return __builtin_ia32_broadcastf32x4_512(load_quad(src + 12 * ld), v, 0xf000);
}
static inline vec low_pairs(vec a, vec b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
}
static inline vec high_pairs(vec a, vec b) {
  return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
}
static inline vec low_halves(vec a, vec b) {
  return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}
static inline vec high_halves(vec a, vec b) {
  return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}
// Sum of the four quads.
static inline quad fold(vec v) {
  return (get_quad<0>(v) + get_quad<1>(v)) + (get_quad<2>(v) + get_quad<3>(v));
}
