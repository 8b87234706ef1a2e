// Stores that are locked by somebody else, damaged, or left by a killed process; and the records they hold.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <optional>

#include "base/hash.h"
#include "selftest/fault_child.h"
#include "selftest/fault_host.h"
#include "selftest/fault_record.h"
#include "store/database.h"
#include "store/device_lock.h"
#include "store/query.h"

namespace kw {
namespace {

constexpr const char* kRecordProblem = "gemm f32 nn m8 n8 k8 lda8 ldb8 ldc8 alpha1 beta0";
constexpr size_t kRecordBytes = 3000;
constexpr int kBusyMs = 300;
constexpr int kRecords = 60;

// Starts a process that does `work` and then waits; returns when the work is done, or -1.
pid_t start_holder(const std::function<bool()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t holder = ::fork();
  if (holder == 0) {
    if (work() && ::write(ends[1], "y", 1) == 1) ::pause();
    ::_exit(1);
  }
  ::close(ends[1]);
  char answer = 0;
  const bool ready = ::read(ends[0], &answer, 1) == 1;
  ::close(ends[0]);
  return ready ? holder : -1;
}

void end_holder(pid_t holder) {
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
}

Status make_store(const fs::path& path, const DeviceFacts& facts) {
  KW_TRY(Store store, Store::open(path));
  KW_TRY(const int64_t run, store.add_run(make_host_run(facts)));
  for (int number = 0; number < kRecords; ++number)
    KW_TRY_VOID(store.add_evaluations(run, {make_host_record(number)}));
  return store.finish_run(run, "done");
}

// Waits as long as it was told to, names the holder, and goes on once the holder is gone.
std::string meet_lock(const DeviceFacts& facts, const fs::path& path) {
  std::unique_ptr<Database> held;
  if (const Status made = make_store(path, facts); !made) return made.error().message;
  const pid_t holder = start_holder([&] {
    auto database = Database::open(path, Database::Mode::kWrite, 0);
    if (!database) return false;
    held = std::move(*database);
    return held->run("BEGIN IMMEDIATE").has_value();
  });
  if (holder < 0) return "the holder could not lock";
  const auto start = Clock::now();
  auto database = Database::open(path, Database::Mode::kWrite, kBusyMs);
  if (!database) return database.error().message;
  const Status locked = (*database)->run("BEGIN IMMEDIATE");
  const bool bounded = seconds_since(start) < 10;
  end_holder(holder);
  if (locked) return "both hold the lock";
  const bool again = (*database)->run("BEGIN IMMEDIATE").has_value();
  return fmt::format("{}; {}, {}", locked.error().message, bounded ? "bounded wait" : "long wait",
                     again ? "free afterwards" : "locked for ever");
}

std::string damage_store(const DeviceFacts& facts, const fs::path& path) {
  if (const Status made = make_store(path, facts); !made) return made.error().message;
  auto content = read_file(path);
  if (!content) return content.error().message;
  for (size_t at = 4096 * 3; at + 4096 < content->size(); at += 2 * 4096)
    content->replace(at, 2000, std::string(2000, '\xa5'));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << *content;
  const auto store = Store::open(path);
  if (store) return "opened";
  const auto after = read_file(path);
  const bool same = after && hash_parts({*after}) == hash_parts({*content});
  return fmt::format("{}; {}", store.error().message, same ? "file left as it was" : "file changed");
}

// kill -9 of a writer whose log is not merged yet: everything that was acknowledged is there.
std::string kill_writer(const DeviceFacts& facts, const fs::path& path) {
  std::optional<Store> open;
  const pid_t writer = start_holder([&] {
    auto store = Store::open(path);
    if (!store) return false;
    open = std::move(*store);
    const auto run = open->add_run(make_host_run(facts));
    bool ok = run.has_value();
    for (int number = 0; ok && number < kRecords; ++number)
      ok = open->add_evaluations(*run, {make_host_record(number)}).has_value();
    return ok;
  });
  if (writer < 0) return "the writer could not write";
  end_holder(writer);
  return compare_records(path, facts, kRecords);
}

std::string meet_stale_device_lock(const fs::path& folder) {
  std::optional<DeviceLock> held;
  const pid_t holder = start_holder([&] {
    auto lock = DeviceLock::try_take("selftest", folder);
    if (!lock || !*lock) return false;
    held = std::move(**lock);
    return true;
  });
  if (holder < 0) return "the holder could not lock";
  const auto busy = DeviceLock::try_take("selftest", folder);
  if (!busy) return busy.error().message;
  end_holder(holder);
  const auto free = DeviceLock::try_take("selftest", folder);
  if (!free) return free.error().message;
  return fmt::format("{} while it lives, {} after kill -9", *busy ? "free" : "taken",
                     *free ? "free" : "taken");
}

template <class Work>
std::string run_in_folder(Battery& battery, const Work& work) {
  const auto folder = TempFolder::make(battery.folder());
  if (!folder) return folder.error().message;
  return run_in_child([&] { return work(folder->path()); });
}

}  // namespace

RunRecord make_host_run(const DeviceFacts& device) { return {"selftest", 1, device, "selftest"}; }

Evaluation make_host_record(int number) {
  Evaluation evaluation;
  evaluation.problem = kRecordProblem;
  evaluation.proposal.proposer = "selftest";
  evaluation.proposal.family = "gemm_cpu";
  evaluation.proposal.schedule = fmt::format("record {}", number);
  evaluation.kernel_name = evaluation.proposal.schedule;
  evaluation.verdict.klass = VerdictClass::kCompileError;
  evaluation.verdict.reason = "syntax";
  evaluation.verdict.evidence["message"] = std::string(kRecordBytes, 'm');
  return evaluation;
}

std::string compare_records(const fs::path& path, const DeviceFacts& device, int count) {
  const auto store = Store::open_read_only(path);
  if (!store) return store.error().message;
  const auto found = find_evaluations(*store, kRecordProblem, device.key());
  if (!found) return found.error().message;
  const auto kept = static_cast<int>(found->size());
  return kept == count || kept == count + 1 ? "all kept" : fmt::format("{} of {} kept", kept, count);
}

std::vector<HostFault> list_store_faults() {
  return {
      {"store_locked_by_another",
       "bounded wait, an error that says so, free afterwards",
       {"is locked by", "bounded wait", "free afterwards"},
       [](Battery& battery) {
         const DeviceFacts facts = battery.device().facts();
         return run_in_folder(battery, [&](const fs::path& f) { return meet_lock(facts, f / "store.db"); });
       }},
      {"store_damaged",
       "an error that says so, file left as it was",
       {"is damaged", "file left as it was"},
       [](Battery& battery) {
         const DeviceFacts facts = battery.device().facts();
         return run_in_folder(battery,
                              [&](const fs::path& f) { return damage_store(facts, f / "store.db"); });
       }},
      {"store_writer_killed",
       "all that was acknowledged is kept",
       {"all kept"},
       [](Battery& battery) {
         const DeviceFacts facts = battery.device().facts();
         return run_in_folder(battery, [&](const fs::path& f) { return kill_writer(facts, f / "store.db"); });
       }},
      {"device_lock_of_a_killed_process",
       "taken while it lives, free after kill -9",
       {"taken while it lives, free after kill -9"},
       [](Battery& battery) { return run_in_folder(battery, meet_stale_device_lock); }},
  };
}

}  // namespace kw
