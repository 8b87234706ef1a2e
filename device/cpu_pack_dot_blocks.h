// Packs whole blocks for dot products; rows lie a cache line further apart than their length.
static inline void pack_x_block(const Product& g, Part cols, long p0, long k, float* pack) {
  pack_rows(pack, (k + 15) / 16 * 16 + 16, x_at(g, p0, cols.begin), g.x_ld, cols.end - cols.begin, k);
}
static inline void pack_y_block(const Product& g, Part rows, long p0, long k, float* pack) {
  pack_rows(pack, (k + 15) / 16 * 16 + 16, y_at(g, rows.begin, p0), g.y_ld, rows.end - rows.begin, k);
}
