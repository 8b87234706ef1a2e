// Packs whole blocks for outer products, panel by panel as the tiles will ask for them. Rows of X that lie
// along the vectors are taken a few at a time across all panels, so that memory is read in order.
static inline void pack_x_block(const Product& g, Part cols, long p0, long k, float* pack) {
  constexpr long kBand = 8;
  const long band = kXDepthFirst ? k : kBand;
  for (long p = 0; p < k; p += band)
    for (long j = cols.begin, width; j < cols.end; j += width * kLanes) {
      width = next_share((cols.end - j + kLanes - 1) / kLanes, kWidth);
      pack_x_panel(pack + (j - cols.begin) * k + p * width * kLanes, width, x_at(g, p0 + p, j), g.x_ld,
                   min_of(band, k - p), cols.end - j);
    }
}
struct PackCall {
  float* dst;
  const float* y;
  long y_ld, k;
  template <int R>
  void run() const {
    pack_y_panel<R>(dst, y, y_ld, k);
  }
};
static inline void pack_y_block(const Product& g, Part rows, long p0, long k, float* pack) {
  for (long i = rows.begin, height; i < rows.end; i += height) {
    height = next_share(rows.end - i, kRows);
    with_share<kRows>(height, PackCall{pack + (i - rows.begin) * k, y_at(g, i, p0), g.y_ld, k});
  }
}
