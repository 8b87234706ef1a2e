// Source -> Binary with the host compiler, through a content-addressed cache that many processes may share.
#pragma once

#include <vector>

#include "base/file.h"
#include "record/candidate.h"
#include "record/device.h"

namespace kw {

struct CompilePlan {
  fs::path cache_folder;                        // created when missing
  int64_t max_cache_bytes = int64_t{512} << 20; // old entries are evicted beyond it
  std::vector<int> cpus;                        // cores that may compile; empty = all, one job each
  Milliseconds limit{30'000};
  size_t max_source_bytes = 1 << 20;
  size_t max_object_bytes = 4 << 20;
};

// Finds the host compiler (KW_CXX, then g++, then clang++) once; the error says what to install.
class Compiler {
 public:
  [[nodiscard]] static Result<Compiler> find(const CompilePlan& plan);
  const std::string& version() const { return version_; }
  // Same length and order as the input. What does not compile or breaks the trust rule is a Verdict.
  [[nodiscard]] std::vector<tl::expected<Binary, Verdict>> compile(const std::vector<Source>& sources) const;
  int64_t compiled() const;  // compiler runs since start; cache hits are not counted

 private:
  CompilePlan plan_;
  std::string path_, version_;
};

}  // namespace kw
