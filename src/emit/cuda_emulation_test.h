// The device files that hold PTX, rewritten for a CPU: threads are fibers of one system thread, tensor cores
// and tensor copies are loops, a cluster's blocks have memory of their own. A test puts this text in their
// place in a printed kernel and runs the rest as it is. Copies finish at once or as late as they may
// (Emulation::late). Included behind the printed constants.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

using std::max;
using std::min;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
#define KW_DEVICE [[maybe_unused]] static
#define __device__
#define __forceinline__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)

struct float4 {
  float x, y, z, w;
};
struct uint2 {
  u32 x, y;
};
struct uint4 {
  u32 x, y, z, w;
};
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
[[maybe_unused]] static uint2 make_uint2(u32 x, u32 y) { return {x, y}; }
[[maybe_unused]] static uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }
struct Index {
  int x, y, z;
};
static Index threadIdx, blockIdx;

// Counts arrivals; all leave together.
struct Gate {
  int arrived = 0, round = 0;
};

// A barrier of shared memory.
struct Barrier {
  int arrivals = 0, missing = 0, phase = 0;
  i64 bytes = 0;
  void settle() {
    if (missing == 0 && bytes == 0) missing = arrivals, phase ^= 1;
  }
};

struct Block {
  Index index;
  std::vector<unsigned char> storage;
  unsigned char* memory = nullptr;  // 1024-aligned
  Gate all;
  std::map<u32, Barrier> barriers;
};

struct Warp {
  Gate gate;
  unsigned char slots[32][64];
};

using Action = std::function<void()>;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  int thread = 0;
  Block* block = nullptr;
  Warp* warp = nullptr;
  bool done = false;
  std::vector<Action> open;                 // copies since the last close_copies
  std::vector<std::vector<Action>> groups;  // closed, not waited for
};

struct Emulation {
  bool late = false;
  std::vector<std::unique_ptr<Block>> blocks;  // of the cluster
  std::vector<Fiber> fibers;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<Action> pending;  // tensor copies and pushes under way
  Gate cluster;
  Fiber* now = nullptr;
  ucontext_t scheduler;
  std::function<void()> body;
};
static Emulation emulation;

static void yield_fiber() { swapcontext(&emulation.now->context, &emulation.scheduler); }

static void pass(Gate& gate, int count) {
  const int round = gate.round;
  if (++gate.arrived == count) {
    gate.arrived = 0, ++gate.round;
    return;
  }
  while (gate.round == round) yield_fiber();
}

static void start_fiber() {
  emulation.body();
  emulation.now->done = true;
  yield_fiber();
}

// Runs one cluster to its end.
static void run_cluster(int threads) {
  const int blocks = (int)emulation.blocks.size();
  emulation.fibers = std::vector<Fiber>(blocks * threads);
  emulation.warps.clear();
  emulation.cluster = {};
  for (int i = 0; i < blocks * threads; ++i) {
    Fiber& fiber = emulation.fibers[i];
    if (i % threads % 32 == 0) emulation.warps.push_back(std::make_unique<Warp>());
    fiber.thread = i % threads, fiber.block = emulation.blocks[i / threads].get();
    fiber.warp = emulation.warps.back().get();
    constexpr size_t kStack = 64 << 10;
    fiber.stack = std::make_unique<char[]>(kStack);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get(), fiber.context.uc_stack.ss_size = kStack;
    makecontext(&fiber.context, start_fiber, 0);
  }
  size_t left = emulation.fibers.size();
  for (int round = 0; left > 0; ++round) {
    if (round > 2000000) std::fprintf(stderr, "emulated kernel hangs\n"), std::abort();
    std::vector<Action> finished;
    finished.swap(emulation.pending);
    for (const Action& action : finished) action();
    for (Fiber& fiber : emulation.fibers) {
      if (fiber.done) continue;
      emulation.now = &fiber;
      threadIdx = {fiber.thread, 0, 0}, blockIdx = fiber.block->index;
      swapcontext(&emulation.scheduler, &fiber.context);
      left -= fiber.done;
    }
  }
}

static int get_block_threads() { return (int)(emulation.fibers.size() / emulation.blocks.size()); }
[[maybe_unused]] static void __syncthreads() { pass(emulation.now->block->all, get_block_threads()); }
[[maybe_unused]] static void __syncwarp() { pass(emulation.now->warp->gate, 32); }

