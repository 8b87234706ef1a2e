// Who else used the cores while we measured? In: /proc at two moments. Out: the share of the watched cores'
// time that went to processes outside our own tree, or to the host (steal). Used by measure; changes nothing
// on the machine. Counts in clock ticks (10 ms), so short windows show only gross disturbance. Files that are
// missing or do not add up (containers, other systems) make the load unknown, never "quiet".
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kw {

inline constexpr double kDisturbedShare = 0.05;

struct MachineLoad {
  std::optional<double> other_share;  // 0..1 of the watched cores' time
  std::string unknown;                // why, when there is no share
  bool watched = true;
  bool disturbed() const { return other_share && *other_share > kDisturbedShare; }
  std::string text() const;  // for Timing::note; empty when quiet or not watched
};

// Counters at one moment; ticks since boot.
struct LoadSnapshot {
  struct Core {
    int64_t busy = 0, total = 0;
  };
  struct Task {
    int64_t ticks = 0;
    int core = 0;
  };
  std::map<int, Core> cores;
  std::map<int, Task> tasks;  // our process tree; per thread when cores are named, else per process
  int64_t ended_ticks = 0;    // of children that were waited for; per thread: of the root's only
  std::string missing;        // what could not be read
};

// Reads `proc` for the tree below process `root`.
[[nodiscard]] LoadSnapshot read_load(const std::filesystem::path& proc, int root, bool per_thread);

// Where children ran that ended between two snapshots. With all cores watched it does not matter.
enum class EndedChildren { kElsewhere, kOnWatchedCores };

// Load between two snapshots on `cores` (empty = all).
[[nodiscard]] MachineLoad compare_loads(const LoadSnapshot& before, const LoadSnapshot& after,
                                        const std::vector<int>& cores,
                                        EndedChildren ended = EndedChildren::kElsewhere);

class BusyWatch {
 public:
  // Starts now. `cores`: those that measure, empty = all; then one core's share is diluted by the number of
  // cores.
  explicit BusyWatch(std::vector<int> cores, bool enabled = true,
                     EndedChildren ended = EndedChildren::kElsewhere);
  [[nodiscard]] MachineLoad read() const;

 private:
  std::vector<int> cores_;
  bool enabled_;
  EndedChildren ended_;
  LoadSnapshot before_;
};

}  // namespace kw
