// C = alpha * A * B + beta * C through a ring of tiles in shared memory, filled by asynchronous copies
// (cp.async) and read as fragments (ldmatrix). Any alignment: kCopyA and kCopyB say how many bytes at a time
// the rows of A and B allow; 2 = element by element, which is not asynchronous.
__constant__ constexpr int kWarpRows = kRows / kWarpsM, kWarpColumns = kColumns / kWarpsN;
__constant__ constexpr int kRowTiles = kWarpRows / 16, kColumnTiles = kWarpColumns / 8;
__constant__ constexpr int kTileThreads = 32 * kWarpsM * kWarpsN, kThreads = kTileThreads * kWarpsK;
__constant__ constexpr int kQuads = kRowTiles * kColumnTiles;  // float4 of sums in a lane
__constant__ constexpr int kABytes = kRows * kDepth * 2, kBBytes = kColumns * kDepth * 2;
__constant__ constexpr int kBLines = kBByDepth ? kColumns : kDepth;         // of a tile of B as stored
__constant__ constexpr int kBChunks = (kBByDepth ? kDepth : kColumns) / 8;  // of 16 bytes in such a line
__constant__ constexpr int kAChunks = kDepth / 8;

// Place of chunk `chunk` of a tile's line: eight lines' chunks with one number lie in different banks.
template <int Chunks>
KW_DEVICE u32 get_place(int line, int chunk) {
  if constexpr (Chunks >= 8)
    chunk = (chunk & ~7) | ((chunk ^ line) & 7);
  else if constexpr (Chunks == 4)
    chunk ^= line >> 1 & 3;
  else
    chunk ^= line >> 2 & 1;
  return (line * Chunks + chunk) * 16;
}

// The first `count` (0 to 8) of 8 elements; zeros behind them. Nothing beyond `count` is read.
template <int Bytes>
KW_DEVICE void copy_chunk(u32 to, const u16* from, int count) {
  if constexpr (Bytes == 16) {
    copy_async<16>(to, from, 2 * count);
  } else if constexpr (Bytes > 2) {
#pragma unroll
    for (int part = 0; part < 16 / Bytes; ++part) {
      const int left = min(max(count - part * (Bytes / 2), 0), Bytes / 2);
      copy_async<Bytes>(to + part * Bytes, left > 0 ? from + part * (Bytes / 2) : from, 2 * left);
    }
  } else {
    u32 words[4];
#pragma unroll
    for (int word = 0; word < 4; ++word) {
      const u32 low = 2 * word < count ? from[2 * word] : 0,
                high = 2 * word + 1 < count ? from[2 * word + 1] : 0;
      words[word] = low | high << 16;
    }
    store_shared(to, words);
  }
}

// A tile of Lines lines with 8 * Chunks elements each, from element (line, at) of a matrix (lines, elements).
template <int Lines, int Chunks, int Bytes>
KW_DEVICE void copy_tile(u32 to, const u16* from, i64 ld, int line, int lines, int at, int elements) {
  constexpr int kCount = Lines * Chunks;
  constexpr int kUnroll = Bytes == 2 ? 2 : 8;  // more would keep as many addresses in registers
#pragma unroll kUnroll
  for (int round = 0; round < (kCount + kThreads - 1) / kThreads; ++round) {
    const int i = round * kThreads + threadIdx.x;
    if (kCount % kThreads != 0 && i >= kCount) break;
    const int l = i / Chunks, chunk = i % Chunks, first = at + 8 * chunk;
    const int count = line + l < lines ? min(max(elements - first, 0), 8) : 0;
    copy_chunk<Bytes>(to + get_place<Chunks>(l, chunk), count > 0 ? from + (line + l) * ld + first : from,
                      count);
  }
}

// 16 rows of A (rows, k) at 16 steps of k: fragments a0 to a3.
KW_DEVICE void load_a(u32 (&to)[4], u32 tile, int row, int step16, int lane) {
  load_fragments(to, tile + get_place<kAChunks>(row + lane % 16, 2 * step16 + lane / 16));
}

// 16 columns of B at 16 steps of k: b0, b1 of the first eight columns, b0, b1 of the others.
KW_DEVICE void load_b(u32 (&to)[4], u32 tile, int column, int step16, int lane) {
  if constexpr (kBByDepth)
    load_fragments(to,
                   tile + get_place<kBChunks>(column + lane % 8 + lane / 16 * 8, 2 * step16 + lane / 8 % 2));
  else
    load_fragments_transposed(to,
                              tile + get_place<kBChunks>(16 * step16 + lane % 16, column / 8 + lane / 16));
}

