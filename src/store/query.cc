#include "store/query.h"

#include <algorithm>

#include "store/evaluation_reader.h"
#include "store/identity.h"
#include "store/impl.h"
#include "store/timing_row.h"

namespace kw {
namespace {

// An imported device is known by its key alone.
Result<DeviceFacts> load_device(Database& database, const Statement& row, int facts_column,
                                const std::string& key) {
  if (row.is_null(facts_column)) {
    DeviceFacts device;
    device.target = "recorded";
    device.name = key;
    return device;
  }
  KW_TRY(const Json json, load_json(row.text(facts_column), database));
  return parse_device(json);
}

}  // namespace

Result<std::vector<Evaluation>> find_evaluations(const Store& store, const std::string& problem,
                                                 const std::string& device_key, bool with_samples) {
  return load_evaluations(*store.impl().database, kFindEvaluationsSql,
                          with_samples ? Detail::kFull : Detail::kPlain, problem, device_key,
                          kProtocolVersion);
}

Result<std::vector<Evaluation>> find_best(const Store& store, const std::string& problem,
                                          const std::string& device_key, int most) {
  return load_evaluations(*store.impl().database, kFindBestSql, Detail::kPlain, problem, device_key,
                          kProtocolVersion, std::max(most, 0));
}

Result<std::vector<BaselineRecord>> find_baseline_rows(const Store& store, const std::string& problem,
                                                       const std::string& device_key) {
  Database& database = *store.impl().database;
  KW_TRY(Statement row,
         database.query(
             "SELECT p.key, b.name, b.version, b.median_us, b.refused, row_number() OVER (PARTITION BY "
             "b.name, b.version ORDER BY b.measured DESC, r.uid DESC) AS place "
             "FROM problems p JOIN baselines b ON b.problem = p.id JOIN runs r ON r.id = b.run "
             "JOIN devices d ON d.id = r.device "
             "WHERE p.key = ? AND d.key = ? AND b.protocol_version = ? ORDER BY b.name, b.version",
             problem, device_key, kProtocolVersion));
  std::vector<BaselineRecord> baselines;
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) return baselines;
    if (row.integer(5) != 1) continue;
    baselines.push_back({row.text(0), row.text(1), row.text(2), row.find_real(3), row.text(4)});
  }
}

Result<std::vector<DecisionRow>> find_decisions(const Store& store) {
  static const std::string sql = fmt::format(
      "SELECT {}, tb.hash, p.key, b.hash, x.baseline, x.ratio, x.ratio_low, x.ratio_high, x.median_us, "
      "x.baseline_median_us, x.reason, x.decided, r.command, r.facts, d.key, e.kernel_name, e.schedule, "
      "vr.origin, "
      "row_number() OVER (PARTITION BY x.problem, r.device ORDER BY x.decided DESC, r.uid DESC) AS place "
      "FROM decisions x JOIN problems p ON p.id = x.problem JOIN runs r ON r.id = x.run JOIN devices d ON "
      "d.id = r.device "
      "LEFT JOIN verdicts v ON v.id = x.verdict LEFT JOIN binaries b ON b.id = v.binary LEFT JOIN runs vr ON "
      "vr.id = v.run "
      "LEFT JOIN evaluations e ON e.id = (SELECT min(id) FROM evaluations WHERE verdict = x.verdict) "
      "LEFT JOIN timings t ON t.id = x.confirmation LEFT JOIN verdicts tv ON tv.id = t.verdict "
      "LEFT JOIN binaries tb ON tb.id = tv.binary WHERE x.protocol_version = ? ORDER BY p.key, d.key",
      kTimingColumns);
  Database& database = *store.impl().database;
  KW_TRY(Statement row, database.query(sql, kProtocolVersion));
  std::vector<DecisionRow> decisions;
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) return decisions;
    const int place_column = kTimingColumnCount + 17;
    if (row.integer(place_column) != 1) continue;
    int column = kTimingColumnCount;
    const std::string timed_hash = row.text(column++);
    DecisionRow decided;
    Decision& decision = decided.decision;
    decision.problem = row.text(column++);
    decision.binary_hash = row.text(column++);
    decision.baseline = row.text(column++);
    decision.ratio = row.real(column++);
    decision.ratio_low = row.real(column++);
    decision.ratio_high = row.real(column++);
    decision.median_us = row.real(column++);
    decision.baseline_median_us = row.real(column++);
    decision.reason = row.text(column++);
    decided.decided = row.text(column++);
    decided.run_command = row.text(column++);
    const int facts_column = column++;
    KW_TRY(decided.device, load_device(database, row, facts_column, row.text(column++)));
    decided.kernel_name = row.text(column++);
    decided.schedule = row.text(column++);
    decided.imported_only = row.text(column++) == "import";
    KW_TRY(decided.confirmation, load_timing(database, row, 0, timed_hash, true));
    decisions.push_back(std::move(decided));
  }
}

