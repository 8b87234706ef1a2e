// The interface between stages and hardware: operand buffers, programs that run in a worker process, vendor
// baselines. verify and measure see nothing else of a target. Host code of a candidate runs at most behind a
// closed filter (cpu), never with the GPU's context (cuda); the buffers' truth lives on this side.
// Implemented by target/cpu and target/cuda.
#pragma once

#include <algorithm>
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
  // What the caller last put into an operand that is only read, whatever a kernel has done to it since: no
  // transfer where memory is remote.
  virtual std::span<const std::byte> given(int set, int operand) { return contents(set, operand); }
  // A few bytes of an operand at an offset, in place; cheaper than contents() where memory is remote.
  virtual void write(int set, int operand, size_t offset, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), contents(set, operand).begin() + static_cast<ptrdiff_t>(offset));
  }
  virtual void read(int set, int operand, size_t offset, std::span<std::byte> bytes) {
    const auto from = contents(set, operand).subspan(offset, bytes.size());
    std::copy(from.begin(), from.end(), bytes.begin());
  }
  // Timed runs are multiples of so many calls, from the first set on (a graph that is replayed).
  virtual int64_t calls_unit() const { return 1; }
  // Fills everything that belongs to no element (slack, gaps) with a pattern drawn from the seed.
  virtual void fill_guards(uint64_t seed) = 0;
  virtual std::optional<GuardHit> find_guard_hit() = 0;
};

struct RunOutcome {
  // kClock: read a clock; kControl: left the processor's control state changed; kRefused: the device does not
  // start such a launch.
  enum class Status { kOk, kFault, kKilled, kTimeout, kForbiddenCall, kClock, kControl, kExit, kRefused };
  Status status = Status::kOk;
  int signal = 0;                 // kFault, kKilled
  std::optional<GuardHit> fault;  // kFault: where, when the address lies near an operand
  std::string detail;             // for people and evidence
  double elapsed_us = 0;          // outside clock, all calls, less the empty round trip
  bool ok() const { return status == Status::kOk; }
};

// One call of server mode.
struct ServerCall {
  double device_us = 0;  // of the call on the device
  double host_us = 0;    // from before the launch until the host knows that it has ended
};

// One kernel or one baseline routine, loaded in a worker process.
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
  // Server mode (protocol.md B): single calls at exponential gaps, `rate_hz` a second on average, the device
  // idle between, on sets in turn so that operands are cold. The gaps are drawn from the seed.
  virtual Result<std::vector<ServerCall>> serve(int64_t /*calls*/, double /*rate_hz*/, uint64_t /*seed*/) {
    return fail_user("server mode is not supported by this target; use offline");
  }
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
  // An error when the device cannot be asked.
  virtual Result<std::vector<std::string>> find_baselines(const Workload& workload) = 0;
  virtual Result<std::unique_ptr<Program>> start_baseline(const std::string& name, Buffers& buffers) = 0;
};

}  // namespace kw