// The steps of 16 k in a tile that belong to this group of warps.
KW_DEVICE void multiply_tile(float (&sums)[kRowTiles][kColumnTiles][4], u32 a, u32 b, int part, int row,
                             int column, int lane) {
#pragma unroll
  for (int i16 = 0; i16 < kDepth / 16 / kWarpsK; ++i16) {
    const int step16 = i16 * kWarpsK + part;
    u32 rows[kRowTiles][4];
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) load_a(rows[i], a, row + 16 * i, step16, lane);
#pragma unroll
    for (int j = 0; j < kColumnTiles; j += 2) {
      u32 columns[4];
      load_b(columns, b, column + 8 * j, step16, lane);
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
        multiply_add(sums[i][j], rows[i][0], rows[i][1], rows[i][2], rows[i][3], columns[0], columns[1]);
        multiply_add(sums[i][j + 1], rows[i][0], rows[i][1], rows[i][2], rows[i][3], columns[2], columns[3]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm_async(const u16* a, const u16* b, u16* c, int m, int n, int k, i64 lda, i64 ldb, i64 ldc,
               float alpha, float beta) {
  unsigned char* const memory = get_block_memory();  // A ring, B ring; at the end sums of the warps
  let_next_launch_start();
  const u32 a_ring = get_shared_address(memory), b_ring = a_ring + kStages * kABytes;
  const int thread = threadIdx.x % kTileThreads, part = threadIdx.x / kTileThreads, lane = thread % 32;
  const int block_row = blockIdx.y * kRows, block_column = blockIdx.x * kColumns;
  const int row = thread / 32 / kWarpsN * kWarpRows, column = thread / 32 % kWarpsN * kWarpColumns;
  const int steps = alpha == 0 ? 0 : (k + kDepth - 1) / kDepth;  // with alpha 0 A and B do not count

  const auto copy_step = [&](int stage, int step) {
    copy_tile<kRows, kAChunks, kCopyA>(a_ring + stage * kABytes, a, lda, block_row, m, step * kDepth, k);
    if constexpr (kBByDepth)
      copy_tile<kBLines, kBChunks, kCopyB>(b_ring + stage * kBBytes, b, ldb, block_column, n, step * kDepth,
                                           k);
    else
      copy_tile<kBLines, kBChunks, kCopyB>(b_ring + stage * kBBytes, b, ldb, step * kDepth, k, block_column,
                                           n);
  };

  float sums[kRowTiles][kColumnTiles][4] = {};
  wait_for_previous_launch();
#pragma unroll 1
  for (int step = 0; step < kStages - 1; ++step) {
    if (step < steps) copy_step(step, step);
    close_copies();  // one group a step, empty behind the last: "all but the newest" always means the same
  }
  int stage = 0, next_stage = kStages - 1;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_copies<kStages - 2>();
    __syncthreads();  // this step's tiles are there for all; all have read those that are overwritten next
    if (step + kStages - 1 < steps) copy_step(next_stage, step + kStages - 1);
    close_copies();
    multiply_tile(sums, a_ring + stage * kABytes, b_ring + stage * kBBytes, part, row, column, lane);
    if (++stage == kStages) stage = 0;
    if (++next_stage == kStages) next_stage = 0;
  }
  if (kWarpsK > 1) __syncthreads();  // the ring becomes the place of the sums

  float4 quads[kQuads];
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    const float(&sum)[4] = sums[i / kColumnTiles][i % kColumnTiles];
    quads[i] = make_float4(sum[0], sum[1], sum[2], sum[3]);
  }
  const Output out = {c, m, n, ldc, alpha, beta};
  add_parts<kQuads, kTileThreads, kWarpsK>(
      quads, (float4*)memory, part, thread, [&](int quad, int owner, float4 sum) {
        const int warp = owner / 32, owner_lane = owner % 32;
        store_fragment(
            out, block_row + warp / kWarpsN * kWarpRows + quad / kColumnTiles * 16 + owner_lane / 4,
            block_column + warp % kWarpsN * kWarpColumns + quad % kColumnTiles * 8 + owner_lane % 4 * 2, sum);
      });
}
