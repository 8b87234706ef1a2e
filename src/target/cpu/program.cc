// The parent's side of a worker: start, run under the outside clock, and what it means when a worker ends.
#include "target/cpu/program.h"

#include <immintrin.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "target/cpu/worker.h"
#include "target/pattern.h"

namespace kw {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;
using FloatUs = std::chrono::duration<double, std::micro>;

constexpr Milliseconds kHelloLimit{60'000};  // mapping and zeroing operands, loading a vendor library
constexpr Milliseconds kEmptyRunLimit{10'000};
constexpr Milliseconds kEndLimit{10'000};  // from a closed channel to the worker's end
constexpr int kEmptyRuns = 50;
constexpr double kLeastSpinUs = 150;  // looked for actively before sleeping on the channel
constexpr double kMostSpinUs = 1000;
constexpr double kWakeShare = 0.1;  // of the expected time: woken this much earlier

// Memory a worker may address besides its mappings: program, libraries, stacks, a vendor's own buffers and
// JIT code.
constexpr uint64_t kCandidateBytes = uint64_t{2} << 30, kBaselineBytes = uint64_t{16} << 30;
constexpr uint64_t kThreadBytes = uint64_t{256} << 20;

std::vector<std::string> make_environment(WorkerKind kind, int threads) {
  std::vector<std::string> environment = {"LANG=C"};
  if (const char* path = std::getenv("LD_LIBRARY_PATH"))
    environment.push_back(fmt::format("LD_LIBRARY_PATH={}", path));
  if (kind == WorkerKind::kCandidate) return environment;
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    environment.push_back(fmt::format("{}={}", name, threads));
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with("KERNELWRIGHT_") ||
        std::string_view(*entry).starts_with("OPENBLAS_CORETYPE="))
      environment.emplace_back(*entry);
  return environment;
}

CagePlan plan_cage(const fs::path& worker, const WorkerThreads& threads, const ProgramSetup& setup,
                   int channel, int program, int operands) {
  const WorkerSetup& header = setup.header;
  const bool candidate = header.kind == WorkerKind::kCandidate;
  CagePlan plan;
  plan.program = worker;
  plan.arguments = {kWorkerArgument};
  plan.environment = make_environment(header.kind, threads.count);
  plan.descriptors = {channel, program, operands};
  plan.cores = threads.cores;
  plan.limits.address_bytes = header.operand_reserved_bytes + header.program_reserved_bytes +
                              (candidate ? kCandidateBytes : kBaselineBytes) +
                              static_cast<uint64_t>(threads.count) * kThreadBytes;
  plan.limits.open_files = candidate ? 16 : 256;
  return plan;
}

std::string describe_exit(const CageExit& exit) {
  if (exit.signal != 0) return fmt::format("signal {} ({})", exit.signal, strsignal(exit.signal));
  return fmt::format("exit code {}", exit.exit_code);
}

}  // namespace

CpuProgram::CpuProgram(Cage cage, int channel, SharedMemory memory, const WorkerThreads& threads,
                       const ProgramSetup& setup, CpuBuffers& buffers, std::string identity)
    : cage_(std::move(cage)),
      channel_(channel),
      memory_(std::move(memory)),
      threads_(threads),
      header_(setup.header),
      scratch_(setup.scratch),
      buffers_(buffers),
      identity_(std::move(identity)),
      tokens_(make_secret_seed()) {}

CpuProgram::~CpuProgram() { ::close(channel_); }

Result<tl::expected<std::unique_ptr<CpuProgram>, Verdict>> CpuProgram::start(
    const fs::path& worker, const WorkerThreads& threads, const ProgramSetup& setup, const CodeImage* image,
    CpuBuffers& buffers, std::string identity) {
  KW_TRY(SharedMemory memory, SharedMemory::make("workspace and scratch of the kernel", setup.file_bytes));
  std::memcpy(memory.bytes().data(), setup.bytes.data(), setup.bytes.size());
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail("cannot make a channel to a worker: {}", std::strerror(errno));
  auto cage =
      Cage::start(plan_cage(worker, threads, setup, ends[1], memory.descriptor(), buffers.descriptor()));
  ::close(ends[1]);
  if (!cage) {
    ::close(ends[0]);
    return tl::unexpected(std::move(cage).error());
  }
  std::unique_ptr<CpuProgram> program(new CpuProgram(*std::move(cage), ends[0], std::move(memory), threads,
                                                     setup, buffers, std::move(identity)));
  KW_TRY(const WorkerHello hello, program->receive_hello());
  program->cage_.remove_folder();
  program->operand_base_ = hello.operand_base;
  program->program_base_ = hello.program_base;
  if (image != nullptr) {
    const Region& code = setup.header.code;
    auto linked =
        link_image(*image, hello.program_base + code.address_offset, hello.memcpy_address,
                   hello.memset_address, program->memory_.bytes().subspan(code.file_offset, code.size_bytes));
    if (!linked) return tl::expected<std::unique_ptr<CpuProgram>, Verdict>(tl::unexpected(linked.error()));
  }
  KW_TRY_VOID(program->measure_round_trip());
  return tl::expected<std::unique_ptr<CpuProgram>, Verdict>(std::move(program));
}

Result<WorkerHello> CpuProgram::receive_hello() {
  WorkerHello hello;
  pollfd ready{channel_, POLLIN, 0};
  int got = 0;
  do got = poll(&ready, 1, static_cast<int>(kHelloLimit.count()));
  while (got < 0 && errno == EINTR);
  if (got == 0) return fail("the worker did not get ready within {} s", kHelloLimit.count() / 1000);
  if (recv(channel_, &hello, sizeof hello, 0) != sizeof hello) {
    const auto exit = cage_.wait(kEndLimit);
    return fail("the worker ended before it was ready: {}", exit ? describe_exit(*exit) : "no reason known");
  }
  hello.text[sizeof hello.text - 1] = '\0';
  if (!hello.ready) return fail("{}", hello.text);
  return hello;
}

Status CpuProgram::measure_round_trip() {
  double least_us = 0;
  for (int i = 0; i < kEmptyRuns; ++i) {
    const RunOutcome outcome = run(0, 0, kEmptyRunLimit);
    if (!outcome.ok()) return fail("the worker does not answer: {}", outcome.detail);
    least_us = i == 0 ? outcome.elapsed_us : std::min(least_us, outcome.elapsed_us);
  }
  // Not the median: on a busy machine that is longer than a short sample, which would then take no time at
  // all.
  round_trip_us_ = least_us;
  return {};
}

void CpuProgram::poison_workspace(uint64_t seed) {
  const auto fill = [&](const Region& region) {
    fill_pattern(memory_.bytes(), region.file_offset, region.file_offset + region.size_bytes, seed);
  };
  fill(header_.workspace);
  for (const Region& region : scratch_) fill(region);
}

// Looking actively takes a core; that must not be one the worker computes on.
bool CpuProgram::may_spin() const {
  const int here = sched_getcpu();
  return std::find(threads_.cores.begin(), threads_.cores.end(), here) == threads_.cores.end();
}

// Between its runs a program is stopped and leaves the cores to whoever is measured next: a vendor's idle
// threads would go on spinning for milliseconds, and a candidate that has taken over its worker for as long
// as it liked.
void CpuProgram::park(bool stop) { ::kill(-cage_.pid(), stop ? SIGSTOP : SIGCONT); }

CpuProgram::Answer CpuProgram::try_receive(uint64_t token, bool& arrived) {
  RunReply reply;
  const ssize_t got = recv(channel_, &reply, sizeof reply, MSG_DONTWAIT);
  arrived = !(got < 0 && (errno == EAGAIN || errno == EINTR));
  if (got <= 0) return Answer::kClosed;
  return got == sizeof reply && reply.token == token ? Answer::kReply : Answer::kUnasked;
}

// Sleeps through most of the expected time, then looks actively where that disturbs nobody, then sleeps.
CpuProgram::Answer CpuProgram::wait_for_reply(uint64_t token, double expected_us,
                                              Clock::time_point deadline) {
  const auto start = Clock::now();
  const double early_us = std::clamp(expected_us * kWakeShare, kLeastSpinUs, kMostSpinUs);
  const auto sleep_until = start + duration_cast<nanoseconds>(FloatUs(std::max(expected_us - early_us, 0.0)));
  const auto spin_until = sleep_until + duration_cast<nanoseconds>(FloatUs(2 * early_us));
  const bool spins = may_spin();
  bool arrived = false;
  while (true) {
    const Answer answer = try_receive(token, arrived);
    if (arrived) return answer;
    const auto now = Clock::now();
    if (now >= deadline) return Answer::kLate;
    if (spins && now >= sleep_until && now < spin_until) {
      _mm_pause();
      continue;
    }
    const auto until = spins && now < sleep_until ? std::min(sleep_until, deadline) : deadline;
    const auto left = std::max(duration_cast<nanoseconds>(until - now), nanoseconds(0)).count();
    const timespec timeout{static_cast<time_t>(left / 1'000'000'000),
                           static_cast<long>(left % 1'000'000'000)};
    pollfd ready{channel_, POLLIN, 0};
    ppoll(&ready, 1, &timeout, nullptr);
  }
}

RunOutcome CpuProgram::run(int first_set, int64_t calls, Milliseconds limit) {
  KW_CHECK(first_set >= 0 && calls >= 0, "first set {}, calls {}", first_set, calls);
  RunOutcome outcome;
  if (!alive_) {
    outcome.status = RunOutcome::Status::kKilled;
    outcome.detail = "the worker has ended before";
    return outcome;
  }
  const RunCommand command{tokens_.next(), first_set, calls, items_reversed_ ? 1U : 0U};
  bool arrived = false;
  Answer answer = try_receive(command.token, arrived);
  park(false);
  const auto start = Clock::now();
  if (!arrived) {
    const bool sent = send(channel_, &command, sizeof command, MSG_NOSIGNAL) == sizeof command;
    answer = sent ? wait_for_reply(command.token, call_us_ * static_cast<double>(calls), start + limit)
                  : Answer::kClosed;
  }
  outcome.elapsed_us = std::max(microseconds_since(start) - round_trip_us_, 0.0);
  const bool stopped = answer == Answer::kLate && cage_.is_stopped();
  park(true);
  if (answer == Answer::kReply) {
    if (calls > 0) call_us_ = outcome.elapsed_us / static_cast<double>(calls);
    return outcome;
  }
  alive_ = false;
  const double elapsed_us = outcome.elapsed_us;
  if (answer == Answer::kClosed) outcome = explain_end();
  cage_.kill();
  outcome.elapsed_us = elapsed_us;
  if (stopped) {
    outcome.status = RunOutcome::Status::kKilled;
    outcome.detail = "the worker was stopped from outside";
  } else if (answer == Answer::kLate) {
    outcome.status = RunOutcome::Status::kTimeout;
    outcome.detail = fmt::format("no end within {} ms", limit.count());
  } else if (answer == Answer::kUnasked) {
    outcome.status = RunOutcome::Status::kForbiddenCall;
    outcome.detail = "a message on the worker's channel that the worker did not owe";
  }
  return outcome;
}

}  // namespace kw
