// Adds up what the groups of warps that share a tile, each with its part of k, have summed. The order is
// fixed, so results repeat bit by bit.

// `sums`: Quads float4 of each of the Threads threads of a group; store(quad, thread, sum) gets every total
// once, spread over all threads. `slots`: shared, Parts * Quads * Threads float4, free for use.
template <int Quads, int Threads, int Parts, class Store>
KW_DEVICE void add_parts(const float4 (&sums)[Quads], float4* slots, int part, int thread,
                         const Store& store) {
  if constexpr (Parts == 1) {
#pragma unroll
    for (int quad = 0; quad < Quads; ++quad) store(quad, thread, sums[quad]);
  } else {
    constexpr int kTotal = Quads * Threads;
#pragma unroll
    for (int quad = 0; quad < Quads; ++quad) slots[part * kTotal + quad * Threads + thread] = sums[quad];
    __syncthreads();
    for (int i = threadIdx.x; i < kTotal; i += Threads * Parts) {
      float4 sum = slots[i];
#pragma unroll
      for (int other = 1; other < Parts; ++other) {
        const float4 more = slots[other * kTotal + i];
        sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
      }
      store(i / Threads, i % Threads, sum);
    }
  }
}
