#include "measure/busy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace kw {
namespace {

namespace fs = std::filesystem;

// Each counter may be one tick off at either end.
constexpr int64_t kSlackTicks = 2;

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Fields of /proc/PID/stat behind the name, which may itself hold spaces and parentheses; [0] is field 3 of
// proc(5).
std::vector<int64_t> read_stat_fields(const fs::path& path) {
  const std::string text = read_text(path);
  const size_t end = text.rfind(')');
  std::vector<int64_t> fields;
  if (end == std::string::npos) return fields;
  std::istringstream words(text.substr(end + 1));
  for (std::string word; words >> word;) fields.push_back(std::atoll(word.c_str()));
  return fields;
}

void read_cores(const fs::path& proc, LoadSnapshot& snapshot) {
  std::istringstream lines(read_text(proc / "stat"));
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 4 || line.compare(0, 3, "cpu") != 0 || line[3] < '0' || line[3] > '9') continue;
    std::istringstream words(line.substr(3));
    int core = 0;
    words >> core;
    // user nice system idle iowait irq softirq steal; guest time is part of user
    std::vector<int64_t> ticks(8, 0);
    for (int64_t& tick : ticks) words >> tick;
    LoadSnapshot::Core sum;
    for (const int64_t tick : ticks) sum.total += tick;
    sum.busy = sum.total - ticks[3] - ticks[4];
    snapshot.cores[core] = sum;
  }
  if (snapshot.cores.empty()) snapshot.missing = (proc / "stat").string();
}

void add_ended(const fs::path& stat, LoadSnapshot& snapshot) {
  const auto fields = read_stat_fields(stat);
  if (fields.size() >= 15) snapshot.ended_ticks += fields[13] + fields[14];  // cutime, cstime
}

void add_task(const fs::path& stat, int id, LoadSnapshot& snapshot) {
  const auto fields = read_stat_fields(stat);
  if (fields.size() < 37) return;                                                // ended meanwhile
  snapshot.tasks[id] = {fields[11] + fields[12], static_cast<int>(fields[36])};  // utime, stime, processor
}

void add_tree(const fs::path& proc, int process, bool per_thread, LoadSnapshot& snapshot) {
  const fs::path folder = proc / std::to_string(process);
  if (!per_thread) {
    add_task(folder / "stat", process, snapshot);
    add_ended(folder / "stat", snapshot);
  }
  std::error_code error;
  std::vector<int> children;
  for (fs::directory_iterator it(folder / "task", error), end; !error && it != end; it.increment(error)) {
    const int thread = std::atoi(it->path().filename().c_str());
    if (per_thread) add_task(it->path() / "stat", thread, snapshot);
    std::istringstream words(read_text(it->path() / "children"));
    for (int child = 0; words >> child;) children.push_back(child);
  }
  for (const int child : children) add_tree(proc, child, per_thread, snapshot);
}

}  // namespace

std::string MachineLoad::text() const {
  if (!watched) return "";
  if (!other_share) return "machine load unknown: " + unknown;
  return disturbed() ? fmt::format("machine busy: others used {:.0f} % of the cores", 100 * *other_share)
                     : "";
}

LoadSnapshot read_load(const fs::path& proc, int root, bool per_thread) {
  LoadSnapshot snapshot;
  read_cores(proc, snapshot);
  std::error_code error;
  const fs::path children = proc / std::to_string(root) / "task" / std::to_string(root) / "children";
  if (!fs::exists(children, error)) snapshot.missing = children.string();
  add_tree(proc, root, per_thread, snapshot);
  if (per_thread) add_ended(proc / std::to_string(root) / "stat", snapshot);
  return snapshot;
}

MachineLoad compare_loads(const LoadSnapshot& before, const LoadSnapshot& after,
                          const std::vector<int>& cores, EndedChildren ended) {
  const bool ended_here = cores.empty() || ended == EndedChildren::kOnWatchedCores;
  MachineLoad load;
  for (const LoadSnapshot* snapshot : {&before, &after})
    if (!snapshot->missing.empty()) {
      load.unknown = "cannot read " + snapshot->missing;
      return load;
    }
  const auto watched = [&](int core) {
    return cores.empty() || std::find(cores.begin(), cores.end(), core) != cores.end();
  };
  int64_t busy = 0, total = 0;
  for (const auto& [core, ticks] : after.cores) {
    const auto earlier = before.cores.find(core);
    if (!watched(core) || earlier == before.cores.end()) continue;
    busy += ticks.busy - earlier->second.busy;
    total += ticks.total - earlier->second.total;
  }
  int64_t own = 0;
  for (const auto& [id, task] : after.tasks)
    if (watched(task.core)) own += task.ticks;
  for (const auto& [id, task] : before.tasks) {
    const auto later = after.tasks.find(id);
    // An ended child's time has moved into ended_ticks; where it ran is not known from there.
    const bool subtract = later == after.tasks.end() ? ended_here : watched(later->second.core);
    if (subtract) own -= task.ticks;
  }
  if (ended_here) own += after.ended_ticks - before.ended_ticks;
  if (total <= 0) {
    load.unknown = "the system counts no core time";
    return load;
  }
  if (own > busy + kSlackTicks + total / 10) {  // a container that hides the cores' real counters
    load.unknown = "the system's core times do not add up";
    return load;
  }
  load.other_share =
      static_cast<double>(std::max<int64_t>(0, busy - own - kSlackTicks)) / static_cast<double>(total);
  return load;
}

BusyWatch::BusyWatch(std::vector<int> cores, bool enabled, EndedChildren ended)
    : cores_(std::move(cores)), enabled_(enabled), ended_(ended) {
  if (enabled_) before_ = read_load("/proc", getpid(), !cores_.empty());
}

MachineLoad BusyWatch::read() const {
  if (enabled_) return compare_loads(before_, read_load("/proc", getpid(), !cores_.empty()), cores_, ended_);
  MachineLoad load;
  load.watched = false;
  return load;
}

}  // namespace kw
