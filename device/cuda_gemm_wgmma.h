// C = alpha * A * B + beta * C, one tile per block or, with kSplit > 1, per cluster whose blocks share k. One
// warp keeps a ring of tiles filled by tensor copies, one or two warpgroups multiply them.
//
// X, the rows of the product, has kRows lines a tile, Y, its columns, kColumns. X = A and Y = B, or
// (kSwapped) X = B and Y = A: then the tile of C is held transposed.
__constant__ constexpr int kRows = 64 * kGroups;
__constant__ constexpr int kConsumers = 128 * kGroups;  // threads that multiply
__constant__ constexpr u32 kXBytes = kRows * kDepth * 2, kYBytes = kColumns * kDepth * 2;
__constant__ constexpr int kBlocks = kDepth / 64;   // of 64 k in a step
__constant__ constexpr int kFloats = kColumns / 2;  // sums in a thread
__constant__ constexpr u32 kExchangeBytes = kSplit > 1 ? kRows* kColumns * 4 : 0;

// Whole boxes of kDepth, or single blocks of 64 k for the step in which k ends inside a block.
struct Maps {
  const TensorMap *x, *x_block, *y, *y_block;
};

// Shared memory, in bytes from its 1024-aligned begin:
//   X ring (kStages), Y ring (kStages), exchange of sums, barriers: full (kStages), empty (kStages),
//   exchanged.
struct Shared {
  u32 base;
  __device__ __forceinline__ u32 x(u32 stage) const { return base + stage * kXBytes; }
  __device__ __forceinline__ u32 y(u32 stage) const { return base + kStages * kXBytes + stage * kYBytes; }
  __device__ __forceinline__ u32 exchange() const { return base + kStages * (kXBytes + kYBytes); }
  __device__ __forceinline__ u32 full(u32 stage) const { return exchange() + kExchangeBytes + 8 * stage; }
  __device__ __forceinline__ u32 empty(u32 stage) const { return full(kStages) + 8 * stage; }
  __device__ __forceinline__ u32 exchanged() const { return empty(kStages); }
};