template <class T>
static std::array<T, 32> exchange(const T& mine) {
  static_assert(sizeof(T) <= 64);
  Warp& warp = *emulation.now->warp;
  std::memcpy(warp.slots[emulation.now->thread % 32], &mine, sizeof(T));
  pass(warp.gate, 32);
  std::array<T, 32> all;
  for (int lane = 0; lane < 32; ++lane) std::memcpy(&all[lane], warp.slots[lane], sizeof(T));
  pass(warp.gate, 32);
  return all;
}
template <class T>
static T __shfl_sync(u32, T value, int lane) {
  return exchange(value)[lane];
}
template <class T>
static T __shfl_xor_sync(u32, T value, int mask) {
  return exchange(value)[emulation.now->thread % 32 ^ mask];
}
[[maybe_unused]] static u32 __byte_perm(u32 x, u32 y, u32 selector) {
  const u64 bytes = (u64)y << 32 | x;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) result |= (u32)(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return result;
}

// cuda_types.h
static void let_next_launch_start() {}
static void wait_for_previous_launch() {}
static unsigned char* get_block_memory() { return emulation.now->block->memory; }
// Offsets by 1024, so that 0 is nobody's; bits 24 and up: 1 + the block's rank, or 0 for the own block.
[[maybe_unused]] static u32 get_shared_address(const void* p) {
  return (u32)((const unsigned char*)p - get_block_memory()) + 1024;
}
static Block& get_block(u32 address) {
  const u32 rank = address >> 24;
  return rank == 0 ? *emulation.now->block : *emulation.blocks[rank - 1];
}
static unsigned char* get_place_of(u32 address) {
  return get_block(address).memory + (address & 0xffffff) - 1024;
}

