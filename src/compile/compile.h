// Source -> Binary with the host compiler, through a content-addressed cache that many processes may share.
// Called by loop. Runs only the compiler; what an object may contain is checked where it is loaded (target).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/file.h"
#include "base/clock.h"
#include "compile/cache.h"
#include "record/candidate.h"

namespace kw {

struct CompilePlan {
  fs::path cache_folder = find_cache_folder() / "objects";
  int64_t max_cache_bytes = int64_t{512} << 20;
  Milliseconds limit{30'000};
  size_t max_source_bytes = 1 << 20;
  size_t max_object_bytes = 4 << 20;
};

class Compiler {
 public:
  // Finds the host compiler (KW_CXX, then g++, then clang++); the error says what to install.
  [[nodiscard]] static Result<Compiler> find(const CompilePlan& plan);

  const std::string& version() const { return version_; }  // "g++ (Debian ...) 12.2.0"

  // Hash of all that determines the object's bytes: text, language, flags, compiler version.
  [[nodiscard]] std::string source_hash(const Source& source) const;

  // Same length and order as the input; one job per core of `cpus`, pinned, giving way to everything else.
  // What does not compile is a Verdict (compile_error/...). An Error means that the cache or the compiler failed us.
  [[nodiscard]] Result<std::vector<tl::expected<Binary, Verdict>>> compile(const std::vector<Source>& sources,
                                                                           const std::vector<int>& cpus) const;

  // Compiler runs so far; cache hits are not counted.
  int64_t runs() const { return runs_->load(); }

 private:
  Compiler(CompilePlan plan, ObjectCache cache) : plan_(std::move(plan)), cache_(std::move(cache)) {}
  Result<tl::expected<Binary, Verdict>> compile_one(const Source& source, int cpu) const;
  Result<CacheEntry> run_compiler(const Source& source, int cpu) const;
  std::vector<std::string> flags_of(const Source& source) const;

  CompilePlan plan_;
  ObjectCache cache_;
  std::string path_, version_, include_folder_;
  std::shared_ptr<std::atomic<int64_t>> runs_ = std::make_shared<std::atomic<int64_t>>(0);
};

}  // namespace kw
