// Content-addressed compile cache: one file an entry, complete or absent (temp + rename), its content hash
// inside, so that a torn or edited entry is noticed and rebuilt. Many processes may share a folder; losing a
// race is fine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace kw {

// What the compiler made of a source: an object, or the message why not.
struct CacheEntry {
  std::string object;      // empty when it did not compile
  std::string error_code;  // "syntax", "timeout", ...; empty when it compiled
  std::string message;     // the compiler's words, trimmed
  double compile_us = 0;
  int64_t stack_bytes = 0;  // largest frame, from -fstack-usage
};

class ObjectCache {
 public:
  // Creates the folder. Errors: not writable, not a folder.
  [[nodiscard]] static Result<ObjectCache> open(const fs::path& folder, int64_t max_bytes);

  // Absent, torn or unreadable entries are nullopt; a hit is marked as used.
  [[nodiscard]] std::optional<CacheEntry> find(const std::string& hash) const;
  [[nodiscard]] Status put(const std::string& hash, const CacheEntry& entry) const;

  // Removes the entries longest unused until the rest fits; returns how many went.
  [[nodiscard]] int64_t evict() const;

 private:
  ObjectCache(fs::path folder, int64_t max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  fs::path path_of(const std::string& hash) const { return folder_ / hash.substr(0, 2) / hash; }
  fs::path folder_;
  int64_t max_bytes_;
};

}  // namespace kw
