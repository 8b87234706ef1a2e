// Worker: maps operands and program memory, starts its threads, closes the filter behind itself, says hello,
// then runs kernels or a vendor routine on command. Times nothing, compares nothing, decides nothing.
#include "target/cpu/worker.h"

#include <asm/hwcap2.h>
#include <immintrin.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cage/filter.h"
#include "device/cpu_abi.h"
#include "target/cpu/channel.h"
#include "target/cpu/fault.h"
#include "target/cpu/pool.h"
#include "target/cpu/vendor.h"
#include "target/workload_text.h"

namespace kw {
namespace {

using Kernel = void (*)(long long item, const kw_call* call);

// What a kernel must leave as it was, or its caller computes other numbers or crashes: rounding,
// flush-to-zero and exception masks of both units, the direction of string instructions, traps on misaligned
// access, the thread's own memory.
struct ControlState {
  unsigned vector = 0;
  uint16_t x87 = 0;
  uint64_t flags = 0, thread_memory = 0, other_base = 0;
  bool operator==(const ControlState&) const = default;
};
__attribute__((target("fsgsbase"))) void read_segment_bases(ControlState& state) {
  state.thread_memory = _readfsbase_u64();
  state.other_base = _readgsbase_u64();
}
__attribute__((target("fsgsbase"))) void restore_thread_memory(const ControlState& state) {
  _writefsbase_u64(state.thread_memory);
}
ControlState read_control() {
  constexpr unsigned kExceptionFlags = 0x3f;
  constexpr uint64_t kTrap = 1 << 8, kDirection = 1 << 10, kAlignment = 1 << 18;
  ControlState state;
  state.vector = _mm_getcsr() & ~kExceptionFlags;
  asm volatile("fnstcw %0" : "=m"(state.x87));
  state.flags = __builtin_ia32_readeflags_u64() & (kTrap | kDirection | kAlignment);
  // Where programs may not read these, they cannot change them either.
  static const bool bases_are_free = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0;
  if (bases_are_free) read_segment_bases(state);
  return state;
}

// From here on reading the time-stamp counter is a fault in this thread and those it starts, also through the
// system's clock functions. Machines that cannot do this keep the clock within reach.
void forbid_clocks() { prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0); }

struct LoadedKernel {
  Kernel function = nullptr;
  int64_t items = 0;
};

// Setup bytes, read once into private memory.
class Setup {
 public:
  [[nodiscard]] static Result<Setup> load(int descriptor) {
    Setup setup;
    WorkerSetup header;
    if (pread(descriptor, &header, sizeof header, 0) != sizeof header) return fail("cannot read the setup");
    setup.bytes_.resize(header.setup_bytes);
    if (pread(descriptor, setup.bytes_.data(), setup.bytes_.size(), 0) !=
        static_cast<ssize_t>(header.setup_bytes))
      return fail("cannot read the setup of {} bytes", header.setup_bytes);
    return setup;
  }
  const WorkerSetup& header() const { return *reinterpret_cast<const WorkerSetup*>(bytes_.data()); }
  template <class T>
  std::span<const T> items(SetupSpan span) const {
    return {reinterpret_cast<const T*>(bytes_.data() + span.offset), span.count};
  }
  std::string text(SetupSpan span) const { return {items<char>(span).data(), span.count}; }

 private:
  std::vector<char> bytes_;
};

// An inaccessible address range with parts of a memory file mapped into it.
class Range {
 public:
  [[nodiscard]] static Result<Range> reserve(uint64_t size_bytes) {
    void* base = mmap(nullptr, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      return fail("cannot reserve {} MiB of addresses: {}", size_bytes >> 20, std::strerror(errno));
    return Range(static_cast<char*>(base));
  }
  [[nodiscard]] Status map(const Region& region, int descriptor, int protection) const {
    if (region.size_bytes == 0) return {};
    void* mapped =
        mmap(base_ + region.address_offset, region.size_bytes, protection,
             MAP_SHARED | MAP_FIXED | MAP_POPULATE, descriptor, static_cast<off_t>(region.file_offset));
    if (mapped == MAP_FAILED) return fail("cannot map {} bytes: {}", region.size_bytes, std::strerror(errno));
    return {};
  }
  char* at(uint64_t offset) const { return base_ + offset; }
  uint64_t base() const { return reinterpret_cast<uint64_t>(base_); }

 private:
  explicit Range(char* base) : base_(base) {}
  char* base_;
};

class Worker {
 public:
  Worker(Setup setup, Range operands, Range program)
      : setup_(std::move(setup)), operands_(operands), program_(program) {}

  [[nodiscard]] Status prepare(WorkerHello& hello) {
    KW_TRY_VOID(map_all());
    install_fault_handlers(reinterpret_cast<FaultRecord*>(program_.at(header().fault_record.address_offset)));
    const bool is_candidate = header().kind == WorkerKind::kCandidate;
    KW_TRY_VOID(is_candidate ? prepare_candidate() : prepare_vendor());
    hello.operand_base = operands_.base();
    hello.program_base = program_.base();
    hello.memcpy_address = reinterpret_cast<uint64_t>(&std::memcpy);
    hello.memset_address = reinterpret_cast<uint64_t>(&std::memset);
    return {};
  }

  void run(const RunCommand& command) {
    command_ = command;
    if (command.calls == 0) return;
    if (vendor_ != nullptr) return run_vendor();
    pool_->run();
  }

 private:
  const WorkerSetup& header() const { return setup_.header(); }
  [[nodiscard]] Status map_all();
  [[nodiscard]] Status prepare_candidate();
  [[nodiscard]] Status prepare_vendor();
  void run_kernels(Pool& pool, int slot);
  void run_vendor();

