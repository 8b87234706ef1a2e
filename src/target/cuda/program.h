// CudaProgram: a candidate or a vendor routine on the operands of one CudaBuffers. In: what to load. Out: run
// outcomes with device time. Loads itself again when the worker was replaced. Called by device.
#pragma once

#include <memory>
#include <string>

#include "target/cuda/buffers.h"

namespace kw::cuda {

class CudaProgram final : public Program {
 public:
  // `load`: the worker's request ("load" or "load_vendor") without ids; `blob` goes with it. The buffers must
  // outlive the program.
  CudaProgram(std::shared_ptr<WorkerProcess> worker, CudaBuffers& buffers, Json load, std::string blob,
              std::string identity);
  ~CudaProgram() override;

  // Loads now; the answer of the worker when it is refused there.
  [[nodiscard]] Result<Answer> start();

  RunOutcome run(int first_set, int64_t calls, Milliseconds limit) override;
  void poison_workspace(uint64_t seed) override { poison_ = static_cast<uint32_t>(seed ^ (seed >> 32)); }
  const std::string& identity() const override { return identity_; }
  Result<std::vector<ServerCall>> serve(int64_t calls, double rate_hz, uint64_t seed) override;

  // What the worker said when it loaded: registers, local and shared bytes of each kernel.
  const Json& facts() const { return facts_; }

 private:
  std::shared_ptr<WorkerProcess> worker_;
  CudaBuffers& buffers_;
  Json load_;
  std::string blob_, identity_;
  Json facts_;
  int64_t id_ = 0;
  int generation_ = 0;
  std::optional<uint32_t> poison_;
};

}  // namespace kw::cuda
