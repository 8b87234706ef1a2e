// Store::merge: reads another store row by row and writes it through the same writers as a run does, so that
// the same rules decide what is kept. Everything in one transaction of ours.
#include <map>

#include "store/baseline_writer.h"
#include "store/decision_writer.h"
#include "store/evaluation_reader.h"
#include "store/evaluation_writer.h"
#include "store/impl.h"
#include "store/schema.h"
#include "store/timing_row.h"

namespace kw {
namespace {

using Runs = std::map<int64_t, RunOrigin>;  // run number there -> run here

// A missing run means that the other file's references are broken.
Result<RunOrigin> get_run(const Runs& runs, int64_t there_id, const Database& there) {
  const auto found = runs.find(there_id);
  if (found == runs.end()) return there.error(SQLITE_CORRUPT);
  return found->second;
}

Result<Runs> merge_runs(Database& here, Database& there) {
  Runs runs;
  KW_TRY(Statement row,
         there.query("SELECT r.id, r.uid, d.key, r.origin, r.command, r.seed, r.facts, r.version, "
                     "r.started, r.ended, r.how FROM runs r JOIN devices d ON d.id = r.device "
                     "ORDER BY r.started, r.uid"));
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) return runs;
    KW_TRY(const int64_t device, add_device(here, row.text(2)));
    KW_TRY_VOID(here.run(
        "INSERT INTO runs (uid, device, origin, command, seed, facts, version, started, ended, how) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (uid) DO UPDATE SET ended = excluded.ended, "
        "how = excluded.how WHERE excluded.ended > ifnull(ended, '')",
        row.text(1), device, row.text(3), row.text(4), row.find_integer(5), row.find_text(6), row.text(7),
        row.text(8), row.find_text(9), row.find_text(10)));
    KW_TRY(const int64_t id, here.get_integer("SELECT id FROM runs WHERE uid = ?", row.text(1)));
    KW_TRY(runs[row.integer(0)], load_run_origin(here, id));
  }
}

Status merge_evaluations(Database& here, Database& there, const Runs& runs) {
  KW_TRY(Statement row, there.query(kSelectEvaluations + "ORDER BY e.id", true));
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) return {};
    KW_TRY(const StoredEvaluation stored, load_evaluation(there, row, Detail::kFull));
    KW_TRY(const RunOrigin run, get_run(runs, stored.run, there));
    KW_TRY(const RunOrigin verdict_run, get_run(runs, stored.verdict_run, there));
    KW_TRY_VOID(write_evaluation(here, stored.evaluation,
                                 {run, verdict_run, stored.verdict_finished_s, stored.protocol_version}));
  }
}

Status merge_baselines(Database& here, Database& there, const Runs& runs) {
  KW_TRY(Statement row,
         there.query("SELECT b.run, p.key, b.protocol_version, b.name, b.version, b.median_us, "
                     "b.refused, b.measured FROM baselines b JOIN problems p ON p.id = b.problem "
                     "ORDER BY b.id"));
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) return {};
    const BaselineRecord baseline{row.text(1), row.text(3), row.text(4), row.find_real(5), row.text(6)};
    KW_TRY(const RunOrigin run, get_run(runs, row.integer(0), there));
    KW_TRY_VOID(write_baseline(here, run.id, static_cast<int>(row.integer(2)), row.text(7), baseline));
  }
}

Status merge_decisions(Database& here, Database& there, const Runs& runs) {
  KW_TRY(
      Statement row,
      there.query(fmt::format(
          "SELECT {}, tb.hash, x.run, p.key, x.protocol_version, b.hash, x.baseline, x.ratio, x.ratio_low, "
          "x.ratio_high, x.median_us, x.baseline_median_us, x.reason, x.decided "
          "FROM decisions x JOIN problems p ON p.id = x.problem "
          "LEFT JOIN verdicts v ON v.id = x.verdict LEFT JOIN binaries b ON b.id = v.binary "
          "LEFT JOIN timings t ON t.id = x.confirmation LEFT JOIN verdicts tv ON tv.id = t.verdict "
          "LEFT JOIN binaries tb ON tb.id = tv.binary ORDER BY x.id",
          kTimingColumns)));
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) return {};
    int column = kTimingColumnCount;
    const std::string timed_hash = row.text(column++);
    KW_TRY(const RunOrigin run, get_run(runs, row.integer(column++), there));
    Decision decision;
    decision.problem = row.text(column++);
    const int protocol_version = static_cast<int>(row.integer(column++));
    decision.binary_hash = row.text(column++);
    decision.baseline = row.text(column++);
    decision.ratio = row.real(column++);
    decision.ratio_low = row.real(column++);
    decision.ratio_high = row.real(column++);
    decision.median_us = row.real(column++);
    decision.baseline_median_us = row.real(column++);
    decision.reason = row.text(column++);
    const DecisionOrigin origin{run, protocol_version, row.text(column++)};
    KW_TRY(std::optional<Timing> confirmation, load_timing(there, row, 0, timed_hash, true));
    // A kernel that failed here takes the decisions of the other store with it, and a vendor's its lost
    // comparison.
    KW_TRY(bool written, write_decision(here, decision, confirmation, origin));
    if (!written && decision.binary_hash.empty()) {
      KW_TRY(written, write_decision(here, decision, std::nullopt, origin));
    }
  }
}

Status merge_all(Database& here, Database& there) {
  KW_TRY(Transaction transaction, Transaction::begin(here));
  KW_TRY_VOID(there.run("BEGIN"));  // one snapshot of the other store
  KW_TRY(const Runs runs, merge_runs(here, there));
  KW_TRY_VOID(merge_evaluations(here, there, runs));
  KW_TRY_VOID(merge_baselines(here, there, runs));
  KW_TRY_VOID(merge_decisions(here, there, runs));
  return transaction.commit();
}

}  // namespace

Status Store::merge(const fs::path& other) {
  Database& here = *impl_->database;
  std::error_code code;
  if (fs::equivalent(other, here.path(), code))
    return fail_user("{} is this store itself; give another one to merge", other.string());
  if (!fs::exists(other, code)) return fail_user("there is no store {} to merge", other.string());
  KW_TRY(const auto there, Database::open_for_reading(other));
  const int known = static_cast<int>(get_migrations().size());
  KW_TRY(const int version, find_schema_version(*there, known));
  if (version == 0) return fail_user("{} is empty: no store was made there yet", other.string());
  if (version < known) {
    KW_TRY(MigratedCopy copy, make_migrated_copy(other, get_migrations()));
    return merge_all(here, *copy.database);
  }
  return merge_all(here, *there);
}

}  // namespace kw