  Setup setup_;
  Range operands_, program_;
  std::vector<void*> operand_pointers_;  // [set * operands + operand]
  std::vector<kw_call> calls_;           // one a thread
  std::vector<LoadedKernel> kernels_;
  std::optional<Pool> pool_;
  std::unique_ptr<VendorRoutine> vendor_;
  RunCommand command_;
};

Status Worker::map_all() {
  for (const Region& region : setup_.items<Region>(header().operand_regions))
    KW_TRY_VOID(
        operands_.map(region, kOperandDescriptor, region.writable ? PROT_READ | PROT_WRITE : PROT_READ));
  KW_TRY_VOID(program_.map(header().fault_record, kProgramDescriptor, PROT_READ | PROT_WRITE));
  KW_TRY_VOID(program_.map(header().code, kProgramDescriptor, PROT_READ | PROT_EXEC));
  KW_TRY_VOID(program_.map(header().workspace, kProgramDescriptor, PROT_READ | PROT_WRITE));
  for (const Region& region : setup_.items<Region>(header().scratch_regions))
    KW_TRY_VOID(program_.map(region, kProgramDescriptor, PROT_READ | PROT_WRITE));
  close(kOperandDescriptor);
  close(kProgramDescriptor);
  for (const uint64_t offset : setup_.items<uint64_t>(header().operand_offsets))
    operand_pointers_.push_back(operands_.at(offset));
  return {};
}

Status Worker::prepare_candidate() {
  const WorkerSetup& setup = header();
  for (int i = 0; i < setup.kernel_count; ++i)
    kernels_.push_back(
        {reinterpret_cast<Kernel>(program_.at(setup.code.address_offset + setup.kernels[i].entry)),
         setup.kernels[i].items});
  const auto scratch = setup_.items<uint64_t>(setup.scratch_addresses);
  for (int slot = 0; slot < setup.threads; ++slot)
    calls_.push_back({operand_pointers_.data(), setup_.items<long long>(setup.sizes).data(),
                      setup_.items<double>(setup.scalars).data(), program_.at(setup.workspace_address),
                      program_.at(scratch[static_cast<size_t>(slot)]), setup.threads, slot});
  pool_.emplace(
      setup.threads, std::span(setup.cores, static_cast<size_t>(setup.core_count)),
      [](void* self, Pool& pool, int slot) { static_cast<Worker*>(self)->run_kernels(pool, slot); }, this);
  forbid_clocks();
  KW_TRY_VOID(pool_->start());
  const uint64_t code = program_.base() + setup.code.address_offset;
  return close_for_untrusted(kChannelDescriptor, code, code + setup.code.size_bytes);
}

Status Worker::prepare_vendor() {
  KW_TRY_VOID(close_for_vendor());
  KW_TRY(const Workload workload, parse_workload_text(setup_.text(header().vendor_workload)));
  std::vector<std::vector<void*>> sets;
  const auto operands = static_cast<ptrdiff_t>(header().operands);
  for (ptrdiff_t set = 0; set < header().sets; ++set)
    sets.emplace_back(operand_pointers_.begin() + set * operands,
                      operand_pointers_.begin() + (set + 1) * operands);
  KW_TRY(vendor_, open_vendor(setup_.text(header().vendor_name), workload, header().threads, sets));
  return {};
}

// Every thread runs this; phases keep them in step, one a kernel and call.
void Worker::run_kernels(Pool& pool, int slot) {
  kw_call& call = calls_[static_cast<size_t>(slot)];
  const int sets = header().sets, operands = header().operands;
  const ControlState control = read_control();
  auto set = static_cast<int>(command_.first_set % sets);
  for (int64_t i = 0; i < command_.calls; ++i) {
    call.operand = operand_pointers_.data() + static_cast<ptrdiff_t>(set) * operands;
    for (const LoadedKernel& kernel : kernels_) {
      if (command_.items_reversed == 0)
        pool.run_phase(kernel.items, [&](int64_t item) { kernel.function(item, &call); });
      else
        pool.run_phase(kernel.items, [&](int64_t item) { kernel.function(kernel.items - 1 - item, &call); });
    }
    if (++set == sets) set = 0;
  }
  if (const ControlState now = read_control(); now != control) {
    if (now.thread_memory != control.thread_memory) restore_thread_memory(control);
    _exit(kControlExitCode);
  }
}

void Worker::run_vendor() {
  auto set = static_cast<int>(command_.first_set % header().sets);
  for (int64_t i = 0; i < command_.calls; ++i) {
    vendor_->call(set);
    if (++set == header().sets) set = 0;
  }
}

void copy_text(WorkerHello& hello, const std::string& text) {
  std::strncpy(hello.text, text.c_str(), sizeof hello.text - 1);
}

Result<std::unique_ptr<Worker>> make_worker() {
  KW_TRY(Setup setup, Setup::load(kProgramDescriptor));
  KW_TRY(const Range operands, Range::reserve(setup.header().operand_reserved_bytes));
  KW_TRY(const Range program, Range::reserve(setup.header().program_reserved_bytes));
  return std::make_unique<Worker>(std::move(setup), operands, program);
}

}  // namespace

int run_worker() {
  WorkerHello hello;
  auto worker = make_worker();
  Status ready;
  if (worker) ready = (*worker)->prepare(hello);
  if (!worker) copy_text(hello, worker.error().message);
  if (!ready) copy_text(hello, ready.error().message);
  hello.ready = worker && ready;
  if (send(kChannelDescriptor, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello || !hello.ready) _exit(1);
  while (true) {
    RunCommand command;
    const ssize_t got = recv(kChannelDescriptor, &command, sizeof command, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof command) _exit(0);
    (*worker)->run(command);
    const RunReply reply{command.token};
    if (send(kChannelDescriptor, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply) _exit(0);
  }
}

}  // namespace kw
