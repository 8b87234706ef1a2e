// Disks that are full or read-only, on a tiny file system of our own that only a child process sees.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "selftest/fault_child.h"
#include "selftest/fault_host.h"
#include "selftest/fault_record.h"

namespace kw {
namespace {

constexpr size_t kTinyBytes = 512 << 10;
constexpr int kMostRecords = 5000, kMostKernels = 100;

// Runs `work` in a child where `folder` is a file system of its own.
std::string run_on_disk(Battery& battery, size_t bytes, bool read_only,
                        const std::function<std::string(const fs::path&)>& work) {
  const auto folder = TempFolder::make(battery.folder());
  if (!folder) return folder.error().message;
  return run_in_child([&]() -> std::string {
    if (!mount_tiny_disk(folder->path(), bytes, read_only)) return kCannotInject;
    return work(folder->path());
  });
}

// Adds until the disk is full; then all that was acknowledged must still be there.
std::string fill_store(const DeviceFacts& facts, const fs::path& path) {
  int acknowledged = 0;
  std::string message = "never full";
  {
    auto store = Store::open(path);
    if (!store) return store.error().message;
    const auto run = store->add_run(make_host_run(facts));
    if (!run) return run.error().message;
    for (; acknowledged < kMostRecords; ++acknowledged) {
      const Status added = store->add_evaluations(*run, {make_host_record(acknowledged)});
      if (added) continue;
      message = added.error().message;
      break;
    }
  }
  return fmt::format("{}; {}", message, compare_records(path, facts, acknowledged));
}

std::string fill_cache(const fs::path& folder) {
  const auto compiler = Compiler::find({.cache_folder = folder / "cache"});
  if (!compiler) return compiler.error().message;
  for (int at = 0; at < kMostKernels; ++at) {
    const std::string outcome = describe_compile(*compiler, make_host_source(fmt::format("cache {}", at)));
    if (outcome != "compiled") return outcome;
  }
  return "never full";
}

std::string compile_without_room(Battery& battery, const fs::path& folder) {
  ::setenv("TMPDIR", folder.c_str(), 1);
  {
    std::ofstream filler(folder / "filler", std::ios::binary);
    const std::string block(4096, 'f');
    for (size_t written = 0; written < 2 * kTinyBytes && filler; written += block.size())
      filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush();
  }
  return describe_compile(battery.compiler(), make_host_source("no room"));
}

std::string open_store(const fs::path& path) {
  const auto store = Store::open(path);
  return store ? "opened" : store.error().message;
}

std::string use_cache(const fs::path& folder) {
  const auto compiler = Compiler::find({.cache_folder = folder});
  if (!compiler) return compiler.error().message;
  return describe_compile(*compiler, make_host_source("read-only cache"));
}

}  // namespace

std::vector<HostFault> list_disk_faults() {
  return {
      {"store_on_full_disk",
       "disk full, nothing lost",
       {"disk full", "all kept"},
       [](Battery& battery) {
         const DeviceFacts facts = battery.device().facts();
         return run_on_disk(battery, kTinyBytes, false,
                            [&](const fs::path& folder) { return fill_store(facts, folder / "store.db"); });
       }},
      {"cache_on_full_disk",
       "an error that names the file",
       {"cannot", "cache", "No space left"},
       [](Battery& battery) { return run_on_disk(battery, 48 << 10, false, fill_cache); }},
      {"temporary_folder_full",
       "an error that names the folder",
       {"no room left in", "TMPDIR"},
       [](Battery& battery) {
         return run_on_disk(battery, kTinyBytes, false,
                            [&](const fs::path& folder) { return compile_without_room(battery, folder); });
       }},
      {"store_on_read_only_disk",
       "an error that says so",
       {"store.db", "read-only"},
       [](Battery& battery) {
         return run_on_disk(battery, kTinyBytes, true,
                            [](const fs::path& folder) { return open_store(folder / "store.db"); });
       }},
      {"store_where_no_folder_can_be",
       "an error that names the folder",
       {"cannot make the store's folder", "/proc/kernelwright"},
       [](Battery&) { return open_store("/proc/kernelwright/store.db"); }},
      {"cache_on_read_only_disk",
       "an error that says so",
       {"cache", "Read-only file system"},
       [](Battery& battery) { return run_on_disk(battery, kTinyBytes, true, use_cache); }},
      {"cache_where_no_folder_can_be",
       "an error that names the folder",
       {"cannot make the cache folder", "/proc/kernelwright"},
       [](Battery&) { return use_cache("/proc/kernelwright"); }},
  };
}

}  // namespace kw
