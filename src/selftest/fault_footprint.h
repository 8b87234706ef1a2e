// What this process holds at a moment: children, descriptors, mapped memory files, files in its temporary
// folder, memory. Two of them show whether a run leaked. Reads /proc; changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"

namespace kw {

struct Footprint {
  std::vector<int>
      children;  // processes whose parent we are, ended ones too while nobody has waited for them
  int64_t descriptors = 0;
  int64_t memory_files = 0;  // mappings of memory files
  int64_t files = 0;         // in the temporary folder, folders counted too
  int64_t resident_kb = 0;
};

[[nodiscard]] Footprint read_footprint(const fs::path& temp_folder);

// Children of this process now.
[[nodiscard]] std::vector<int> find_children();

// Waits for children that have ended. Only where no caller expects to wait for one itself.
void reap_orphans();

// TMPDIR points to a new folder inside `parent` while this lives. No other thread may read the environment.
class TempRedirect {
 public:
  [[nodiscard]] static Result<TempRedirect> make(const fs::path& parent);
  TempRedirect(TempRedirect&&) noexcept = default;
  TempRedirect& operator=(TempRedirect&&) = delete;
  ~TempRedirect();
  const fs::path& path() const { return folder_.path(); }

 private:
  explicit TempRedirect(TempFolder folder);
  TempFolder folder_;
  std::string before_;
  bool was_set_ = false;
};

}  // namespace kw
