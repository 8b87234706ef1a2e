// CpuProgram: one worker process that runs one candidate or one vendor routine on one set of buffers. In: a
// setup. Out: run outcomes with the outside clock. Called by device; the worker's side is worker.cc.
#pragma once

#include <memory>
#include <string>

#include "base/random.h"
#include "cage/cage.h"
#include "target/cpu/channel.h"
#include "target/cpu/setup.h"

namespace kw {

class CpuProgram final : public Program {
 public:
  // Starts the worker and waits for its hello. `image` is linked into the running worker; null for a
  // baseline. The buffers must outlive the program. Error: the worker cannot start or cannot prepare;
  // Verdict: linking refused.
  [[nodiscard]] static Result<tl::expected<std::unique_ptr<CpuProgram>, Verdict>> start(
      const fs::path& worker, const WorkerThreads& threads, const ProgramSetup& setup, const CodeImage* image,
      CpuBuffers& buffers, std::string identity);
  ~CpuProgram() override;

  RunOutcome run(int first_set, int64_t calls, Milliseconds limit) override;
  void poison_workspace(uint64_t seed) override;
  void reverse_items(bool reversed) override { items_reversed_ = reversed; }
  const std::string& identity() const override { return identity_; }

  const CageFacts& cage_facts() const { return cage_.facts(); }
  pid_t pid() const { return cage_.pid(); }
  double round_trip_us() const { return round_trip_us_; }  // least of the empty runs

 private:
  CpuProgram(Cage cage, int channel, SharedMemory memory, const WorkerThreads& threads,
             const ProgramSetup& setup, CpuBuffers& buffers, std::string identity);
  [[nodiscard]] Result<WorkerHello> receive_hello();
  [[nodiscard]] Status measure_round_trip();
  enum class Answer { kReply, kUnasked, kClosed, kLate };
  Answer wait_for_reply(uint64_t token, double expected_us, Clock::time_point deadline);
  Answer try_receive(uint64_t token, bool& arrived);
  bool may_spin() const;
  void park(bool stop);
  RunOutcome explain_end();
  RunOutcome explain_fault(const FaultRecord& record);
  std::string locate(uint64_t address, std::optional<GuardHit>& hit) const;

  Cage cage_;
  int channel_;
  SharedMemory memory_;
  WorkerThreads threads_;
  WorkerSetup header_;
  std::vector<Region> scratch_;
  CpuBuffers& buffers_;
  std::string identity_;
  uint64_t operand_base_ = 0, program_base_ = 0;
  Random tokens_;
  double round_trip_us_ = 0;
  double call_us_ = 0;  // of the last run; tells how long to sleep before looking for the reply
  bool items_reversed_ = false;
  bool alive_ = true;
};

}  // namespace kw
