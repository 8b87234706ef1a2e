// How a worker ended: from its exit and its fault record to a RunOutcome. The record was in the candidate's
// reach, so it only describes a failure that the exit has already proved.
#include <algorithm>
#include <csignal>
#include <cstring>

#include "cage/filter.h"
#include "target/cpu/program.h"

namespace kw {
namespace {

constexpr Milliseconds kEndLimit{10'000};
constexpr uint64_t kNearNullBytes = 64 << 10;
constexpr uint64_t kStackReachBytes = 1 << 20;

bool is_fault_signal(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

// rdtsc, rdtscp, rdpmc.
bool is_clock_instruction(const uint8_t (&bytes)[3]) {
  return bytes[0] == 0x0f && (bytes[1] == 0x31 || bytes[1] == 0x33 || (bytes[1] == 0x01 && bytes[2] == 0xf9));
}

std::string describe_element(const GuardHit& hit, const Operand& operand) {
  if (hit.element < 0) return fmt::format("{} elements before {}", -hit.element, hit.operand);
  if (hit.element >= operand.span())
    return fmt::format("element {} of {}, {} past its last", hit.element, hit.operand,
                       hit.element - operand.span() + 1);
  return fmt::format("element {} of {}", hit.element, hit.operand);
}

// "workspace" when the address lies in the region or in the guards around it.
bool lies_near(const Region& region, uint64_t offset) {
  return offset + kGuardBytes >= region.address_offset &&
         offset < region.address_offset + region.size_bytes + kGuardBytes;
}

}  // namespace

std::string CpuProgram::locate(uint64_t address, std::optional<GuardHit>& hit) const {
  if (address == 0) return "an address that the processor does not tell (null, misaligned or impossible)";
  if (address < kNearNullBytes) return fmt::format("address {:#x}, near the null pointer", address);
  const Workload& workload = buffers_.seen_workload();
  if (const auto near = find_near_element(buffers_.layout(), workload, address - operand_base_);
      address >= operand_base_ && near) {
    const Operand& operand = workload.operands[static_cast<size_t>(near->operand)];
    hit = GuardHit{operand.name, near->element};
    return fmt::format("{} (set {})", describe_element(*hit, operand), near->set);
  }
  const uint64_t offset = address - program_base_;
  if (address < program_base_ || offset >= header_.program_reserved_bytes)
    return fmt::format("address {:#x}", address);
  if (lies_near(header_.code, offset) && offset < header_.code.address_offset + header_.code.size_bytes)
    return "the kernel's own code";
  for (size_t slot = 0; slot < scratch_.size(); ++slot)
    if (offset >= scratch_[slot].address_offset && lies_near(scratch_[slot], offset))
      return fmt::format("byte {} behind the scratch of thread {}",
                         offset - scratch_[slot].address_offset - scratch_[slot].size_bytes, slot);
  if (lies_near(header_.workspace, offset))
    return fmt::format("byte {} of the workspace",
                       static_cast<int64_t>(offset) - static_cast<int64_t>(header_.workspace_address));
  return fmt::format("address {:#x}", address);
}

RunOutcome CpuProgram::explain_fault(const FaultRecord& record) {
  RunOutcome outcome;
  outcome.signal = record.signal;
  if (record.signal == SIGSYS) {
    outcome.status = RunOutcome::Status::kForbiddenCall;
    outcome.detail = print_system_call(record.system_call);
    return outcome;
  }
  if (record.signal == SIGSEGV && record.address == 0 && is_clock_instruction(record.code_bytes)) {
    outcome.status = RunOutcome::Status::kClock;
    outcome.detail = fmt::format("a clock or counter is read at instruction {:#x}", record.instruction);
    return outcome;
  }
  outcome.status = RunOutcome::Status::kFault;
  const uint64_t below_stack = record.stack - record.address;
  const bool has_address = record.signal == SIGSEGV || record.signal == SIGBUS;
  std::string where;
  if (!has_address)
    where = fmt::format("at instruction {:#x}", record.instruction);
  else if (record.address != 0 && below_stack + kNearNullBytes < kStackReachBytes)
    where = "the stack has overflowed";
  else
    where = (record.is_write ? "write to " : "access to ") + locate(record.address, outcome.fault);
  outcome.detail = fmt::format("{}: {}, thread {}", strsignal(record.signal), where, record.slot);
  return outcome;
}

RunOutcome CpuProgram::explain_end() {
  const auto exit = cage_.wait(kEndLimit);
  RunOutcome outcome;
  outcome.status = RunOutcome::Status::kKilled;
  if (!exit) {
    outcome.detail = "the worker closed its channel and did not end";
    return outcome;
  }
  FaultRecord record;
  std::memcpy(&record, memory_.bytes().data() + header_.fault_record.file_offset, sizeof record);
  const bool plausible = record.written == 1 && (is_fault_signal(record.signal) || record.signal == SIGSYS);
  if (exit->signal == 0 && exit->exit_code == kFaultExitCode && plausible) return explain_fault(record);
  outcome.signal = exit->signal;
  if (exit->signal == SIGSYS) outcome.status = RunOutcome::Status::kForbiddenCall;
  if (is_fault_signal(exit->signal)) outcome.status = RunOutcome::Status::kFault;
  const bool control = exit->signal == 0 && exit->exit_code == kControlExitCode;
  if (exit->signal == 0) outcome.status = control ? RunOutcome::Status::kControl : RunOutcome::Status::kExit;
  if (exit->signal != 0)
    outcome.detail = strsignal(exit->signal);
  else if (control)
    outcome.detail = "the kernel left rounding, direction or alignment control changed";
  else
    outcome.detail = fmt::format("left with exit code {}", exit->exit_code);
  return outcome;
}

}  // namespace kw
