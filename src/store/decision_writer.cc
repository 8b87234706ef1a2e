#include "store/decision_writer.h"

#include "store/timing_row.h"

namespace kw {
namespace {

Result<std::optional<int64_t>> find_pass(Database& database, int64_t problem, const std::string& binary_hash,
                                         const DecisionOrigin& origin) {
  return database.find_integer(
      "SELECT v.id FROM verdicts v WHERE v.problem = ? AND v.device = ? AND v.protocol_version = ? AND "
      "v.binary = (SELECT id FROM binaries WHERE hash = ?) AND v.class = 'pass'",
      problem, origin.run.device, origin.protocol_version, binary_hash);
}

Status remove_decision(Database& database, int64_t decision) {
  KW_TRY(const auto timing,
         database.find_integer("SELECT confirmation FROM decisions WHERE id = ?", decision));
  KW_TRY_VOID(database.run("DELETE FROM decisions WHERE id = ?", decision));
  if (timing) KW_TRY_VOID(database.run("DELETE FROM timings WHERE id = ?", *timing));
  return {};
}

}  // namespace

Result<bool> write_decision(Database& database, const Decision& decision,
                            const std::optional<Timing>& confirmation, const DecisionOrigin& origin) {
  KW_TRY(const int64_t problem, add_problem(database, decision.problem));
  std::optional<int64_t> verdict, timed_verdict, timing;
  if (!decision.binary_hash.empty()) {
    KW_TRY(verdict, find_pass(database, problem, decision.binary_hash, origin));
    if (!verdict) return false;
  }
  if (confirmation) {
    KW_TRY(timed_verdict, find_pass(database, problem, confirmation->binary_hash, origin));
    if (!timed_verdict) return false;
  }
  KW_TRY(const auto known, database.find_integer("SELECT id FROM decisions WHERE problem = ? AND run = ?",
                                                 problem, origin.run.id));
  if (known) {
    KW_TRY(const auto later, database.find_integer("SELECT id FROM decisions WHERE id = ? AND decided > ?",
                                                   *known, origin.decided));
    if (later) return true;
    KW_TRY_VOID(remove_decision(database, *known));
  }
  if (confirmation) {
    KW_TRY(timing, add_timing(database, *timed_verdict, "decision", *confirmation));
  }
  const auto time = [](double value_us) { return value_us == 0 ? std::nullopt : std::optional(value_us); };
  KW_TRY_VOID(
      database.run("INSERT INTO decisions (run, problem, protocol_version, verdict, baseline, ratio, "
                   "ratio_low, ratio_high, "
                   "median_us, baseline_median_us, reason, confirmation, decided) VALUES (?, ?, ?, ?, ?, ?, "
                   "?, ?, ?, ?, ?, ?, ?)",
                   origin.run.id, problem, origin.protocol_version, verdict, value_or_null(decision.baseline),
                   decision.ratio, decision.ratio_low, decision.ratio_high, time(decision.median_us),
                   time(decision.baseline_median_us), decision.reason, timing, origin.decided));
  return true;
}

}  // namespace kw
