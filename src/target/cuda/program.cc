#include "target/cuda/program.h"

#include <atomic>
#include <csignal>

#include "target/cuda/driver_abi.h"

namespace kw::cuda {
namespace {

constexpr Milliseconds kLoadLimit{60'000};
constexpr double kServeSlack = 4;  // of the time that the gaps take by themselves

std::atomic<int64_t> next_id{1};

// The CPU's names for what the GPU reports, so that verdicts read alike.
int to_signal(int code) {
  switch (code) {
    case kErrorIllegalAddress:
    case kErrorInvalidAddressSpace:
    case kErrorInvalidPc:
      return SIGSEGV;
    case kErrorMisalignedAddress:
      return SIGBUS;
    case kErrorIllegalInstruction:
      return SIGILL;
    case kErrorLaunchFailed:
    case kErrorAssert:
      return SIGTRAP;
    default:
      return SIGABRT;
  }
}

RunOutcome explain(const Answer& answer) {
  using Status = RunOutcome::Status;
  RunOutcome outcome;
  outcome.detail = answer.detail;
  switch (answer.status) {
    case Answer::Status::kOk:
      return outcome;
    case Answer::Status::kRefused:
      outcome.status = Status::kRefused;
      return outcome;
    case Answer::Status::kFault:
      outcome.status = Status::kFault;
      outcome.signal = to_signal(answer.code);
      return outcome;
    case Answer::Status::kTimeout:
      outcome.status = Status::kTimeout;
      return outcome;
    case Answer::Status::kEnded:
      outcome.status = Status::kKilled;
      outcome.signal = SIGKILL;
      return outcome;
  }
  return outcome;
}

}  // namespace

CudaProgram::CudaProgram(std::shared_ptr<WorkerProcess> worker, CudaBuffers& buffers, Json load,
                         std::string blob, std::string identity)
    : worker_(std::move(worker)),
      buffers_(buffers),
      load_(std::move(load)),
      blob_(std::move(blob)),
      identity_(std::move(identity)),
      id_(next_id++) {
  load_["block"] = buffers_.id();
  load_["program"] = id_;
}

CudaProgram::~CudaProgram() {
  if (worker_->runs() && worker_->generation() == generation_) [[maybe_unused]]
    const Answer gone = worker_->ask({{"do", "drop"}, {"program", id_}}, kLoadLimit);
}

Result<Answer> CudaProgram::start() {
  KW_TRY_VOID(buffers_.bind());
  if (generation_ == worker_->generation()) return Answer();
  Answer answer = worker_->ask(load_, kLoadLimit, blob_);
  if (!answer.ok()) return answer;
  generation_ = worker_->generation();
  facts_ = answer.head.value("kernels", Json::array());
  if (answer.head.contains("identity")) identity_ = answer.head["identity"].get<std::string>();
  return answer;
}

RunOutcome CudaProgram::run(int first_set, int64_t calls, Milliseconds limit) {
  const auto started = start();
  if (!started) return {.status = RunOutcome::Status::kExit, .detail = started.error().message};
  if (!started->ok()) return explain(*started);
  Json request = {{"do", "run"},
                  {"program", id_},
                  {"block", buffers_.id()},
                  {"first_set", first_set},
                  {"calls", calls},
                  {"before", buffers_.take_copies(first_set, calls)},
                  {"after", buffers_.list_copies_back()}};
  if (poison_) request["poison"] = *poison_;
  poison_.reset();
  const Answer answer = worker_->ask(request, limit);
  RunOutcome outcome = explain(answer);
  if (!answer.ok()) return outcome;
  buffers_.note_run(first_set, calls);
  outcome.elapsed_us = answer.head["elapsed_us"];
  return outcome;
}

Result<std::vector<ServerCall>> CudaProgram::serve(int64_t calls, double rate_hz, uint64_t seed) {
  KW_TRY(const Answer started, start());
  KW_TRY_VOID(to_status(started, "load for server mode"));
  const Json request = {{"do", "serve"},
                        {"program", id_},
                        {"block", buffers_.id()},
                        {"calls", calls},
                        {"rate_hz", rate_hz},
                        {"seed", seed},
                        {"before", buffers_.take_copies(0, buffers_.sets())}};
  const double gaps_ms = 1e3 * static_cast<double>(calls) / rate_hz;
  const Answer answer =
      worker_->ask(request, kLoadLimit + Milliseconds(static_cast<int64_t>(kServeSlack * gaps_ms)));
  KW_TRY_VOID(to_status(answer, "server mode"));
  buffers_.note_run(0, buffers_.sets());
  std::vector<ServerCall> times;
  const Json &device_us = answer.head["device_us"], &host_us = answer.head["host_us"];
  for (size_t at = 0; at < device_us.size(); ++at) times.push_back({device_us[at], host_us[at]});
  return times;
}

}  // namespace kw::cuda