// Place in the ring; parity flips each time it comes round.
struct Place {
  u32 stage = 0, parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

template <bool ByDepth, int Lines>
KW_DEVICE void copy_tile(u32 to, const TensorMap* map, const TensorMap* block_map, int line, int step,
                         bool whole, u32 barrier) {
  if constexpr (!ByDepth) {
    constexpr int kPanel = Lines < 64 ? Lines : 64;
#pragma unroll
    for (int panel = 0; panel < Lines / kPanel; ++panel)
      copy_box(to + panel * (kPanel * 2 * kDepth), map, line + panel * kPanel, step * kDepth, barrier);
  } else if constexpr (kBlocks == 1) {
    copy_box(to, map, step * kDepth, line, barrier);
  } else if (whole) {
    copy_box(to, map, 0, line, step * kBlocks, barrier);
  } else {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
      copy_box(to + block * (Lines * 128), block_map, step * kDepth + block * 64, line, barrier);
  }
}

KW_DEVICE void copy_step(const Shared& shared, const Maps& maps, u32 stage, int row, int column, int step,
                         bool whole) {
  const u32 barrier = shared.full(stage);
  arrive_expecting(barrier, kXBytes + kYBytes);
  copy_tile<kXByDepth, kRows>(shared.x(stage), maps.x, maps.x_block, row, step, whole, barrier);
  copy_tile<kYByDepth, kColumns>(shared.y(stage), maps.y, maps.y_block, column, step, whole, barrier);
}

// Steps [first, last) of k.
KW_DEVICE void multiply_steps(float (&sums)[kFloats], const Shared& shared, int first, int last) {
  const int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  Place place;
  u32 previous = 0;
  for (int step = first; step < last; ++step) {
    wait_barrier(shared.full(place.stage), place.parity);
    begin_products();
    const u32 x = shared.x(place.stage), y = shared.y(place.stage);
#pragma unroll
    for (int i = 0; i < kDepth / 16; ++i)
      multiply(sums, describe_tile<kXByDepth, kRows, kDepth>(x, group * 64, i),
               describe_tile<kYByDepth, kColumns, kDepth>(y, 0, i), step != first || i != 0);
    commit_products();
    wait_products<1>();
    if (step > first && threadIdx.x % 128 == 0) arrive(shared.empty(previous));
    previous = place.stage;
    place.advance();
  }
  wait_products<0>();
  if (first >= last) {
#pragma unroll
    for (int i = 0; i < kFloats; ++i) sums[i] = 0;
  }
}

// Quad `quad` of a consumer's sums: rows r and r + 8, two columns each.
KW_DEVICE void store_quad(const Output& out, int row, int column, int quad, int thread, float4 sum) {
  row += thread / 32 * 16 + thread % 32 / 4;
  column += quad * 8 + thread % 4 * 2;
  if constexpr (kSwapped) {
    store_one(out, column, row, sum.x);
    store_one(out, column + 1, row, sum.y);
    store_one(out, column, row + 8, sum.z);
    store_one(out, column + 1, row + 8, sum.w);
  } else {
    store_fragment(out, row, column, sum);
  }
}

// Lane q of each four gets word q of lanes 0 to 3.
KW_DEVICE void transpose_words(u32 (&words)[4], int q) {
  const bool odd = q & 1, upper = q & 2;
  const u32 from_a = __shfl_xor_sync(0xffffffff, odd ? words[0] : words[1], 1);
  const u32 from_b = __shfl_xor_sync(0xffffffff, odd ? words[2] : words[3], 1);
  const u32 a0 = odd ? from_a : words[0], a1 = odd ? words[1] : from_a;
  const u32 b0 = odd ? from_b : words[2], b1 = odd ? words[3] : from_b;
  const u32 other0 = __shfl_xor_sync(0xffffffff, upper ? a0 : b0, 2);
  const u32 other1 = __shfl_xor_sync(0xffffffff, upper ? a1 : b1, 2);
  words[0] = upper ? other0 : a0, words[1] = upper ? other1 : a1;
  words[2] = upper ? b0 : other0, words[3] = upper ? b1 : other1;
}

// A whole tile's columns, 16 bytes a lane: the four lanes of a row exchange words first.
KW_DEVICE void store_wide(const Output& out, int row, int column, const float (&sums)[kFloats]) {
  const int q = threadIdx.x % 4;
  row += threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  column += 8 * q;
#pragma unroll
  for (int i = 0; i < kColumns / 32; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      u32 words[4];
#pragma unroll
      for (int quad = 0; quad < 4; ++quad) {
        const float* pair = sums + 4 * (4 * i + quad) + 2 * half;
        words[quad] = pack_pair(out.alpha * pair[0], out.alpha * pair[1]);
      }
      transpose_words(words, q);
      const int at = row + 8 * half;
      if (at < out.m) store_words(out.c + at * out.ldc + column + 32 * i, words);
    }
}

KW_DEVICE void store_tile(const Output& out, int row, int column, const float (&sums)[kFloats]) {
  if constexpr (!kSwapped && kColumns % 32 == 0) {
    if (out.beta == 0 && (out.ldc & 7) == 0 && column + kColumns <= out.n)
      return store_wide(out, row, column, sums);
  }
#pragma unroll
  for (int quad = 0; quad < kColumns / 8; ++quad)
    store_quad(out, row, column, quad, threadIdx.x,
               make_float4(sums[4 * quad], sums[4 * quad + 1], sums[4 * quad + 2], sums[4 * quad + 3]));
}

// Every block of the cluster gets 1 / kSplit of the tile from all, adds it up in the order of the blocks and
// stores it. A block leaves when its own part has arrived; nobody writes to it afterwards.
KW_DEVICE void exchange_and_store(const Output& out, const Shared& shared, u32 rank, int row, int column,
                                  const float (&sums)[kFloats]) {
  constexpr u32 kSlice = kRows * kColumns / 4 / kSplit;  // float4
  wait_cluster();
#pragma unroll
  for (int quad = 0; quad < kColumns / 8; ++quad) {
    const u32 index = quad * kConsumers + threadIdx.x, owner = index / kSlice;
    push(get_remote_address(shared.exchange() + (rank * kSlice + index % kSlice) * 16, owner),
         make_float4(sums[4 * quad], sums[4 * quad + 1], sums[4 * quad + 2], sums[4 * quad + 3]),
         get_remote_address(shared.exchanged(), owner));
  }
  wait_barrier(shared.exchanged(), 0);
  for (u32 i = threadIdx.x; i < kSlice; i += kConsumers) {
    float4 sum = load_shared(shared.exchange() + i * 16);
#pragma unroll
    for (int other = 1; other < kSplit; ++other) {
      const float4 more = load_shared(shared.exchange() + (other * kSlice + i) * 16);
      sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
    }
    const u32 index = rank * kSlice + i;
    store_quad(out, row, column, index / kConsumers, index % kConsumers, sum);
  }
}

KW_DEVICE void init_ring(const Shared& shared) {
#pragma unroll 1
  for (int stage = 0; stage < kStages; ++stage) {
    init_barrier(shared.full(stage), 1);
    init_barrier(shared.empty(stage), kGroups);
  }
  if constexpr (kSplit > 1) init_barrier(shared.exchanged(), 1);
  publish_barriers();
  if constexpr (kSplit > 1) arrive_expecting(shared.exchanged(), kExchangeBytes);
}

// `out` is C as it lies; row and column of the tile are those of X and Y.
KW_DEVICE void run_gemm_wgmma(const Maps& maps, const Output& out, int k) {
  const Shared shared = {get_shared_address(get_block_memory())};
  let_next_launch_start();
  const u32 rank = kSplit > 1 ? get_cluster_rank() : 0;
  const int row = blockIdx.y * kRows, column = blockIdx.x / kSplit * kColumns;
  // With alpha 0 A and B do not count, whatever they hold.
  const int steps = out.alpha == 0 ? 0 : (k + kDepth - 1) / kDepth;
  const int first = (int)((i64)steps * rank / kSplit), last = (int)((i64)steps * (rank + 1) / kSplit);
  const int whole = k % 64 == 0 ? steps : k / kDepth;  // steps in which no block of 64 holds the end of k
  const bool produces = __shfl_sync(0xffffffff, threadIdx.x / 32, 0) == kConsumers / 32;

  // Without a cluster the first round of copies is under way before anybody else is let in.
  const int early = kSplit == 1 ? min(last, (int)kStages) : first;
  if (produces && elect_lane()) {
    prefetch_map(maps.x);
    prefetch_map(maps.y);
    init_ring(shared);
    if constexpr (kSplit == 1) {
      wait_for_previous_launch();
      for (int step = 0; step < early; ++step) copy_step(shared, maps, step, row, column, step, step < whole);
    }
  }
  __syncwarp();
  __syncthreads();
  if constexpr (kSplit > 1) arrive_cluster();

  if (produces) {
    if (elect_lane()) {
      wait_for_previous_launch();
      Place place;
      if constexpr (kSplit > 1) place.parity = 1;  // the ring is empty
      for (int step = early; step < last; ++step) {
        wait_barrier(shared.empty(place.stage), place.parity);
        copy_step(shared, maps, place.stage, row, column, step, step < whole);
        place.advance();
      }
    }
    __syncwarp();
    if constexpr (kSplit > 1) wait_cluster();
    return;
  }
  wait_for_previous_launch();  // also C is read and written after it only
  float sums[kFloats];
  multiply_steps(sums, shared, first, last);
  if constexpr (kSplit > 1)
    exchange_and_store(out, shared, rank, row, column, sums);
  else
    store_tile(out, row, column, sums);
}
