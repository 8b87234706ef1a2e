// Pool: the worker's threads that run a kernel's items. In: a job, the same for all threads, made of phases.
// Out: every item run once, a barrier after each phase. Used by worker; allocates nothing after it is made.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace kw {

// Meeting point of a fixed number of threads. Spins for a few microseconds, then sleeps in the kernel.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}
  // Returns when all threads are here; the last to come first runs `last`, alone.
  template <class Last>
  void arrive(const Last& last) {
    const uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      last();
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_seq_cst);
      wake_sleepers();
    } else {
      wait_past(round);
    }
  }

 private:
  void wait_past(uint32_t round);
  void wake_sleepers();
  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> round_{0};
  std::atomic<int> sleepers_{0};
};

class Pool {
 public:
  using Work = void (*)(void* context, Pool& pool, int slot);

  // Starts threads - 1 threads and runs `work` in each for every job; slot 0 is the caller of run(). Threads
  // are pinned to cores[slot % size] when there are cores.
  Pool(int threads, std::span<const int32_t> cores, Work work, void* context);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  [[nodiscard]] Status start();

  // One job on all threads; returns after the last has left `work`.
  void run();

  // Inside work, called by every thread for each phase in the same order: runs item(i) for i in [0, items),
  // shared out in runs taken from a common counter; returns when all items of all threads are done.
  template <class Item>
  void run_phase(int64_t items, const Item& item) {
    if (threads_ == 1) {
      for (int64_t i = 0; i < items; ++i) item(i);
      return;
    }
    const int64_t run = std::max<int64_t>(1, items / (int64_t{kRunsPerThread} * threads_));
    while (true) {
      const int64_t begin = next_item_.fetch_add(run, std::memory_order_relaxed);
      if (begin >= items) break;
      const int64_t end = std::min(begin + run, items);
      for (int64_t i = begin; i < end; ++i) item(i);
    }
    barrier_.arrive([this] { next_item_.store(0, std::memory_order_relaxed); });
  }

 private:
  static constexpr int kRunsPerThread = 16;  // enough for balance when items differ in length
  void serve(int slot, std::byte* fault_stack);
  const int threads_;
  std::vector<int32_t> cores_;
  Work work_;
  void* context_;
  std::unique_ptr<std::byte[]> fault_stacks_;  // one a thread
  Barrier barrier_;
  alignas(64) std::atomic<int64_t> next_item_{0};
};

// Pins the calling thread; an unusable core is an error that names it.
[[nodiscard]] Status pin_thread(int core);

}  // namespace kw
