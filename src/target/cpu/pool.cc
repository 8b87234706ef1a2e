// Threads of a worker and their barrier.
#include "target/cpu/pool.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "target/cpu/fault.h"

namespace kw {
namespace {

constexpr int kSpins = 400;  // pauses before a thread sleeps: a few microseconds at 40 to 140 cycles a pause
constexpr size_t kThreadStackBytes = size_t{8} << 20;

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

void Barrier::wait_past(uint32_t round) {
  for (int i = 0; i < kSpins; ++i) {
    if (round_.load(std::memory_order_acquire) != round) return;
    _mm_pause();
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (round_.load(std::memory_order_seq_cst) == round) futex(round_, FUTEX_WAIT, round);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void Barrier::wake_sleepers() {
  if (sleepers_.load(std::memory_order_seq_cst) > 0) futex(round_, FUTEX_WAKE, INT32_MAX);
}

Status pin_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    return fail("cannot run a thread on core {}: {}", core, std::strerror(errno));
  return {};
}

Pool::Pool(int threads, std::span<const int32_t> cores, Work work, void* context)
    : threads_(threads),
      cores_(cores.begin(), cores.end()),
      work_(work),
      context_(context),
      barrier_(threads) {
  KW_CHECK(threads >= 1 && threads <= kMaxThreads, "{} threads", threads);
}

Status Pool::start() {
  struct Start {
    Pool* pool;
    int slot;
    std::byte* fault_stack;
  };
  fault_stacks_ = std::make_unique<std::byte[]>(kFaultStackBytes * static_cast<size_t>(threads_));
  prepare_thread_for_faults(fault_stacks_.get(), 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kThreadStackBytes);
  int code = 0;
  for (int slot = 1; slot < threads_ && code == 0; ++slot) {
    pthread_t thread;
    auto start = std::make_unique<Start>(
        Start{this, slot, fault_stacks_.get() + kFaultStackBytes * static_cast<size_t>(slot)});
    const auto enter = [](void* argument) -> void* {
      const std::unique_ptr<Start> own(static_cast<Start*>(argument));
      own->pool->serve(own->slot, own->fault_stack);
      return nullptr;
    };
    code = pthread_create(&thread, &attributes, enter, start.get());
    if (code == 0) static_cast<void>(start.release());
    if (code == 0) pthread_detach(thread);
  }
  pthread_attr_destroy(&attributes);
  if (code != 0) return fail("cannot start {} threads: {}", threads_, std::strerror(code));
  if (!cores_.empty()) KW_TRY_VOID(pin_thread(cores_[0]));
  barrier_.arrive([] {});  // all threads are pinned and have handler stacks
  return {};
}

void Pool::serve(int slot, std::byte* fault_stack) {
  prepare_thread_for_faults(fault_stack, slot);
  if (!cores_.empty()) {
    const Status pinned = pin_thread(cores_[static_cast<size_t>(slot) % cores_.size()]);
    KW_CHECK(pinned.has_value(), "{}", pinned.error().message);
  }
  barrier_.arrive([] {});
  while (true) {
    barrier_.arrive([] {});
    work_(context_, *this, slot);
    barrier_.arrive([] {});
  }
}

void Pool::run() {
  if (threads_ > 1) barrier_.arrive([] {});
  work_(context_, *this, 0);
  if (threads_ > 1) barrier_.arrive([] {});
}

}  // namespace kw
