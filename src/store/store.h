// The only writer of the database. SQLite, WAL, schema version and migrations; NULL where there is no value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "record/candidate.h"
#include "record/device.h"

namespace kw {

struct RunRecord {                 // one `tune` or `check` as the user started it
  std::string command;
  uint64_t seed = 0;
  DeviceFacts device;
  std::string version;             // ours
};

struct BaselineRecord {
  std::string problem;
  std::string name;                // "onednn"
  std::string version;
  std::optional<double> median_us; // NULL when refused
  std::string refused;             // empty = may be the bar
};

class Store {
 public:
  // Creates or migrates. Errors say: newer schema, not a database, locked, read-only, disk full.
  [[nodiscard]] static Result<Store> open(const fs::path& path);
  [[nodiscard]] static Result<Store> open_read_only(const fs::path& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  [[nodiscard]] Result<int64_t> add_run(const RunRecord& run);
  // All of a batch or none; called after every evaluation so that kill -9 loses at most the one in flight.
  [[nodiscard]] Status add_evaluations(int64_t run, const std::vector<Evaluation>& evaluations);
  [[nodiscard]] Status add_baselines(int64_t run, const std::vector<BaselineRecord>& baselines);
  [[nodiscard]] Status add_decision(int64_t run, const Decision& decision, const std::optional<Timing>& confirmation);
  [[nodiscard]] Status finish_run(int64_t run, const std::string& how);  // "done", "interrupted", "failed: ..."

  // Joins another store into this one; evaluations already here are kept once.
  [[nodiscard]] Status merge(const fs::path& other);
  // Deletes what no decision needs: "failures", "samples", "all but best N per problem".
  struct CleanPlan { bool failures = false; bool samples = false; int keep_best = -1; };
  [[nodiscard]] Result<int64_t> clean(const CleanPlan& plan);

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kw
