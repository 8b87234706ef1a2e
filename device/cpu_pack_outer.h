// Packing for outer products: X into panels (k, W vectors), Y into panels (k, R). Pasted by src/emit when the
// schedule packs that operand. Sources are read inside their bounds only.

// 4 k steps of one vector from rows of memory: dst[q * dst_ld + lane] = src[lane * ld + q].
static inline void pack_quad_block(float* dst, long dst_ld, const float* src, long ld) {
  vec v[4] = {load_quads(src, ld), load_quads(src + ld, ld), load_quads(src + 2 * ld, ld),
              load_quads(src + 3 * ld, ld)};
  transpose_quads(v);
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) store(dst + q * dst_ld, v[q]);
}

// One panel of X: `width` vectors wide, `cols` real columns.                  dst (k, width * kLanes)
__attribute__((noinline)) static void pack_x_panel(float* dst, long width, const float* x, long x_ld, long k,
                                                   long cols) {
  const long dst_ld = width * kLanes;
  for (long v = 0; v < width; ++v, dst += kLanes, cols -= kLanes) {
    if (!kXDepthFirst) {  // x (k, cols)
      const float* src = x + v * kLanes;
      if (cols >= kLanes) {
        for (long p = 0; p < k; ++p) store(dst + p * dst_ld, load(src + p * x_ld));
      } else {
        const edge e = make_edge(cols);
        for (long p = 0; p < k; ++p) store(dst + p * dst_ld, load_edge(src + p * x_ld, e));
      }
      continue;
    }
    const float* src = x + v * kLanes * x_ld;  // x (cols, k)
    long p = 0;
    if (cols >= kLanes) {
      for (; p + 4 <= k; p += 4) pack_quad_block(dst + p * dst_ld, dst_ld, src + p, x_ld);
    }
    const long lanes = cols < kLanes ? cols : kLanes;
    if (cols < kLanes) {
      for (long q = 0; q < k; ++q) store(dst + q * dst_ld, vec{});
    }
    for (long lane = 0; lane < lanes && p < k; ++lane)
      for (long q = p; q < k; ++q) dst[q * dst_ld + lane] = src[lane * x_ld + q];
  }
}

// One panel of Y.                                                                       dst (k, R)
template <int R>
__attribute__((noinline)) static void pack_y_panel(float* dst, const float* y, long y_ld, long k) {
  if (!kYDepthFirst) {  // y (k, R)
    for (long p = 0; p < k; ++p)
#pragma GCC unroll 32
      for (int r = 0; r < R; ++r) dst[p * R + r] = y[p * y_ld + r];
    return;
  }
  for (int r = 0; r + 4 <= R; r += 4, y += 4 * y_ld, dst += 4) {  // y (R, k)
    long p = 0;
    for (; p + kLanes <= k; p += kLanes) {
      vec v[4] = {load(y + p), load(y + y_ld + p), load(y + 2 * y_ld + p), load(y + 3 * y_ld + p)};
      transpose_quads(v);
      scatter_rows(dst + p * R, R, kLanes, v);
    }
    for (; p < k; ++p)
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) dst[p * R + q] = y[q * y_ld + p];
  }
  for (int r = 0; r < R % 4; ++r, y += y_ld, ++dst)
    for (long p = 0; p < k; ++p) dst[p * R] = y[p];
}
