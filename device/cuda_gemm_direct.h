// C = alpha * A * B + beta * C with operands loaded straight into tensor core registers: no shared memory, no
// barrier before the first product. For small k, where one trip to memory is most of the time.
//
// A chunk is 32 steps of k. In it lane q of a quad takes k = 8q..8q+7 with 16-byte loads, and these four
// words feed two mma of 16 steps: sums over k may run in any order that A and B share. Column g of the warp's
// tile t stands for n = g * kColumnTiles + t, so that a lane loads and stores neighbours.
__constant__ constexpr int kWarpRows = 16 * kRowTiles, kWarpColumns = 8 * kColumnTiles;
__constant__ constexpr int kBlockRows = kWarpRows * kWarpsM, kBlockColumns = kWarpColumns * kWarpsN;
__constant__ constexpr int kTileThreads = 32 * kWarpsM * kWarpsN;
__constant__ constexpr int kQuads = kRowTiles * kColumnTiles;  // float4 of sums in a lane
// Blocks on an SM: two of 16 warps where 64 registers hold what a thread needs without spills.
__constant__ constexpr int kResident =
    kTileThreads * kWarpsK == 512 && kQuads == 2 && kChunks <= (kBByDepth ? 2 : 1) ? 2 : 1;

struct Chunk {
  uint4 a[2 * kRowTiles];   // 8 steps of k of rows g, g + 8, ...
  u32 b[4 * kColumnTiles];  // B (n, k): 4 words of k a column; B (k, n): 8 rows of kColumnTiles columns
};

// What a lane reads: the part of each row that starts at its own 8 steps of k.
struct Lines {
  const u16* a[2 * kRowTiles];
  const u16* b[kBByDepth ? kColumnTiles : 1];
  i64 ldb;
  int k;        // steps left from the lane's first one
  int columns;  // B (k, n): columns left from the lane's first one
};

// Two neighbours; those not below `count` are zero and not read.
KW_DEVICE u32 load_pair(const u16* p, int at, int count) {
  const u32 low = at < count ? p[at] : 0, high = at + 1 < count ? p[at + 1] : 0;
  return low | high << 16;
}
KW_DEVICE uint4 load_some(const u16* p, int count) {
  return make_uint4(load_pair(p, 0, count), load_pair(p, 2, count), load_pair(p, 4, count),
                    load_pair(p, 6, count));
}

KW_DEVICE void put_words(u32* to, uint4 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w; }

// kColumnTiles neighbours of one row of B (k, n).
KW_DEVICE void load_columns(u32* to, const u16* p) {
  if constexpr (kColumnTiles == 2) {
    to[0] = load_4_bytes(p);
  } else if constexpr (kColumnTiles == 4) {
    const uint2 v = load_8_bytes(p);
    to[0] = v.x, to[1] = v.y;
  } else {
    put_words(to, load_16_bytes(p));
  }
}

// A chunk that lies inside k and, for B (k, n), inside n.
KW_DEVICE void load_whole(Chunk& chunk, const Lines& lines, int at) {
#pragma unroll
  for (int i = 0; i < 2 * kRowTiles; ++i) chunk.a[i] = load_16_bytes(lines.a[i] + at);
  if constexpr (kBByDepth) {
#pragma unroll
    for (int t = 0; t < kColumnTiles; ++t) put_words(chunk.b + 4 * t, load_16_bytes(lines.b[t] + at));
  } else {
    const u16* row = lines.b[0] + at * lines.ldb;
#pragma unroll
    for (int i = 0; i < 8; ++i) load_columns(chunk.b + i * (kColumnTiles / 2), row + i * lines.ldb);
  }
}

// Any chunk: A and B are zero beyond k, and B (k, n) beyond n.
KW_DEVICE void load_masked(Chunk& chunk, const Lines& lines, int at) {
  const int steps = lines.k - at;
#pragma unroll
  for (int i = 0; i < 2 * kRowTiles; ++i) chunk.a[i] = load_some(lines.a[i] + at, steps);
  if constexpr (kBByDepth) {
#pragma unroll
    for (int t = 0; t < kColumnTiles; ++t) put_words(chunk.b + 4 * t, load_some(lines.b[t] + at, steps));
  } else {
    const u16* row = lines.b[0] + at * lines.ldb;
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int word = 0; word < kColumnTiles / 2; ++word)
        chunk.b[i * (kColumnTiles / 2) + word] =
            load_pair(row + i * lines.ldb, 2 * word, i < steps ? lines.columns : 0);
  }
}

// Word w (steps 2w and 2w + 1 of the lane's 8) of column tile t.
KW_DEVICE u32 get_b(const Chunk& chunk, int t, int w) {
  if constexpr (kBByDepth) return chunk.b[4 * t + w];
  constexpr int kWords = kColumnTiles / 2;
  return __byte_perm(chunk.b[2 * w * kWords + t / 2], chunk.b[(2 * w + 1) * kWords + t / 2],
                     t % 2 == 0 ? 0x5410 : 0x7632);
}