Result<std::vector<Evaluation>> find_kernel(const Store& store, const std::string& prefix) {
  if (prefix.empty())
    return fail_user("give the first digits of a kernel's hash; `kernelwright ls` lists kernels");
  Database& database = *store.impl().database;
  KW_TRY(
      Statement row,
      database.query("SELECT b.hash FROM binaries b WHERE b.hash >= ?1 AND b.hash < ?1 || char(1114111) AND "
                     "EXISTS (SELECT 1 FROM verdicts v WHERE v.binary = b.id) ORDER BY b.hash",
                     prefix));
  std::vector<std::string> hashes;
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) break;
    hashes.push_back(row.text(0));
    if (hashes.back() == prefix) {  // a whole hash is never ambiguous
      hashes = {prefix};
      break;
    }
  }
  if (hashes.empty())
    return fail_user("no kernel's hash begins with \"{}\" in store {}; `kernelwright ls` lists kernels",
                     prefix, database.path().string());
  if (hashes.size() > 1)
    return fail_user("\"{}\" begins the hashes of {} kernels ({}, {}{}); give more digits", prefix,
                     hashes.size(), hashes[0].substr(0, prefix.size() + 8),
                     hashes[1].substr(0, prefix.size() + 8), hashes.size() > 2 ? ", ..." : "");
  return load_evaluations(database,
                          kSelectEvaluations +
                              "WHERE v.binary = (SELECT id FROM binaries WHERE hash = ?2) "
                              "ORDER BY p.key, d.key, v.protocol_version, r.started, r.uid, "
                              "e.finished_s, e.id",
                          Detail::kFull, hashes[0]);
}

Result<std::vector<ProblemSummary>> list_problems(const Store& store) {
  Database& database = *store.impl().database;
  KW_TRY(Statement row,
         database.query("SELECT p.key, d.key, v.class, v.reason, count(*), max(t.ratio) FROM verdicts v "
                        "JOIN evaluations e ON e.verdict = v.id JOIN problems p ON p.id = v.problem "
                        "JOIN devices d ON d.id = v.device "
                        "LEFT JOIN timings t ON t.verdict = v.id AND t.purpose = 'search' "
                        "WHERE v.protocol_version = ? GROUP BY p.key, d.key, v.class, v.reason "
                        "ORDER BY p.key, d.key, count(*) DESC, v.class, v.reason",
                        kProtocolVersion));
  std::vector<ProblemSummary> problems;
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) return problems;
    if (problems.empty() || problems.back().problem != row.text(0) ||
        problems.back().device_key != row.text(1))
      problems.push_back({row.text(0), row.text(1)});
    ProblemSummary& summary = problems.back();
    const int64_t count = row.integer(4);
    summary.evaluations += count;
    Verdict verdict;
    KW_TRY(verdict.klass, parse_verdict_class(row.text(2)));
    verdict.reason = row.text(3);
    if (!verdict.passed()) {
      summary.failures.emplace_back(verdict.code(), count);
      continue;
    }
    summary.passed += count;
    summary.best_ratio = row.find_real(5);
  }
}

Result<std::vector<RunRow>> list_runs(const Store& store) {
  Database& database = *store.impl().database;
  KW_TRY(Statement row,
         database.query("SELECT r.id, r.command, r.seed, r.facts, d.key, r.version, r.origin, r.started, "
                        "r.ended, r.how FROM runs r JOIN devices d ON d.id = r.device "
                        "ORDER BY r.started, r.uid"));
  std::vector<RunRow> runs;
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) return runs;
    RunRow run;
    run.id = row.integer(0);
    run.run.command = row.text(1);
    run.run.seed = static_cast<uint64_t>(row.integer(2));
    run.device_key = row.text(4);
    KW_TRY(run.run.device, load_device(database, row, 3, run.device_key));
    run.run.version = row.text(5);
    run.imported = row.text(6) == "import";
    run.started = row.text(7);
    run.ended = row.text(8);
    run.how = row.text(9);
    runs.push_back(std::move(run));
  }
}

}  // namespace kw
