// Too few processes, descriptors or bytes; many processes at one cold cache; processes killed in the middle;
// clocks that jump.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "problem/workload.h"
#include "selftest/fault_child.h"
#include "selftest/fault_footprint.h"
#include "selftest/fault_host.h"
#include "target/cpu/device.h"

namespace kw {
namespace {

constexpr uid_t kNobody = 65534;
constexpr int kProcesses = 16;
constexpr useconds_t kMidwayUs = 150'000;
constexpr int64_t kHugeSize = int64_t{1} << 20;

Result<Binary> build(Battery& battery) {
  KW_TRY(auto binary, battery.compiler().compile_one(make_host_source("start"), -1));
  if (!binary) return fail("the kernel does not compile: {}", binary.error().code());
  return *std::move(binary);
}

std::string start_kernel(Device& device, const Binary& binary) {
  const auto buffers = device.make_buffers(Workload{}, {});
  if (!buffers) return buffers.error().message;
  const auto program = device.start_candidate(binary, **buffers);
  if (!program) return program.error().message;
  return *program ? "started" : program->error().code();
}

std::string start_without_processes(Battery& battery) {
  const auto binary = build(battery);
  if (!binary) return binary.error().message;
  return run_in_child([&]() -> std::string {
    const rlimit none{0, 0};
    ::setenv("TMPDIR", "/tmp", 1);
    if (::setrlimit(RLIMIT_NPROC, &none) != 0) return kCannotInject;
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) return kCannotInject;
    return start_kernel(battery.device(), *binary);
  });
}

std::string start_missing_worker(Battery& battery) {
  CpuDevicePlan plan;
  plan.worker = "/nonexistent/worker";
  const auto device = make_cpu_device(plan);
  const auto binary = build(battery);
  if (!device || !binary) return !device ? device.error().message : binary.error().message;
  return start_kernel(**device, *binary);
}

std::string compile_without_descriptors(Battery& battery) {
  return run_in_child([&]() -> std::string {
    const auto open_now = static_cast<rlim_t>(read_footprint(battery.folder()).descriptors);
    const rlimit few{open_now + 1, open_now + 1};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return kCannotInject;
    return describe_compile(battery.compiler(), make_host_source("no descriptors"));
  });
}

std::string ask_for_too_much(Battery& battery) {
  Problem problem;
  problem.m = problem.n = problem.k = kHugeSize;
  const auto buffers = battery.device().make_buffers(make_workload(with_tight_strides(problem)), {});
  return buffers ? "given" : buffers.error().message;
}

std::string compile_in_many_processes(Battery& battery) {
  const auto folder = TempFolder::make(battery.folder());
  if (!folder) return folder.error().message;
  const fs::path cache = folder->path() / "cache";
  std::vector<pid_t> children;
  for (int at = 0; at < kProcesses; ++at) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    const auto compiler = Compiler::find({.cache_folder = cache});
    ::_exit(compiler && describe_compile(*compiler, make_host_source("many")) == "compiled" ? 0 : 1);
  }
  int succeeded = 0;
  for (const pid_t child : children) {
    int status = 1;
    succeeded += ::waitpid(child, &status, 0) == child && status == 0;
  }
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(cache)) files += entry.is_regular_file();
  return fmt::format("{} of {} succeed, {} cache entry", succeeded, kProcesses, files);
}

// kill -9 of a process whose compiler is at work, twice; then the same kernel again.
std::string compile_after_kill(Battery& battery) {
  const auto folder = TempFolder::make(battery.folder());
  if (!folder) return folder.error().message;
  const auto compiler = make_script_compiler(folder->path(), "sleep 0.5\nexec g++ \"$@\"",
                                             {.cache_folder = folder->path() / "cache"});
  if (!compiler) return compiler.error().message;
  for (int round = 0; round < 2; ++round) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(describe_compile(*compiler, make_host_source("killed")) == "compiled" ? 0 : 1);
    ::usleep(kMidwayUs);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) return "ended before it was killed";
  }
  const auto start = Clock::now();
  const std::string outcome = describe_compile(*compiler, make_host_source("killed"));
  return fmt::format("{}, {}", outcome, seconds_since(start) < 20 ? "bounded wait" : "long wait");
}

// The wall clock may jump: time is measured on another, and cache entries dated after now do not outlive new
// ones.
std::string survive_clock_jump(Battery& battery) {
  if (!Clock::is_steady) return "measures on a clock that can jump";
  const auto folder = TempFolder::make(battery.folder());
  if (!folder) return folder.error().message;
  CacheEntry entry;
  entry.object = std::string(10'000, 'x');
  const auto cache = ObjectCache::open(folder->path(), 25'000);
  if (!cache) return cache.error().message;
  for (const char* hash : {"aa", "bb", "cc"})
    if (const Status put = cache->put(hash, entry); !put) return put.error().message;
  std::error_code code;
  fs::last_write_time(folder->path() / "aa" / "aa",
                      fs::file_time_type::clock::now() + std::chrono::hours(9000), code);
  const int64_t removed = cache->evict();
  return fmt::format("steady clock, {} entry removed, {}", removed,
                     cache->find("aa") ? "the one from the future stayed" : "the one from the future");
}

}  // namespace

Source make_host_source(const std::string& mark) {
  Source source;
  source.text = fmt::format("extern \"C\" void gemm(long long, const void*) {{}}\n// {}\n", mark);
  source.name = "gemm";
  source.launch.kernels = {{"gemm", Expression()}};
  source.launch.isa = "none";
  return source;
}

std::string describe_compile(const Compiler& compiler, const Source& source) {
  const auto outcome = compiler.compile_one(source, -1);
  if (!outcome) return outcome.error().message;
  return *outcome ? "compiled" : outcome->error().code();
}

std::vector<HostFault> list_process_faults() {
  return {
      {"no_process_for_a_worker",
       "an error that says so",
       {"cannot start a worker process"},
       start_without_processes},
      {"worker_program_missing",
       "an error that names it",
       {"cannot start worker /nonexistent/worker"},
       start_missing_worker},
      {"no_descriptors", "an error that says so", {"Too many open files"}, compile_without_descriptors},
      {"no_memory_for_operands",
       "needs, has and what to do",
       {"need", "MiB of memory", "free"},
       ask_for_too_much},
      {"many_processes_one_cold_cache",
       "16 of 16 succeed, 1 cache entry",
       {"16 of 16 succeed, 1 cache entry"},
       compile_in_many_processes},
      {"compiling_process_killed", "compiled, bounded wait", {"compiled, bounded wait"}, compile_after_kill},
      {"clock_jumps",
       "steady clock, 1 entry removed, the one from the future",
       {"steady clock", "1 entry removed, the one from the future"},
       survive_clock_jump},
  };
}

}  // namespace kw
