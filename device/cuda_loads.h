// Loads of operands that nobody else in the block reads: past the L1 cache. Not through the read-only path:
// with programmatic launch an earlier kernel may just have written them.
KW_DEVICE uint4 load_16_bytes(const u16* p) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}
KW_DEVICE uint2 load_8_bytes(const u16* p) {
  uint2 v;
  asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
  return v;
}
KW_DEVICE u32 load_4_bytes(const u16* p) {
  u32 v;
  asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
