// Store::clean: deletes what no decision needs, then what nothing points to any more, then gives the space
// back.
#include "store/impl.h"

namespace kw {
namespace {

// Verdicts that a decision rests on, as the chosen kernel or as the one that was confirmed.
constexpr const char* kNeeded =
    "(SELECT verdict FROM decisions WHERE verdict IS NOT NULL UNION "
    "SELECT t.verdict FROM decisions d JOIN timings t ON t.id = d.confirmation)";

Status delete_rows(Database& database, const Store::CleanPlan& plan) {
  if (plan.failures) KW_TRY_VOID(database.run("DELETE FROM verdicts WHERE class <> 'pass'"));
  if (plan.keep_best >= 0)
    KW_TRY_VOID(database.run(
        fmt::format(
            "DELETE FROM verdicts WHERE id NOT IN {} AND id NOT IN (SELECT id FROM (SELECT v.id, "
            "row_number() "
            "OVER (PARTITION BY v.problem, v.device, v.protocol_version ORDER BY t.ratio DESC, v.id) AS "
            "place "
            "FROM verdicts v JOIN timings t ON t.verdict = v.id AND t.purpose = 'search') WHERE place <= ?)",
            kNeeded),
        plan.keep_best));
  if (plan.samples)
    KW_TRY_VOID(database.run(fmt::format(
        "DELETE FROM samples WHERE timing NOT IN (SELECT id FROM timings WHERE verdict IN {})", kNeeded)));
  KW_TRY_VOID(database.run(
      "DELETE FROM sources WHERE id NOT IN (SELECT source FROM evaluations WHERE source IS NOT NULL UNION "
      "SELECT free_source FROM evaluations WHERE free_source IS NOT NULL)"));
  return database.run(
      "DELETE FROM binaries WHERE id NOT IN (SELECT binary FROM verdicts WHERE binary IS NOT NULL UNION "
      "SELECT parent FROM lineage)");
}

}  // namespace

Result<int64_t> Store::clean(const CleanPlan& plan) {
  Database& database = *impl_->database;
  const int64_t before = database.total_changes();
  {
    KW_TRY(Transaction transaction, Transaction::begin(database));
    KW_TRY_VOID(delete_rows(database, plan));
    KW_TRY_VOID(transaction.commit());
  }
  const int64_t rows = database.total_changes() - before;
  const Status packed = database.run_script("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  if (!packed)
    return with_context(packed.error(),
                        fmt::format("{} rows went, but their space could not be given back", rows));
  return rows;
}

}  // namespace kw
