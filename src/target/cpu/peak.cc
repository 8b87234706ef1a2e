// Times the loops of peak_kernel.h on pinned threads and keeps the best of several runs. See peak.h.
#include "target/cpu/peak.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "target/cpu/facts.h"
#include "target/cpu/peak_kernel.h"

namespace kw {
namespace {

constexpr int kRuns = 5, kLargeRuns = 3;
constexpr double kFlopsPerRun = 2e8;  // about 2 ms on a core with AVX-512, 20 ms on one with SSE only
constexpr size_t kLargeFootprintBytes = size_t{256} << 20;
constexpr size_t kSmallFootprintPerL2 = 4;            // protocol.md B: operands rotate over at least 4 x L2
constexpr size_t kFallbackL2Bytes = size_t{2} << 20;  // where the machine does not tell
constexpr size_t kBytesPerRun = size_t{64} << 20;     // least traffic of a run: above 1 ms at 60 GB/s
constexpr size_t kBlockMultiple = 4096;

volatile float sink;  // keeps the reads alive

void pin_this_thread(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (cpu < CPU_SETSIZE) CPU_SET(cpu, &mask);
  // Where pinning is forbidden the best of several runs still stands.
  static_cast<void>(pthread_setaffinity_np(pthread_self(), sizeof(mask), &mask));
}

// Units of work done by one thread in one run.
using Work = std::function<double(int thread)>;

// Highest rate in units per ns over `runs` runs: work of all threads over the time from the first start to
// the last end.
double measure_best_rate(const std::vector<int>& cpus, int threads, int runs, const Work& work) {
  struct Span {
    Clock::time_point start, end;
    double units = 0;
  };
  std::vector<std::vector<Span>> spans(static_cast<size_t>(runs),
                                       std::vector<Span>(static_cast<size_t>(threads)));
  std::barrier together(threads);
  auto run_thread = [&](int thread) {
    pin_this_thread(cpus[static_cast<size_t>(thread)]);
    for (auto& run : spans) {
      together.arrive_and_wait();
      Span& span = run[static_cast<size_t>(thread)];
      span.start = Clock::now();
      span.units = work(thread);
      span.end = Clock::now();
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int thread = 0; thread < threads; ++thread) pool.emplace_back(run_thread, thread);
  }
  double best = 0;
  for (const auto& run : spans) {
    auto first = run.front().start, last = run.front().end;
    double units = 0;
    for (const Span& span : run) {
      first = std::min(first, span.start);
      last = std::max(last, span.end);
      units += span.units;
    }
    best = std::max(best, units / std::chrono::duration<double, std::nano>(last - first).count());
  }
  return best;
}

// Anonymous pages, given back when the object dies.
class Pages {
 public:
  explicit Pages(size_t bytes)
      : bytes_(bytes),
        start_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    // A hint only: fewer faults at first touch, and the bound should not rest on TLB misses.
    if (ok()) madvise(start_, bytes_, MADV_HUGEPAGE);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (ok()) munmap(start_, bytes_);
  }
  bool ok() const { return start_ != MAP_FAILED; }
  std::byte* start() const { return static_cast<std::byte*>(start_); }

 private:
  size_t bytes_;
  void* start_;
};

// Copy and read rates over two blocks of `block_bytes` a thread, at the start of the thread's own
// `share_bytes`.
void measure_traffic(const std::vector<int>& cpus, int threads, std::byte* pages, size_t share_bytes,
                     size_t block_bytes, int runs, Peaks& peaks) {
  const auto get_block = [&](int thread, int half) {
    return pages + static_cast<size_t>(thread) * share_bytes + static_cast<size_t>(half) * block_bytes;
  };
  const size_t repeats = std::max<size_t>(1, kBytesPerRun / (2 * block_bytes * static_cast<size_t>(threads)));
  const double copy_gbs = measure_best_rate(cpus, threads, runs, [&](int thread) {
    for (size_t i = 0; i < repeats; ++i) std::memcpy(get_block(thread, 1), get_block(thread, 0), block_bytes);
    return 2.0 * static_cast<double>(block_bytes * repeats);
  });
  const double read_gbs = measure_best_rate(cpus, threads, runs, [&](int thread) {
    float sum = 0;
    for (size_t i = 0; i < repeats; ++i) {
      for (int half : {0, 1})
        sum += read_block(reinterpret_cast<const float*>(get_block(thread, half)), block_bytes);
    }
    sink = sum;
    return 2.0 * static_cast<double>(block_bytes * repeats);
  });
  peaks.copy_gbs = std::max(peaks.copy_gbs, copy_gbs);
  peaks.read_gbs = std::max(peaks.read_gbs, read_gbs);
}

}  // namespace

Result<Peaks> measure_cpu_peaks(int threads) {
  KW_TRY(const DeviceFacts facts, find_cpu_facts(threads));
  const std::vector<int> cpus = find_usable_cpus();
  Peaks peaks;
  // flops per ns = Gflop/s; bytes per ns = GB/s
  peaks.peak_gflops = measure_best_rate(cpus, threads, kRuns,
                                        [&](int) { return run_multiply_adds(facts.isa, kFlopsPerRun); });

  const auto round_block = [](size_t bytes) {
    return std::max(bytes / kBlockMultiple, size_t{1}) * kBlockMultiple;
  };
  const size_t l2_bytes = facts.l2_bytes > 0 ? static_cast<size_t>(facts.l2_bytes) : kFallbackL2Bytes;
  const size_t small_block = round_block(kSmallFootprintPerL2 * l2_bytes / 2);
  const size_t large_block =
      std::max(small_block, round_block(kLargeFootprintBytes / (2 * static_cast<size_t>(threads))));
  const size_t share_bytes = 2 * large_block;
  const Pages pages(share_bytes * static_cast<size_t>(threads));
  if (!pages.ok()) {
    return fail("cannot get {} MiB to measure memory bandwidth (mmap, error {}): free some memory",
                (share_bytes * static_cast<size_t>(threads)) >> 20, errno);
  }
  // First touched by the thread that will use it, so that its memory is near.
  static_cast<void>(measure_best_rate(cpus, threads, 1, [&](int thread) {
    std::memset(pages.start() + static_cast<size_t>(thread) * share_bytes, 1, share_bytes);
    return 1.0;
  }));
  measure_traffic(cpus, threads, pages.start(), share_bytes, large_block, kLargeRuns, peaks);
  measure_traffic(cpus, threads, pages.start(), share_bytes, small_block, kRuns, peaks);
  peaks.bandwidth_gbs = std::max(peaks.copy_gbs, peaks.read_gbs);
  return peaks;
}

}  // namespace kw
