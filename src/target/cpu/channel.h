// What passes between a program and its worker: the setup at the start of the program's memory file, messages
// on the socket, and the fault record. Written by program.cc, read by worker.cc; both are the same build.
// Plain data only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "target/cpu/layout.h"

namespace kw {

// Descriptors a worker inherits.
inline constexpr int kChannelDescriptor = 3;  // SOCK_SEQPACKET, one message a packet
inline constexpr int kProgramDescriptor = 4;  // memory file: setup, fault record, code, workspace, scratch
inline constexpr int kOperandDescriptor = 5;  // memory file of CpuBuffers

inline constexpr int kFaultExitCode = 97;    // the worker wrote its fault record and left
inline constexpr int kControlExitCode = 98;  // a kernel left the processor's control state changed
inline constexpr int kMaxThreads = 256;
inline constexpr int kMaxSetupKernels = 16;

enum class WorkerKind : uint32_t { kCandidate, kBaseline };

// A run of setup bytes: `count` items from byte `offset` of the setup.
struct SetupSpan {
  uint64_t offset = 0, count = 0;
};

struct SetupKernel {
  uint64_t entry = 0;  // offset from the code region
  int64_t items = 0;
};

// First bytes of the program's memory file; the spans follow it.
struct WorkerSetup {
  uint64_t setup_bytes = 0;
  WorkerKind kind = WorkerKind::kCandidate;
  int32_t threads = 1, sets = 1, operands = 0;
  int32_t cores[kMaxThreads] = {};  // thread i runs on cores[i % core_count]
  int32_t core_count = 0;
  uint64_t operand_reserved_bytes = 0, program_reserved_bytes = 0;
  SetupSpan operand_regions;               // Region
  SetupSpan operand_offsets;               // uint64_t, [set * operands + operand], in the operand range
  SetupSpan sizes;                         // long long, the ABI's size array
  SetupSpan scalars;                       // double
  SetupSpan vendor_name, vendor_workload;  // char; baselines only
  Region fault_record, code, workspace;    // of the program's file and range; empty ones have no size
  uint64_t workspace_address = 0;          // offset in the program's range, 64-byte aligned
  SetupSpan scratch_regions;               // Region, one a thread
  SetupSpan scratch_addresses;             // uint64_t, offsets in the program's range
  int32_t kernel_count = 0;
  SetupKernel kernels[kMaxSetupKernels] = {};
};

// First message of a worker: ready, or why not.
struct WorkerHello {
  uint32_t ready = 0;
  char text[508] = {};  // the reason when not ready; the vendor's version when it is a baseline
  uint64_t operand_base = 0, program_base = 0;
  uint64_t memcpy_address = 0, memset_address = 0;
};

struct RunCommand {
  uint64_t token = 0;  // drawn at random; the reply repeats it
  int64_t first_set = 0, calls = 0;
  uint64_t items_reversed = 0;
};

struct RunReply {
  uint64_t token = 0;
};

// Written by the worker's signal handler just before it exits.
struct FaultRecord {
  uint32_t written = 0;
  int32_t signal = 0, code = 0;
  int32_t slot = 0;
  int32_t system_call = -1;  // SIGSYS
  uint32_t is_write = 0;     // SIGSEGV
  uint64_t address = 0, instruction = 0, stack = 0;
  uint8_t code_bytes[3] = {};  // of the instruction, where the processor refused to execute it
};

static_assert(std::is_trivially_copyable_v<WorkerSetup> && std::is_trivially_copyable_v<WorkerHello> &&
              std::is_trivially_copyable_v<RunCommand> && std::is_trivially_copyable_v<FaultRecord>);

}  // namespace kw
