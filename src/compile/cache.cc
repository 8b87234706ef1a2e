#include "compile/cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/hash.h"
#include "base/json.h"

namespace kw {
namespace {

constexpr size_t kMaxEntryBytes = size_t{64} << 20;
constexpr std::chrono::minutes kClockSlack{1};  // between this clock and a file server's

std::string print_entry(const CacheEntry& entry) {
  const Json facts = {{"error_code", entry.error_code},
                      {"message", entry.message},
                      {"compile_us", entry.compile_us},
                      {"stack_bytes", entry.stack_bytes}};
  const std::string body = facts.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n" + entry.object;
  return hash_parts({body}) + "\n" + body;
}

std::optional<CacheEntry> parse_entry(std::string_view text) {
  const size_t first = text.find('\n');
  if (first == std::string_view::npos) return std::nullopt;
  const std::string_view body = text.substr(first + 1);
  if (hash_parts({body}) != text.substr(0, first)) return std::nullopt;
  const size_t second = body.find('\n');
  const auto facts = parse_json(body.substr(0, second), "cache entry");
  if (second == std::string_view::npos || !facts) return std::nullopt;
  CacheEntry entry;
  entry.object = std::string(body.substr(second + 1));
  entry.error_code = facts->value("error_code", "");
  entry.message = facts->value("message", "");
  entry.compile_us = facts->value("compile_us", 0.0);
  entry.stack_bytes = facts->value("stack_bytes", int64_t{0});
  return entry;
}

}  // namespace

Result<ObjectCache> ObjectCache::open(const fs::path& folder, int64_t max_bytes) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return fail("cannot make the cache folder {}: {}", folder.string(), code.message());
  return ObjectCache(folder, max_bytes);
}

std::optional<CacheEntry> ObjectCache::find(const std::string& hash) const {
  const fs::path path = path_of(hash);
  const auto text = read_file(path, kMaxEntryBytes);
  if (!text) return std::nullopt;
  auto entry = parse_entry(*text);
  if (entry)
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // last use, for evict; failing costs only its place
  return entry;
}

Status ObjectCache::put(const std::string& hash, const CacheEntry& entry) const {
  const fs::path path = path_of(hash);
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  if (code) return fail("cannot make the cache folder {}: {}", path.parent_path().string(), code.message());
  return write_file_atomically(path, print_entry(entry));
}

int64_t ObjectCache::evict() const {
  struct File {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  const auto now = fs::file_time_type::clock::now() + kClockSlack;
  std::vector<File> files;
  int64_t total_bytes = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator at(folder_, code), end; !code && at != end; at.increment(code)) {
    std::error_code gone;  // another process may remove entries while we look
    if (!at->is_regular_file(gone)) continue;
    const auto used = at->last_write_time(gone);
    const auto bytes = static_cast<int64_t>(at->file_size(gone));
    if (gone) continue;
    // Used in the future: the clock was wrong then or is now. Else such entries would outlive all new ones.
    files.push_back({used > now ? fs::file_time_type::min() : used, bytes, at->path()});
    total_bytes += bytes;
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  int64_t removed = 0;
  for (const File& file : files) {
    if (total_bytes <= max_bytes_) break;
    std::error_code gone;
    if (fs::remove(file.path, gone)) ++removed;
    total_bytes -= file.bytes;
  }
  return removed;
}

}  // namespace kw
