// Fills the setup for a worker and lays out its program memory: setup pages, fault record, code, workspace,
// scratch.
#include "target/cpu/setup.h"

#include <cstring>

#include "base/check.h"
#include "target/workload_text.h"

namespace kw {
namespace {

// Appends arrays behind the header, each 64-byte aligned.
class SetupWriter {
 public:
  explicit SetupWriter(std::vector<char>& bytes) : bytes_(bytes) { bytes_.resize(sizeof(WorkerSetup)); }
  template <class Items>
  SetupSpan add(const Items& items) {
    const size_t offset = round_up(bytes_.size(), kLineBytes),
                 size_bytes = items.size() * sizeof(*items.data());
    bytes_.resize(offset + size_bytes);
    if (size_bytes > 0) std::memcpy(bytes_.data() + offset, items.data(), size_bytes);
    return {offset, items.size()};
  }

 private:
  std::vector<char>& bytes_;
};

// Hands out regions one behind the other, inaccessible guards between them.
class RegionPlanner {
 public:
  explicit RegionPlanner(uint64_t file_begin) : file_(file_begin) {}
  Region take(uint64_t size_bytes) {
    const Region region{file_, address_, round_up(size_bytes, kPageBytes)};
    file_ += region.size_bytes;
    address_ += region.size_bytes + kGuardBytes;
    return region;
  }
  uint64_t file_bytes() const { return file_; }
  uint64_t reserved_bytes() const { return address_; }

 private:
  uint64_t file_, address_ = kGuardBytes;
};

// Start of a block of the given size whose last cache line touches the guard behind its region.
uint64_t block_address(const Region& region, int64_t size_bytes) {
  return region.address_offset + region.size_bytes - round_up(static_cast<uint64_t>(size_bytes), kLineBytes);
}

void describe_operands(SetupWriter& writer, WorkerSetup& header, const CpuBuffers& buffers,
                       const WorkerThreads& threads) {
  const OperandLayout& layout = buffers.layout();
  header.threads = threads.count;
  header.core_count = static_cast<int32_t>(threads.cores.size());
  KW_CHECK(threads.count >= 1 && threads.count <= kMaxThreads && threads.cores.size() <= kMaxThreads,
           "{} threads on {} cores", threads.count, threads.cores.size());
  for (size_t i = 0; i < threads.cores.size(); ++i) header.cores[i] = threads.cores[i];
  header.sets = layout.sets;
  header.operands = layout.operands;
  header.operand_reserved_bytes = layout.reserved_bytes;
  header.operand_regions = writer.add(layout.regions);
  std::vector<uint64_t> offsets;
  for (const OperandPlace& place : layout.places) offsets.push_back(place.address_offset);
  header.operand_offsets = writer.add(offsets);
}

void finish(ProgramSetup& setup, uint64_t code_bytes, int64_t workspace_bytes, int64_t scratch_bytes,
            SetupWriter& writer) {
  WorkerSetup& header = setup.header;
  const size_t threads = static_cast<size_t>(header.threads);
  const SetupSpan regions = writer.add(std::vector<Region>(threads));
  const SetupSpan addresses = writer.add(std::vector<uint64_t>(threads));
  RegionPlanner planner(round_up(setup.bytes.size(), kPageBytes));
  header.fault_record = planner.take(sizeof(FaultRecord));
  header.code = planner.take(code_bytes);
  header.workspace = planner.take(static_cast<uint64_t>(workspace_bytes));
  header.workspace_address = block_address(header.workspace, workspace_bytes);
  std::vector<uint64_t> starts;
  for (size_t slot = 0; slot < threads; ++slot) {
    setup.scratch.push_back(planner.take(static_cast<uint64_t>(scratch_bytes)));
    starts.push_back(block_address(setup.scratch.back(), scratch_bytes));
  }
  std::memcpy(setup.bytes.data() + regions.offset, setup.scratch.data(), threads * sizeof(Region));
  std::memcpy(setup.bytes.data() + addresses.offset, starts.data(), threads * sizeof(uint64_t));
  header.scratch_regions = regions;
  header.scratch_addresses = addresses;
  header.setup_bytes = setup.bytes.size();
  header.program_reserved_bytes = planner.reserved_bytes();
  setup.file_bytes = planner.file_bytes();
  std::memcpy(setup.bytes.data(), &header, sizeof header);
}

}  // namespace

ProgramSetup plan_candidate_setup(const CpuBuffers& buffers, const WorkerThreads& threads,
                                  const CodeImage& image, const LaunchNumbers& numbers) {
  ProgramSetup setup;
  SetupWriter writer(setup.bytes);
  describe_operands(writer, setup.header, buffers, threads);
  const Workload& workload = buffers.seen_workload();
  setup.header.kind = WorkerKind::kCandidate;
  setup.header.sizes = writer.add(std::vector<long long>(workload.sizes.begin(), workload.sizes.end()));
  setup.header.scalars = writer.add(workload.scalars);
  KW_CHECK(image.entries.size() == numbers.items.size() && image.entries.size() <= kMaxSetupKernels,
           "{} kernels, {} item counts", image.entries.size(), numbers.items.size());
  setup.header.kernel_count = static_cast<int32_t>(image.entries.size());
  for (size_t i = 0; i < image.entries.size(); ++i)
    setup.header.kernels[i] = {image.entries[i], numbers.items[i]};
  finish(setup, image.bytes.size(), numbers.workspace_bytes, numbers.scratch_bytes, writer);
  return setup;
}

ProgramSetup plan_baseline_setup(const CpuBuffers& buffers, const WorkerThreads& threads,
                                 const std::string& vendor) {
  ProgramSetup setup;
  SetupWriter writer(setup.bytes);
  describe_operands(writer, setup.header, buffers, threads);
  setup.header.kind = WorkerKind::kBaseline;
  setup.header.vendor_name = writer.add(vendor);
  setup.header.vendor_workload = writer.add(print_workload_text(buffers.seen_workload()));
  finish(setup, 0, 0, 0, writer);
  return setup;
}

}  // namespace kw
