// ProgramSetup: the contents and layout of a program's memory file, ready to be written and mapped. In: what
// shall run on which buffers. Out: setup bytes (channel.h) and the regions of code, workspace and scratch.
// Used by program.
#pragma once

#include <string>
#include <vector>

#include "record/launch.h"
#include "target/cpu/buffers.h"
#include "target/cpu/channel.h"
#include "target/cpu/object.h"

namespace kw {

struct ProgramSetup {
  WorkerSetup header;
  std::vector<char> bytes;      // header and the arrays behind it
  std::vector<Region> scratch;  // one a thread
  uint64_t file_bytes = 0;      // size of the memory file
};

struct WorkerThreads {
  int count = 1;
  std::vector<int> cores;  // at least one
};

// `image` has one entry a kernel, `numbers` one item count a kernel.
[[nodiscard]] ProgramSetup plan_candidate_setup(const CpuBuffers& buffers, const WorkerThreads& threads,
                                                const CodeImage& image, const LaunchNumbers& numbers);
[[nodiscard]] ProgramSetup plan_baseline_setup(const CpuBuffers& buffers, const WorkerThreads& threads,
                                               const std::string& vendor);

}  // namespace kw
