// Files: whole-file reads, writes that are complete or absent (temp + rename), folders that delete
// themselves.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw {

namespace fs = std::filesystem;

// The whole file; refuses more than max_bytes with a user error.
[[nodiscard]] Result<std::string> read_file(const fs::path& path, size_t max_bytes = size_t{1} << 30);

// Writes beside the target, syncs, renames over it: a reader sees the old file or the new one, never a part.
[[nodiscard]] Status write_file_atomically(const fs::path& path, std::string_view content);

// $XDG_CACHE_HOME/kernelwright or ~/.cache/kernelwright; not created here.
[[nodiscard]] fs::path find_cache_folder();

// A private folder (mode 0700) removed with all it holds when the object dies.
class TempFolder {
 public:
  [[nodiscard]] static Result<TempFolder> make(const fs::path& parent = {});
  TempFolder(TempFolder&& other) noexcept;
  TempFolder& operator=(TempFolder&& other) noexcept;
  ~TempFolder();
  const fs::path& path() const { return path_; }

 private:
  explicit TempFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

}  // namespace kw