KW_DEVICE void multiply_chunk(float (&sums)[kRowTiles][kColumnTiles][4], const Chunk& chunk) {
#pragma unroll
  for (int t = 0; t < kColumnTiles; ++t) {
    const u32 b0 = get_b(chunk, t, 0), b1 = get_b(chunk, t, 1), b2 = get_b(chunk, t, 2),
              b3 = get_b(chunk, t, 3);
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
      const uint4 upper = chunk.a[2 * i], lower = chunk.a[2 * i + 1];
      multiply_add(sums[i][t], upper.x, lower.x, upper.y, lower.y, b0, b1);
      multiply_add(sums[i][t], upper.z, lower.z, upper.w, lower.w, b2, b3);
    }
  }
}

// Chunks part, part + kWarpsK, ... of k. `whole`: chunks that load_whole may read; the others come one by
// one.
KW_DEVICE void multiply_part(float (&sums)[kRowTiles][kColumnTiles][4], const Lines& lines, int part,
                             int whole, int chunks) {
  int at = part;
#pragma unroll 1
  for (; at < whole; at += kChunks * kWarpsK) {
    Chunk loaded[kChunks];
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      if (c == 0 || at + c * kWarpsK < whole)
        load_whole(loaded[c], lines, (at + c * kWarpsK) * 32);
      else
        loaded[c] = Chunk{};
    }
#pragma unroll
    for (int c = 0; c < kChunks; ++c) multiply_chunk(sums, loaded[c]);
  }
  at = part + (max(whole - part, 0) + kWarpsK - 1) / kWarpsK * kWarpsK;
#pragma unroll 1
  for (; at < chunks; at += kWarpsK) {
    Chunk loaded;
    load_masked(loaded, lines, at * 32);
    multiply_chunk(sums, loaded);
  }
}

// A lane's sums as float4 of four neighbours: quad (i * 2 + half) * kColumnTiles / 2 + u holds row 16i +
// 8half
// + g, columns 2q * kColumnTiles + 4u and on.
KW_DEVICE void order_sums(float4 (&quads)[kQuads], const float (&sums)[kRowTiles][kColumnTiles][4]) {
#pragma unroll
  for (int i = 0; i < kRowTiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int u = 0; u < kColumnTiles / 2; ++u) {
        const auto get = [&](int s) {
          const int offset = 4 * u + s;
          return sums[i][offset % kColumnTiles][2 * half + offset / kColumnTiles];
        };
        quads[(2 * i + half) * (kColumnTiles / 2) + u] = make_float4(get(0), get(1), get(2), get(3));
      }
}

extern "C" __global__ void __launch_bounds__(kTileThreads* kWarpsK, kResident)
    gemm_direct(const u16* a, const u16* b, u16* c, int m, int n, int k, i64 lda, i64 ldb, i64 ldc,
                float alpha, float beta) {
  let_next_launch_start();
  if (alpha == 0) k = 0;  // A and B do not count, whatever they hold
  const int thread = threadIdx.x % kTileThreads, part = threadIdx.x / kTileThreads;
  const int lane = thread % 32, g = lane / 4, q = lane % 4;
  const int block_row = blockIdx.y * kBlockRows, block_column = blockIdx.x * kBlockColumns;
  const int row = block_row + thread / 32 / kWarpsN * kWarpRows;
  const int column = block_column + thread / 32 % kWarpsN * kWarpColumns;

  // Rows of A and B (n, k) beyond the matrix repeat its last one: their products are not stored.
  Lines lines;
  lines.k = k - 8 * q;
  lines.ldb = ldb;
  lines.columns = n - column - g * kColumnTiles;
#pragma unroll
  for (int i = 0; i < 2 * kRowTiles; ++i) lines.a[i] = a + min(row + 8 * i + g, m - 1) * lda + 8 * q;
  if constexpr (kBByDepth) {
#pragma unroll
    for (int t = 0; t < kColumnTiles; ++t)
      lines.b[t] = b + min(column + g * kColumnTiles + t, n - 1) * ldb + 8 * q;
  } else {
    lines.b[0] = b + 8 * q * ldb + column + g * kColumnTiles;
  }

  float sums[kRowTiles][kColumnTiles][4] = {};
  wait_for_previous_launch();
  const bool whole = kBByDepth || column + kWarpColumns <= n;
  multiply_part(sums, lines, part, whole ? k / 32 : 0, (k + 31) / 32);

  float4 quads[kQuads];
  order_sums(quads, sums);
  const Output out = {c, m, n, ldc, alpha, beta};
  add_parts<kQuads, kTileThreads, kWarpsK>(
      quads, (float4*)get_block_memory(), part, thread, [&](int quad, int owner, float4 sum) {
        const int warp = owner / 32, owner_lane = owner % 32;
        const int rows = quad / (kColumnTiles / 2), u = quad % (kColumnTiles / 2);
        store_run<4>(out, block_row + warp / kWarpsN * kWarpRows + 8 * rows + owner_lane / 4,
                     block_column + warp % kWarpsN * kWarpColumns + owner_lane % 4 * 2 * kColumnTiles + 4 * u,
                     {sum.x, sum.y, sum.z, sum.w});
      });
}
