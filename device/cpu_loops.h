// Cache blocks and tiles around the register tile; the part of the product that one work item computes.
// Y has m rows, X has n columns; the output is (m, n), or (n, m) when kTransposed.

struct Product {
  const float* y;  // (m, k), depth first or not
  const float* x;  // (k, n), depth first or not
  float* c;
  long y_ld, x_ld, c_ld;
  long m, n, k;
  float alpha, beta;
};
struct Part {
  long begin, end;
};

static inline long min_of(long a, long b) { return a < b ? a : b; }

// How many of `left` the next tile takes: equal shares of size and size - 1 where they fit, else size, then
// 4, 2, 1.
static inline long next_share(long left, long size) {
  const long tiles = (left + size - 1) / size;
  if (tiles * (size - 1) <= left) return left > tiles * (size - 1) ? size : size - 1;
  return left >= size ? size : left >= 4 && size > 5 ? 4 : left >= 2 && size > 3 ? 2 : 1;
}

// Calls f.run<R>() for the height R that next_share gave.
template <int kSize, class F>
static inline void with_share(long share, const F& f) {
  if (share == kSize) return f.template run<kSize>();
  if constexpr (kSize > 2) {
    if (share == kSize - 1) return f.template run<kSize - 1>();
  }
  if constexpr (kSize > 5) {
    if (share == 4) return f.template run<4>();
  }
  if constexpr (kSize > 3) {
    if (share == 2) return f.template run<2>();
  }
  if constexpr (kSize > 1) f.template run<1>();
}

static inline const float* y_at(const Product& g, long i, long p) {
  return g.y + (kYDepthFirst ? i * g.y_ld + p : p * g.y_ld + i);
}
static inline const float* x_at(const Product& g, long p, long j) {
  return g.x + (kXDepthFirst ? j * g.x_ld + p : p * g.x_ld + j);
}
static inline float* c_at(const Product& g, long i, long j) {
  return g.c + (kTransposed ? j * g.c_ld + i : i * g.c_ld + j);
}
// Columns that `width` units of a tile hold: vectors of columns, or single columns for dot products.
constexpr long kUnit = kDot ? 1 : kLanes;

// Everything one tile needs; run picks its compiled height and width.
struct TileCall {
  const float *y, *x, *ahead;
  float* c;
  long y_ld, x_ld, c_ld, k, lanes, width;
  float alpha, beta;
  template <int R, int V>
  void call() const {
    tile<R, V>(k, y, y_ld, x, x_ld, c, c_ld, alpha, beta, lanes, ahead);
  }
  template <int R>
  struct Width {
    const TileCall& t;
    template <int V>
    void run() const {
      t.template call<R, V>();
    }
  };
  template <int R>
  void run() const {
    with_share<kWidth>(width, Width<R>{*this});
  }
};

// One block of the product in cache: rows [i0, i1), columns [j0, j1), depth [p0, p0 + k). Packed operands
// start at pack_y, pack_x.
static inline void run_tile(const Product& g, const float* pack_y, const float* pack_x, Part rows, Part cols,
                            long p0, long k, float beta, long i, long height, long j, long width) {
  const long left = cols.end - j, wide = width * kUnit;
  const long lanes = (left < wide ? left : wide) - (width - 1) * kUnit;
  const long depth = kDot ? ((k + 15) / 16 * 16 + 16) : k;
  TileCall t;
  t.y = kPackY ? pack_y + (i - rows.begin) * depth : y_at(g, i, p0);
  t.x = kPackX ? pack_x + (j - cols.begin) * depth : x_at(g, p0, j);
  t.y_ld = kPackY ? depth : g.y_ld;
  t.x_ld = kPackX && kDot ? depth : g.x_ld;
  t.ahead = nullptr;
  if (kPrefetchX && !kDot) {  // vector number (row of tiles) of the next panel
    const long column = j + wide + (i - rows.begin) / kRows % width * kLanes;
    t.ahead = g.x + (kXDepthFirst ? column * g.x_ld + p0 : p0 * g.x_ld + column);
  }
  t.c = c_at(g, i, j);
  t.c_ld = g.c_ld;
  t.k = k;
  t.lanes = lanes;
  t.width = width;
  t.alpha = g.alpha;
  t.beta = beta;
  with_share<kRows>(height, t);
}
static inline void run_block(const Product& g, const float* pack_y, const float* pack_x, Part rows, Part cols,
                             long p0, long k, float beta) {
  if (kColumnsOutside) {
    for (long j = cols.begin, width; j < cols.end; j += width * kUnit) {
      width = next_share((cols.end - j + kUnit - 1) / kUnit, kWidth);
      for (long i = rows.begin, height; i < rows.end; i += height) {
        height = next_share(rows.end - i, kRows);
        run_tile(g, pack_y, pack_x, rows, cols, p0, k, beta, i, height, j, width);
      }
    }
  } else {
    for (long i = rows.begin, height; i < rows.end; i += height) {
      height = next_share(rows.end - i, kRows);
      for (long j = cols.begin, width; j < cols.end; j += width * kUnit) {
        width = next_share((cols.end - j + kUnit - 1) / kUnit, kWidth);
        run_tile(g, pack_y, pack_x, rows, cols, p0, k, beta, i, height, j, width);
      }
    }
  }
}

// c = beta * c; c is not read when beta is 0.
static void scale(const Product& g, Part rows, Part cols) {
  for (long i = rows.begin; i < rows.end; ++i)
    for (long j = cols.begin; j < cols.end; ++j) {
      float* at = c_at(g, i, j);
      *at = g.beta != 0 ? g.beta * *at : 0;
    }
}
