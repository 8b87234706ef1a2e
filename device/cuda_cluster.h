// sm_90: blocks of a cluster write into each other's shared memory.
KW_DEVICE u32 get_cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// Relaxed: what has to be seen before the cluster's barrier (initialised barriers) has its own fence.
KW_DEVICE void arrive_cluster() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
KW_DEVICE void wait_cluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// The same place in the shared memory of block `rank`.
KW_DEVICE u32 get_remote_address(u32 address, u32 rank) {
  u32 remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}
// Stores to another block; the bytes count on its barrier.
KW_DEVICE void push(u32 remote, float4 v, u32 remote_barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          remote),
      "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"(remote_barrier)
      : "memory");
}
KW_DEVICE float4 load_shared(u32 address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address)
               : "memory");
  return v;
}
