// Source -> Binary with the host compiler or NVRTC, through a content-addressed cache that many processes may
// share. Called by loop. Runs only the compiler; what an object may contain is checked where it is loaded
// (target).
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "compile/cache.h"
#include "record/candidate.h"

namespace kw {

struct CompilePlan {
  // "sm_90a": NVRTC makes cubins for this GPU, in a process of this executable. Empty: the host compiler.
  std::string architecture;
  std::string compiler;  // program; empty = what KERNELWRIGHT_CXX names, else g++, else clang++
  fs::path cache_folder = find_cache_folder() / "objects";
  int64_t max_cache_bytes = int64_t{512} << 20;
  int max_cpu_s = 20;           // of one compilation; processor time, so that a busy machine fails no kernel
  Milliseconds limit{600'000};  // on the wall, for a compiler that sleeps
  size_t max_source_bytes = 1 << 20;
  size_t max_object_bytes = 4 << 20;
  size_t max_memory_bytes = size_t{3} << 30;  // address space of the compiler
};

// All flags that a source is compiled with by a compiler of this version, in order.
[[nodiscard]] std::vector<std::string> list_flags(const Source& source, std::string_view compiler_version);
// The hash of Compiler::source_hash from its parts, also for a build made elsewhere.
[[nodiscard]] std::string hash_source(const Source& source, const std::vector<std::string>& flags,
                                      const std::string& compiler_version);

class Compiler {
 public:
  // Finds the host compiler (CompilePlan::compiler) or NVRTC; the error says what to install.
  [[nodiscard]] static Result<Compiler> find(const CompilePlan& plan);

  const std::string& version() const { return version_; }  // "g++ (Debian ...) 12.2.0", "NVRTC 13.0 sm_90a"

  // Hash of all that determines the object's bytes: text, language, flags, compiler version.
  [[nodiscard]] std::string source_hash(const Source& source) const;

  // All of `sources` now, on the calling thread (unpinned). See CompileBatch for the result.
  [[nodiscard]] Result<std::vector<tl::expected<Binary, Verdict>>> compile(
      const std::vector<Source>& sources) const;

  // One source on one core (-1 = not pinned), giving way to everything else.
  [[nodiscard]] Result<tl::expected<Binary, Verdict>> compile_one(const Source& source, int cpu) const;

  // Brings the cache down to its limit when enough was added since the last look.
  void limit_cache() const;

  // Compiler runs so far; cache hits are not counted.
  int64_t runs() const { return runs_->load(); }

 private:
  Compiler(CompilePlan plan, ObjectCache cache) : plan_(std::move(plan)), cache_(std::move(cache)) {}
  [[nodiscard]] static Result<Compiler> find_host(const CompilePlan& plan);
  [[nodiscard]] static Result<Compiler> find_nvrtc(const CompilePlan& plan);
  Command make_command(const Source& source, const fs::path& folder, int cpu) const;
  Result<CacheEntry> run_compiler(const Source& source, int cpu) const;

  CompilePlan plan_;
  ObjectCache cache_;
  std::string path_, version_, include_folder_;
  std::shared_ptr<std::atomic<int64_t>> runs_ = std::make_shared<std::atomic<int64_t>>(0);
  std::shared_ptr<std::atomic<int64_t>> runs_at_eviction_ = std::make_shared<std::atomic<int64_t>>(0);
};

// Sources being compiled in the background, one job per core, while the caller does something else.
class CompileBatch {
 public:
  using Results = std::vector<tl::expected<Binary, Verdict>>;

  // Starts at once. `compiler` must outlive the batch.
  CompileBatch(const Compiler& compiler, std::vector<Source> sources, const std::vector<int>& cpus);

  // Works along on `cpu` (-1 = not pinned) until nothing is left, then waits. Same length and order as the
  // sources: what does not compile is a Verdict (compile_error/...); an Error means that cache or compiler
  // failed us.
  [[nodiscard]] Result<Results> finish(int cpu);

 private:
  void work(int cpu);

  const Compiler& compiler_;
  std::vector<Source> sources_;
  std::vector<Result<tl::expected<Binary, Verdict>>> outcomes_;
  std::atomic<size_t> next_{0};
  std::vector<std::jthread> threads_;
};

}  // namespace kw
