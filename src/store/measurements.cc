// The measurements table: store -> CSV, from a damaged store too, and CSV -> store.
#include <map>
#include <tuple>

#include "base/hash.h"
#include "store/evaluation_reader.h"
#include "store/evaluation_writer.h"
#include "store/impl.h"
#include "store/measurement.h"
#include "store/query.h"

namespace kw {
namespace {

// device, protocol version, problem, family, schedule: one line each, the newest
using Table = std::map<std::tuple<std::string, int, std::string, std::string, std::string>, std::string>;

void add_line(Table& table, StoredEvaluation stored) {
  const Evaluation& e = stored.evaluation;
  if (e.proposal.schedule.empty()) return;
  const auto key = std::make_tuple(stored.device_key, stored.protocol_version, e.problem, e.proposal.family,
                                   e.proposal.schedule);
  table[key] = print_measurement({stored.device_key, stored.protocol_version, std::move(stored.evaluation)});
}

std::string print_table(const Table& table) {
  std::string csv = std::string(kMeasurementsHeader) + "\n";
  for (const auto& [key, line] : table) csv += line;
  return csv;
}

}  // namespace

Result<std::string> export_measurements(const Store& store) {
  Database& database = *store.impl().database;
  KW_TRY(Statement row,
         database.query(kSelectEvaluations + "ORDER BY r.started, r.uid, e.finished_s, e.id", false));
  Table table;
  while (true) {
    KW_TRY(const bool found, row.step());
    if (!found) return print_table(table);
    KW_TRY(StoredEvaluation stored, load_evaluation(database, row, Detail::kPlain));
    add_line(table, std::move(stored));
  }
}

Result<Salvage> salvage_measurements(const Store& store) {
  Database& database = *store.impl().database;
  KW_TRY(const auto last, database.find_integer("SELECT max(id) FROM evaluations"));
  Salvage salvage;
  Table table;
  for (int64_t id = 1; id <= last.value_or(0); ++id) {
    const auto load = [&]() -> Result<std::optional<StoredEvaluation>> {
      KW_TRY(Statement row, database.query(kSelectEvaluations + "WHERE e.id = ?2", false, id));
      KW_TRY(const bool found, row.step());
      if (!found) return std::optional<StoredEvaluation>();
      KW_TRY(StoredEvaluation stored, load_evaluation(database, row, Detail::kPlain));
      return std::optional(std::move(stored));
    };
    auto stored = load();
    if (!stored && !is_damage(stored.error())) return tl::unexpected(stored.error());
    if (!stored) ++salvage.unreadable;
    if (stored && *stored) add_line(table, std::move(**stored));
  }
  salvage.csv = print_table(table);
  return salvage;
}

Status Store::import_measurements(std::string_view csv, const std::string& origin) {
  KW_TRY(const std::vector<Measurement> measurements, parse_measurements(csv, origin));
  std::map<std::string, std::vector<const Measurement*>> by_device;
  for (const Measurement& m : measurements) by_device[m.device_key].push_back(&m);
  Database& database = *impl_->database;
  KW_TRY(Transaction transaction, Transaction::begin(database));
  for (const auto& [device_key, rows] : by_device) {
    std::string lines;
    for (const Measurement* m : rows) lines += print_measurement(*m);
    const std::string uid = hash_parts({"import", lines});  // the same lines are the same run in every store
    KW_TRY(const auto known, database.find_integer("SELECT id FROM runs WHERE uid = ?", uid));
    if (known) continue;
    KW_TRY(const int64_t device, add_device(database, device_key));
    const std::string now = print_now();
    KW_TRY_VOID(
        database.run("INSERT INTO runs (uid, device, origin, command, version, started, ended, how) "
                     "VALUES (?, ?, 'import', ?, '', ?, ?, 'done')",
                     uid, device, "import " + origin, now, now));
    KW_TRY(const RunOrigin run, load_run_origin(database, database.last_id()));
    for (const Measurement* m : rows)
      KW_TRY_VOID(write_evaluation(database, m->evaluation, {run, run, std::nullopt, m->protocol_version}));
  }
  return transaction.commit();
}

}  // namespace kw
