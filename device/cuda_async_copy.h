// Asynchronous copies from global to shared memory and reads of matrix fragments, of sm_80 and up.

// Bytes (4, 8, 16) at `to`: `count` of them from memory, the others zero.
template <int Bytes>
KW_DEVICE void copy_async(u32 to, const u16* from, int count) {
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(count)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes), "r"(count)
                 : "memory");
}
// Copies since the last call become a group.
KW_DEVICE void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until at most Pending groups of this thread are unfinished.
template <int Pending>
KW_DEVICE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

KW_DEVICE void store_shared(u32 to, const u32 (&words)[4]) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]),
               "r"(words[2]), "r"(words[3])
               : "memory");
}

// Four matrices of 8 x 8: lanes 8i to 8i + 7 give the addresses of the rows of matrix i. Lane l gets of each
// two neighbours of row l / 4, or (transposed) of column l / 4.
KW_DEVICE void load_fragments(u32 (&to)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
KW_DEVICE void load_fragments_transposed(u32 (&to)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
