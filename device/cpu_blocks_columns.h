// Cache blocks, columns outside: X is packed once for a (kc, nc) block, Y for every (mc, kc) block in it.
static void run_part(const Product& g, Part rows, Part cols, Part depth, float* pack_y, float* pack_x) {
  for (long j = cols.begin; j < cols.end; j += kColumnBlock) {
    const Part jb{j, min_of(j + kColumnBlock, cols.end)};
    for (long p = depth.begin; p < depth.end; p += kDepthBlock) {
      const long k = min_of(kDepthBlock, depth.end - p);
      const float beta = p == depth.begin ? g.beta : 1;
      if (kPackX) pack_x_block(g, jb, p, k, pack_x);
      for (long i = rows.begin; i < rows.end; i += kRowBlock) {
        const Part ib{i, min_of(i + kRowBlock, rows.end)};
        if (kPackY) pack_y_block(g, ib, p, k, pack_y);
        run_block(g, pack_y, pack_x, ib, jb, p, k, beta);
      }
    }
  }
}
