// What all CUDA kernels begin with: short names of types, programmatic launch, elements of C. No includes, so
// that a printed text compiles alone. Reads kBf16 and kPdl.
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
#define KW_DEVICE [[maybe_unused]] static __device__ __forceinline__

// Programmatic dependent launch: the next launch may start while this one runs, and waits by itself before it
// reads what this one writes or writes what this one reads.
KW_DEVICE void let_next_launch_start() {
  if (kPdl) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
KW_DEVICE void wait_for_previous_launch() {
  if (kPdl) asm volatile("griddepcontrol.wait;" ::: "memory");
}

// The block's dynamic shared memory.
KW_DEVICE unsigned char* get_block_memory() {
  extern __shared__ __align__(1024) unsigned char memory[];
  return memory;
}
KW_DEVICE u32 get_shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

// Two values rounded to nearest even; the first in the low half.
KW_DEVICE u32 pack_pair(float low, float high) {
  u32 pair;
  if (kBf16)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

KW_DEVICE float unpack(u16 bits) {
  if (kBf16) return __uint_as_float((u32)bits << 16);
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
