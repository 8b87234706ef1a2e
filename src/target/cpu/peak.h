// What this machine can do at most: f32 arithmetic and memory traffic, measured. In: a number of threads.
// Out: the two figures a roofline needs. Called when facts of a device are made; takes under a second; the
// caller stores them.
#pragma once

#include "base/result.h"

namespace kw {

struct Peaks {
  double peak_gflops = 0;    // f32 multiply-adds in registers, all threads together
  double copy_gbs = 0;       // copy, bytes read plus bytes written
  double read_gbs = 0;       // reading only
  double bandwidth_gbs = 0;  // the larger of the two: a roofline must bound traffic that is nearly all reads
};

// Best of several short runs on pinned threads. Traffic is measured over two footprints, the protocol's
// smallest (4 x L2 a thread) and 256 MiB, and the better counts. User error when threads is outside 1..usable
// cores.
[[nodiscard]] Result<Peaks> measure_cpu_peaks(int threads);

}  // namespace kw