static float unpack(u16 bits) {
  float value;
  if (kBf16) {
    const u32 wide = (u32)bits << 16;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  _Float16 half;
  std::memcpy(&half, &bits, 2);
  return (float)half;
}
static u16 pack_value(float value) {
  u16 bits;
  if (kBf16) {
    u32 wide;
    std::memcpy(&wide, &value, 4);
    if (value != value) return 0x7fff;
    return (u16)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
  }
  const _Float16 half = (_Float16)value;
  std::memcpy(&bits, &half, 2);
  return bits;
}
static u32 pack_pair(float low, float high) { return pack_value(low) | (u32)pack_value(high) << 16; }

// cuda_mma.h
struct MmaOperands {
  u32 a[4], b[2];
};
[[maybe_unused]] static void multiply_add(float (&sums)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  const auto all = exchange(MmaOperands{{a0, a1, a2, a3}, {b0, b1}});
  const int g = emulation.now->thread % 32 / 4, q = emulation.now->thread % 4;
  for (int i = 0; i < 4; ++i) {
    const int lower = i / 2, column = 2 * q + i % 2;
    for (int k = 0; k < 16; ++k) {
      const u32 a = all[g * 4 + k % 8 / 2].a[k / 8 * 2 + lower], b = all[column * 4 + k % 8 / 2].b[k / 8];
      sums[i] += unpack((u16)(a >> k % 2 * 16)) * unpack((u16)(b >> k % 2 * 16));
    }
  }
}

// cuda_loads.h
template <class T>
static T load_aligned(const u16* p) {
  if ((std::uintptr_t)p % sizeof(T) != 0)
    std::fprintf(stderr, "load at %p is not aligned\n", (const void*)p), std::abort();
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
[[maybe_unused]] static uint4 load_16_bytes(const u16* p) { return load_aligned<uint4>(p); }
[[maybe_unused]] static uint2 load_8_bytes(const u16* p) { return load_aligned<uint2>(p); }
[[maybe_unused]] static u32 load_4_bytes(const u16* p) { return load_aligned<u32>(p); }

// cuda_async_copy.h
template <int Bytes>
static void copy_async(u32 to, const u16* from, int count) {
  if ((std::uintptr_t)from % Bytes != 0 || to % Bytes != 0 || count > Bytes)
    std::fprintf(stderr, "copy of %d bytes is not aligned\n", Bytes), std::abort();
  unsigned char* const place = get_place_of(to);
  const Action action = [=] {
    std::memset(place, 0, Bytes);
    if (count > 0) std::memcpy(place, from, (size_t)count);
  };
  if (emulation.late)
    emulation.now->open.push_back(action);
  else
    action();
}
[[maybe_unused]] static void close_copies() {
  emulation.now->groups.push_back(std::move(emulation.now->open));
  emulation.now->open.clear();
}
template <int Pending>
static void wait_copies() {
  auto& groups = emulation.now->groups;
  while (groups.size() > Pending) {
    for (const Action& action : groups.front()) action();
    groups.erase(groups.begin());
  }
}
[[maybe_unused]] static void store_shared(u32 to, const u32 (&words)[4]) {
  std::memcpy(get_place_of(to), words, 16);
}
[[maybe_unused]] static void load_matrices(u32 (&to)[4], u32 address, bool transposed) {
  const auto rows = exchange(address);
  const int lane = emulation.now->thread % 32;
  for (int matrix = 0; matrix < 4; ++matrix) {
    u16 pair[2];
    for (int i = 0; i < 2; ++i) {
      const int row = transposed ? lane % 4 * 2 + i : lane / 4,
                column = transposed ? lane / 4 : lane % 4 * 2 + i;
      std::memcpy(&pair[i], get_place_of(rows[8 * matrix + row]) + 2 * column, 2);
    }
    to[matrix] = pair[0] | (u32)pair[1] << 16;
  }
}
[[maybe_unused]] static void load_fragments(u32 (&to)[4], u32 address) { load_matrices(to, address, false); }
[[maybe_unused]] static void load_fragments_transposed(u32 (&to)[4], u32 address) {
  load_matrices(to, address, true);
}

// cuda_barrier.h
struct MapFacts {
  const u16* base;
  int dimensions;
  i64 sizes[3], stride_bytes[3], box[3], swizzle_bytes;
};
struct TensorMap {
  const MapFacts* facts;
};
[[maybe_unused]] static bool elect_lane() { return emulation.now->thread % 32 == 0; }
static Barrier& get_barrier(u32 address) { return get_block(address).barriers[address & 0xffffff]; }
[[maybe_unused]] static void init_barrier(u32 address, u32 arrivals) {
  get_barrier(address) = {(int)arrivals, (int)arrivals, 0, 0};
}
[[maybe_unused]] static void publish_barriers() {}
[[maybe_unused]] static void arrive(u32 address) {
  --get_barrier(address).missing, get_barrier(address).settle();
}
[[maybe_unused]] static void arrive_expecting(u32 address, u32 bytes) {
  get_barrier(address).bytes += bytes;
  arrive(address);
}
static bool is_passed(u32 address, u32 parity) { return get_barrier(address).phase != (int)parity; }
[[maybe_unused]] static void wait_barrier(u32 address, u32 parity) {
  while (!is_passed(address, parity)) yield_fiber();
}
[[maybe_unused]] static void prefetch_map(const TensorMap*) {}

static void begin_transfer(const Action& action) {
  if (emulation.late)
    emulation.pending.push_back(action);
  else
    action();
}
// Address bits 7 and up turn the 16-byte chunks of a line.
static u32 swizzle(u32 address, i64 bytes) {
  return bytes == 128  ? address ^ (address >> 7 & 7) << 4
         : bytes == 64 ? address ^ (address >> 7 & 3) << 4
                       : address;
}
static void copy_box_at(u32 to, const TensorMap* map, std::array<i64, 3> at, u32 barrier) {
  Block* const block = emulation.now->block;
  const MapFacts* const facts = map->facts;
  begin_transfer([=] {
    i64 box[3] = {1, 1, 1}, element = 0;
    for (int d = 0; d < facts->dimensions; ++d) box[d] = facts->box[d];
    for (i64 z = 0; z < box[2]; ++z)
      for (i64 y = 0; y < box[1]; ++y)
        for (i64 x = 0; x < box[0]; ++x, ++element) {
          const i64 where[3] = {at[0] + x, at[1] + y, at[2] + z};
          bool inside = true;
          for (int d = 0; d < facts->dimensions; ++d)
            inside = inside && where[d] >= 0 && where[d] < facts->sizes[d];
          u16 value = 0;
          if (inside) {
            const char* from = (const char*)facts->base + 2 * where[0];
            for (int d = 1; d < facts->dimensions; ++d) from += where[d] * facts->stride_bytes[d];
            std::memcpy(&value, from, 2);
          }
          std::memcpy(block->memory + swizzle(to + (u32)(2 * element), facts->swizzle_bytes) - 1024, &value,
                      2);
        }
    Barrier& counter = block->barriers[barrier];
    counter.bytes -= 2 * element;
    counter.settle();
  });
}
[[maybe_unused]] static void copy_box(u32 to, const TensorMap* map, int x, int y, u32 barrier) {
  copy_box_at(to, map, {x, y, 0}, barrier);
}
[[maybe_unused]] static void copy_box(u32 to, const TensorMap* map, int x, int y, int z, u32 barrier) {
  copy_box_at(to, map, {x, y, z}, barrier);
}

// cuda_cluster.h
[[maybe_unused]] static u32 get_cluster_rank() {
  for (size_t rank = 0; rank < emulation.blocks.size(); ++rank)
    if (emulation.blocks[rank].get() == emulation.now->block) return (u32)rank;
  std::abort();
}
[[maybe_unused]] static void arrive_cluster() { ++emulation.cluster.arrived; }
[[maybe_unused]] static void wait_cluster() {
  while (emulation.cluster.arrived < (int)emulation.fibers.size()) yield_fiber();
}
[[maybe_unused]] static u32 get_remote_address(u32 address, u32 rank) { return address | (rank + 1) << 24; }
[[maybe_unused]] static void push(u32 remote, float4 v, u32 remote_barrier) {
  unsigned char* const place = get_place_of(remote);
  Barrier* const barrier = &get_barrier(remote_barrier);
  begin_transfer([=] {
    std::memcpy(place, &v, 16);
    barrier->bytes -= 16;
    barrier->settle();
  });
}
[[maybe_unused]] static float4 load_shared(u32 address) {
  float4 v;
  std::memcpy(&v, get_place_of(address), 16);
  return v;
}

// cuda_wgmma.h and the printed product
[[maybe_unused]] static void begin_products() {}
[[maybe_unused]] static void commit_products() {}
template <int Pending>
static void wait_products() {}

// Element (line, k) of 16 steps of k as a descriptor gives them.
[[maybe_unused]] static float get_described(u64 descriptor, bool by_depth, int line, int k) {
  const u32 start = (u32)(descriptor & 0x3fff) << 4;
  const u32 leading = (u32)(descriptor >> 16 & 0x3fff) << 4, stride = (u32)(descriptor >> 32 & 0x3fff) << 4;
  const int width = descriptor >> 62 == 1 ? 128 : 64;
  u32 address = start;
  if (by_depth)
    address += line / 8 * stride + line % 8 * 128 + 2 * k;
  else
    address += line / (width / 2) * leading + k / 8 * stride + k % 8 * width + line % (width / 2) * 2;
  u16 bits;
  std::memcpy(&bits, emulation.now->block->memory + swizzle(address, width) - 1024, 2);
  return unpack(bits);
}
#ifdef KW_EMULATE_WGMMA
template <int Floats>
static void multiply(float (&sums)[Floats], u64 x, u64 y, int add) {
  const int thread = threadIdx.x % 128;
  for (int i = 0; i < Floats; ++i) {
    const int line = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8,
              column = i / 4 * 8 + thread % 4 * 2 + i % 2;
    float sum = add ? sums[i] : 0;
    for (int k = 0; k < 16; ++k)
      sum += get_described(x, kXByDepth, line, k) * get_described(y, kYByDepth, column, k);
    sums[i] = sum;
  }
}
#endif

struct EmulatedCall {
  int grid[3], block, cluster;
  i64 shared_bytes;
  bool late;
  void* operands[3];
  i64 integers[16];
  float alpha, beta;
  const MapFacts* maps[8];
};

// Blocks in clusters along x, one cluster after the other.
static void run_grid(const EmulatedCall& call, std::function<void()> body) {
  emulation.late = call.late;
  emulation.body = std::move(body);
  for (int y = 0; y < call.grid[1]; ++y)
    for (int x = 0; x < call.grid[0]; x += call.cluster) {
      emulation.blocks.clear();
      for (int rank = 0; rank < call.cluster; ++rank) {
        auto block = std::make_unique<Block>();
        block->index = {x + rank, y, 0};
        block->storage.assign((size_t)call.shared_bytes + 2048, 0xff);
        block->memory =
            (unsigned char*)(((std::uintptr_t)block->storage.data() + 1023) & ~(std::uintptr_t)1023);
        emulation.blocks.push_back(std::move(block));
      }
      run_cluster(call.block);
    }
}
