// The process that owns the GPU: our end of it. In: requests. Out: answers, or what became of the process.
// Started when first asked and again after it ended; buffers and programs notice by the generation and set
// themselves up anew. Called by device, buffers and program. Knows no request's meaning.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "cage/cage.h"
#include "target/cuda/message.h"

namespace kw::cuda {

struct Answer {
  enum class Status {
    kOk,
    kRefused,  // the request cannot be met; the process lives
    kFault,    // the GPU reported an error that ends the context; the process is gone
    kTimeout,  // no answer in time; killed
    kEnded,    // the process is gone for another reason
  };
  Status status = Status::kOk;
  int code = 0;        // CUDA error of kRefused and kFault
  std::string detail;  // for people
  Json head;           // of kOk
  std::string blob;
  bool ok() const { return status == Status::kOk; }
};

class WorkerProcess {
 public:
  struct Plan {
    fs::path program;  // this executable: its hidden role `cuda_worker`
    int ordinal = 0;   // of the GPU
  };
  explicit WorkerProcess(Plan plan) : plan_(std::move(plan)) {}
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Starts the process when none runs; the number of the one that runs, from 1. The error says what the
  // machine lacks.
  [[nodiscard]] Result<int> start();
  // Sends and waits. start() must have succeeded; after kFault, kTimeout and kEnded it is due again.
  [[nodiscard]] Answer ask(const Json& request, Milliseconds limit, std::string_view blob = {},
                           int descriptor = -1);
  int generation() const { return generation_; }
  bool runs() const { return cage_.has_value(); }
  // What the process said of device and driver when it started.
  const Json& hello() const { return hello_; }

 private:
  [[nodiscard]] Status launch();
  std::string end();  // kills and reaps; how it ended

  Plan plan_;
  std::optional<Cage> cage_;
  int socket_ = -1, generation_ = 0;
  Json hello_;
};

// Requests of an answer that is an error of ours or of the machine.
[[nodiscard]] Status to_status(const Answer& answer, const char* what);

}  // namespace kw::cuda
