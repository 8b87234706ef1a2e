#include "target/cuda/worker_process.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "target/cuda/worker.h"

namespace kw::cuda {
namespace {

constexpr Milliseconds kStartLimit{120'000};  // creating a context takes seconds on a loaded machine
constexpr Milliseconds kEndLimit{2'000};

std::vector<std::string> make_environment() {
  std::vector<std::string> environment = {"LANG=C", "CUDA_CACHE_DISABLE=1", "CUDA_MODULE_LOADING=LAZY"};
  for (const char* name : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "PATH"})
    if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with("KERNELWRIGHT_")) environment.emplace_back(*entry);
  return environment;
}

std::string describe_exit(const CageExit& exit) {
  if (exit.signal != 0) return fmt::format("signal {} ({})", exit.signal, strsignal(exit.signal));
  return fmt::format("exit code {}", exit.exit_code);
}

}  // namespace

WorkerProcess::~WorkerProcess() { end(); }

std::string WorkerProcess::end() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (!cage_) return "not running";
  const auto exit = cage_->wait(kEndLimit);
  const std::string how = exit ? describe_exit(*exit) : "still running; killed";
  cage_->kill();
  cage_.reset();
  return how;
}

Status WorkerProcess::launch() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail("cannot make a channel to the GPU worker: {}", std::strerror(errno));
  socket_ = pair[0];
  CagePlan plan;
  plan.program = plan_.program;
  plan.arguments = {kCudaWorkerArgument, std::to_string(plan_.ordinal)};
  plan.environment = make_environment();
  plan.descriptors = {pair[1]};
  // The driver reserves terabytes of addresses and opens its device files; what the process runs on the host
  // is ours and the vendor's.
  plan.limits.address_bytes = UINT64_MAX;
  plan.limits.file_bytes = UINT64_MAX;
  plan.limits.open_files = 4096;
  plan.limits.cpu_s = 24 * 3600;
  plan.own_namespaces = false;
  auto cage = Cage::start(plan);
  ::close(pair[1]);
  if (!cage) {
    end();
    return tl::unexpected(cage.error());
  }
  cage_ = std::move(*cage);
  Message hello;
  const Receipt receipt = receive_message(socket_, kStartLimit, hello);
  if (receipt != Receipt::kOk)
    return fail("the GPU worker did not start: {}",
                receipt == Receipt::kTimeout ? "no word in two minutes" : end());
  if (hello.head.contains("error")) {
    end();
    return fail("{}", hello.head["error"].get<std::string>());
  }
  hello_ = std::move(hello.head);
  return {};
}

Result<int> WorkerProcess::start() {
  if (cage_) return generation_;
  if (auto launched = launch(); !launched) {
    end();
    return tl::unexpected(launched.error());
  }
  return ++generation_;
}

Answer WorkerProcess::ask(const Json& request, Milliseconds limit, std::string_view blob, int descriptor) {
  KW_CHECK(cage_.has_value(), "the GPU worker does not run");
  Answer answer;
  Message reply;
  const bool sent = send_message(socket_, request, blob, descriptor);
  const Receipt receipt = sent ? receive_message(socket_, limit, reply) : Receipt::kClosed;
  if (receipt == Receipt::kTimeout) {
    cage_->kill();
    end();
    answer.status = Answer::Status::kTimeout;
    answer.detail = fmt::format("no answer in {} ms", limit.count());
    return answer;
  }
  if (receipt == Receipt::kClosed) {
    answer.status = Answer::Status::kEnded;
    answer.detail = end();
    return answer;
  }
  const bool fault = reply.head.contains("fault"), refused = reply.head.contains("refused");
  if (fault || refused) {
    answer.status = fault ? Answer::Status::kFault : Answer::Status::kRefused;
    answer.code = reply.head.value("code", 0);
    answer.detail = reply.head[fault ? "fault" : "refused"].get<std::string>();
    if (fault) end();
    return answer;
  }
  answer.head = std::move(reply.head);
  answer.blob = std::move(reply.blob);
  return answer;
}

Status to_status(const Answer& answer, const char* what) {
  if (answer.ok()) return {};
  return fail("{}: {}", what, answer.detail);
}

}  // namespace kw::cuda
