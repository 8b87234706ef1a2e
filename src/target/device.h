// The interface between stages and hardware: operand buffers, programs that run in a caged worker, vendor
// baselines. verify and measure see nothing else of a target. The clock and the buffers' truth live on this
// side, never in the worker. Implemented by target/cpu.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "record/candidate.h"
#include "record/device.h"
#include "record/workload.h"

namespace kw {

// How an operand lies between its guard pages.
enum class Placement {
  kAligned,  // 64-byte aligned start right behind a guard page: an access before the start faults
  kEnd,      // last element touches the guard page behind: one element too far faults; odd alignment
};

struct BufferPlan {
  int sets = 1;  // distinct operand sets, rotated call by call
  Placement placement = Placement::kAligned;
  // Sizes and strides that the kernel sees in place of the workload's: the same rows, farther apart, with
  // nothing but inaccessible addresses between them. Host storage keeps the workload's strides; the two must
  // agree modulo kSpreadBytes, and stored rows must be at least twice that apart.
  std::optional<Workload> spread;
};
inline constexpr int64_t kSpreadBytes = 4096;

// An element outside every operand that was overwritten (slack between guard page and operand, gap of pitched
// rows).
struct GuardHit {
  std::string operand;  // "c"
  int64_t element = 0;  // offset from the operand's first element; negative = before it
};

// Operand buffers of one workload. Host-visible; shared with workers.
class Buffers {
 public:
  virtual ~Buffers() = default;
  virtual const Workload& workload() const = 0;
  virtual int sets() const = 0;
  // Operand storage of span_bytes(), including the gaps of pitched rows. Valid while no program runs.
  virtual std::span<std::byte> contents(int set, int operand) = 0;
  // Fills everything that belongs to no element (slack, gaps) with a pattern drawn from the seed.
  virtual void fill_guards(uint64_t seed) = 0;
  virtual std::optional<GuardHit> find_guard_hit() = 0;
};

struct RunOutcome {
  // kClock: read a clock; kControl: left the processor's control state changed.
  enum class Status { kOk, kFault, kKilled, kTimeout, kForbiddenCall, kClock, kControl, kExit };
  Status status = Status::kOk;
  int signal = 0;                 // kFault, kKilled
  std::optional<GuardHit> fault;  // kFault: where, when the address lies near an operand
  std::string detail;             // for people and evidence
  double elapsed_us = 0;          // outside clock, all calls, less the empty round trip
  bool ok() const { return status == Status::kOk; }
};

// One kernel or one baseline routine, loaded in one worker process of its own.
class Program {
 public:
  virtual ~Program() = default;
  // Runs `calls` calls on sets first_set, first_set + 1, ... modulo the number of sets. Workspace and scratch
  // are poisoned before the first call when asked. After any outcome but kOk the program is dead.
  virtual RunOutcome run(int first_set, int64_t calls, Milliseconds limit) = 0;
  virtual void poison_workspace(uint64_t seed) = 0;
  // From the next run on, work items start with the last one: a kernel must give the same in any order.
  // Nothing to do where the hardware orders them, and for vendor routines.
  virtual void reverse_items(bool) {}
  virtual const std::string& identity() const = 0;  // binary hash, or the baseline's name and version
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceFacts& facts() const = 0;
  virtual Result<std::unique_ptr<Buffers>> make_buffers(const Workload& workload, const BufferPlan& plan) = 0;
  // Loads a candidate. A contract broken before running is a Verdict (illegal, launch_error), not an Error.
  virtual Result<tl::expected<std::unique_ptr<Program>, Verdict>> start_candidate(const Binary& binary,
                                                                                  Buffers& buffers) = 0;
  // Vendor routines present on this machine that can compute the workload: "openblas", "onednn", "libxsmm".
  virtual std::vector<std::string> find_baselines(const Workload& workload) = 0;
  virtual Result<std::unique_ptr<Program>> start_baseline(const std::string& name, Buffers& buffers) = 0;
};

}  // namespace kw
