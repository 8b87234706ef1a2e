// The only writer of the database: runs, evaluations, baselines, decisions in one SQLite file (doc/store.md).
// In: records of the other stages. Out: the same records later, through query.h. NULL where there is no
// value. A Store is used by one thread at a time and never across fork(); any number of processes may open
// one file. Does not decide what is measured or shipped.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "record/candidate.h"
#include "record/device.h"

namespace kw {

struct RunRecord {  // one `tune` or `check` as the user started it
  std::string command;
  uint64_t seed = 0;
  DeviceFacts device;
  std::string version;  // ours
};

struct BaselineRecord {
  std::string problem;
  std::string name;  // "onednn"
  std::string version;
  std::optional<double> median_us;  // NULL when refused
  std::string refused;              // empty = may be the bar
};

class Store {
 public:
  // Creates (with its folder) or migrates. Errors say: newer schema, not a database, another program's
  // database, locked and by whom, read-only file or folder, disk full, damaged.
  [[nodiscard]] static Result<Store> open(const fs::path& path);
  // Changes nothing; works on a read-only file and folder. An older schema is an error that says how to
  // migrate.
  [[nodiscard]] static Result<Store> open_read_only(const fs::path& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  [[nodiscard]] Result<int64_t> add_run(const RunRecord& run);

  // All of a batch or none; called after every evaluation so that kill -9 loses at most the one in flight.
  // When it returns, no kill of any process can take the batch away. Measured under kProtocolVersion.
  //
  // What is already known is kept once. Known means the same problem, device, protocol version and binary
  // hash, or, where no binary exists, the same family and schedule (free text: the same text). Adding it
  // again is no error: the first verdict and timing stay, except that a verdict replaces a skipped one, a
  // promoted pass replaces a plain pass, and a failure replaces a pass (its timings and the decisions that
  // rest on it go with it). Another schedule that compiles to a known binary is remembered as its own
  // evaluation and shares that verdict and timing.
  //
  // Refuses (error, nothing written) what cannot be: a timing without a pass, hashes of verdict or timing
  // that are not the evaluation's, a reason on a pass or none on a failure, a pass without a binary, an
  // interval around nothing.
  [[nodiscard]] Status add_evaluations(int64_t run, const std::vector<Evaluation>& evaluations);
  // A baseline given twice in one run: the later figure stays.
  [[nodiscard]] Status add_baselines(int64_t run, const std::vector<BaselineRecord>& baselines);
  // One decision per run and problem, the later one stays. A chosen kernel and a confirmation need a stored
  // pass of that binary for the problem on the run's device.
  [[nodiscard]] Status add_decision(int64_t run, const Decision& decision,
                                    const std::optional<Timing>& confirmation);
  [[nodiscard]] Status finish_run(int64_t run,
                                  const std::string& how);  // "done", "interrupted", "failed: ..."

  // Joins another store into this one, all or nothing; what is already here is kept once, runs get new
  // numbers. Twice is once, and a.merge(b) holds the same as b.merge(a): of two measurements of one thing the
  // earlier stays. The other file is not changed; an older one is migrated in a private copy.
  [[nodiscard]] Status merge(const fs::path& other);

  // Deletes what no decision needs and gives the space back to the file system; returns how many rows went,
  // over all tables. failures: every verdict but pass (they will be tried again); samples: the single
  // samples, medians and intervals stay; keep_best >= 0: everything but the best N by ratio of each problem,
  // device and protocol version.
  struct CleanPlan {
    bool failures = false;
    bool samples = false;
    int keep_best = -1;
  };
  [[nodiscard]] Result<int64_t> clean(const CleanPlan& plan);

  // Takes exactly what export_measurements (query.h) prints, all lines or none, as runs "import ORIGIN", one
  // per device. Own measurements go before imported ones; the same lines twice are once. A malformed line is
  // a user error that names line and column.
  [[nodiscard]] Status import_measurements(std::string_view csv, const std::string& origin);

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kw
