// The real stages put together for kernels with a known verdict: emit, compile, verify on a device of this
// machine, its cores (f32) or its GPU (f16). Used by every section of the selftest; keeps checks and binaries
// so that each is made once. Judges nothing itself.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "compile/compile.h"
#include "record/check.h"
#include "selftest/corpus.h"
#include "target/device.h"
#include "verify/verify.h"

namespace kw {

// What became of a kernel, and which stage said so.
struct Judged {
  Verdict verdict;
  std::string caught;  // "source rules", "compiler", "loader", "worker", "comparison"; empty for a pass
};

class Battery {
 public:
  // "cpu": opens devices of one and, where the machine has them, two threads. "cuda": the GPU. And a compiler
  // with a cache of its own.
  [[nodiscard]] static Result<Battery> make(const std::string& target = "cpu");

  // Through source rules and compiler; a Verdict when either refuses. Cached by name.
  [[nodiscard]] Result<tl::expected<Binary, Judged>> build(const CorpusKernel& kernel);
  // Through every stage: odd sizes with gaps, both kinds of beta, a square, samples of the domain. A kernel
  // whose expected verdict is a hang gets a short limit.
  [[nodiscard]] Result<Judged> judge(const CorpusKernel& kernel, int threads, uint64_t seed);
  // From the loader on; `hangs` gives it the short limit.
  [[nodiscard]] Result<Judged> judge_binary(const Binary& binary, int threads, uint64_t seed,
                                            bool hangs = false);
  [[nodiscard]] Result<Judged> judge_vendor(const std::string& name, Layout layout, uint64_t seed);
  // Vendor routines that can compute any of the checks of a layout.
  [[nodiscard]] Result<std::set<std::string>> find_vendors(Layout layout, uint64_t seed);
  [[nodiscard]] Result<const std::vector<Check>*> find_checks(Layout layout, uint64_t seed);
  // A schedule of a family through every stage, on checks of its own domain and element type.
  [[nodiscard]] Result<Judged> judge_schedule(const Problem& problem, const std::string& family,
                                              const std::string& key, const std::vector<int64_t>& tile,
                                              uint64_t seed);

  [[nodiscard]] bool has_threads(int threads) const { return devices_.contains(threads); }
  // Enough cores, and the instructions that the launch record names.
  [[nodiscard]] bool can_run(const CorpusKernel& kernel, int threads) const;
  [[nodiscard]] Device& device(int threads = 1) { return *devices_.at(threads); }
  [[nodiscard]] const Compiler& compiler() const { return *compiler_; }
  [[nodiscard]] const fs::path& folder() const { return folder_->path(); }

 private:
  LaunchRecord make_record(Layout layout) const;
  Contract get_contract() const;
  std::optional<TempFolder> folder_;
  std::optional<Compiler> compiler_;
  std::map<int, std::unique_ptr<Device>> devices_;
  std::map<std::string, tl::expected<Binary, Judged>> built_;
  std::map<std::pair<Layout, uint64_t>, std::vector<Check>> checks_;
};

// The launch record of a corpus kernel.
[[nodiscard]] Result<LaunchRecord> make_launch(const CorpusKernel& kernel);

}  // namespace kw
