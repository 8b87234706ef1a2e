// Packing for dot products: an operand stored (k, rows) becomes rows contiguous along k. Pasted by src/emit
// when the schedule packs an operand.                                 src (k, rows) row-major, dst (rows, k)
// with dst_ld
__attribute__((noinline)) static void pack_rows(float* dst, long dst_ld, const float* src, long src_ld,
                                                long rows, long k) {
  for (long r = 0; r < rows; r += kLanes, src += kLanes, dst += kLanes * dst_ld) {
    const long lanes = rows - r < kLanes ? rows - r : kLanes;
    const edge e = make_edge(lanes);
    long p = 0;
    for (; p + 4 <= k; p += 4) {
      const float* at = src + p * src_ld;
      vec v[4] = {load_edge(at, e), load_edge(at + src_ld, e), load_edge(at + 2 * src_ld, e),
                  load_edge(at + 3 * src_ld, e)};
      transpose_quads(v);
      scatter_rows(dst + p, dst_ld, lanes, v);
    }
    for (; p < k; ++p)
      for (long lane = 0; lane < lanes; ++lane) dst[lane * dst_ld + p] = src[p * src_ld + lane];
  }
}
