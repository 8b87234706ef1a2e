// Kernels whose speed relative to each other is known by construction, for the statistics section. A
// dependent chain of multiply-adds takes its length times the latency of one, on any core. They compute no
// product: what is under test is the measurement.
#pragma once

#include <string>

#include "selftest/corpus.h"

namespace kw {

// One item, on a GPU one thread: `length` dependent multiply-adds.
[[nodiscard]] CorpusKernel make_chain(int64_t length);
[[nodiscard]] Result<CorpusKernel> make_cuda_chain(int64_t length);
// Twice as slow in every fourth stretch of 2,048 calls; the workspace counts the calls.
[[nodiscard]] CorpusKernel make_slow_stretches(int64_t length);
// Slow by ten lengths in every tenth call.
[[nodiscard]] CorpusKernel make_slow_tenth_call(int64_t length);
// Reads one float of each line of its operands in an order no prefetcher follows.
[[nodiscard]] CorpusKernel make_line_reader();
// Returns at once.
[[nodiscard]] CorpusKernel make_noop();

}  // namespace kw
