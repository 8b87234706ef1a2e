// Opening a store and adding to it. SQL of single records lives in the *_writer files; this file holds
// transactions.
#include "store/store.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "store/baseline_writer.h"
#include "store/decision_writer.h"
#include "store/evaluation_writer.h"
#include "store/identity.h"
#include "store/impl.h"
#include "store/schema.h"

namespace kw {
namespace {

// Up to this size a whole check costs less than starting the program; a larger file is checked where it is
// read.
constexpr uintmax_t kQuickCheckBytes = uintmax_t{4} << 20;

Status check_path(const fs::path& path) {
  std::error_code code;
  if (path.empty()) return fail_user("the store's path is empty; give a file");
  if (fs::is_directory(path, code)) return fail_user("store {} is a folder; give a file", path.string());
  return {};
}

Status quick_check(Database& database) {
  std::error_code code;
  const uintmax_t bytes = fs::file_size(database.path(), code);
  if (code || bytes > kQuickCheckBytes) return {};
  KW_TRY(Statement row, database.query("PRAGMA quick_check(1)"));
  KW_TRY(const bool found, row.step());
  if (!found || row.text(0) != "ok") return database.error(SQLITE_CORRUPT);
  return {};
}

// WAL: readers never wait for the writer. Two processes that create one file at once can meet a lock here
// that SQLite does not wait for by itself; the transaction of migrate() orders them, so the mode is set after
// it.
Status use_write_ahead_log(Database& database) {
  // NORMAL loses nothing to a killed process: a commit is in the kernel's page cache when it returns. Only a
  // power cut or a crash of the system may take the last commits, and never leaves half of one.
  KW_TRY_VOID(database.run_script("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON"));
  const auto start = Clock::now();
  while (true) {
    const Status done = database.run_script("PRAGMA journal_mode = WAL");
    if (done) return done;
    const int code = sqlite3_errcode(database.handle()) & 0xff;
    if (code != SQLITE_BUSY || seconds_since(start) * 1000 > Database::kBusyMs) return done;
    ::usleep(10'000);
  }
}

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const fs::path& path) {
  KW_TRY_VOID(check_path(path));
  std::error_code code;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), code);
  if (code)
    return fail_user("cannot make the store's folder {}: {}", path.parent_path().string(), code.message());
  KW_TRY(auto database, Database::open(path, Database::Mode::kWrite, Database::kBusyMs));
  const auto migrations = get_migrations();
  KW_TRY(const int version, find_schema_version(*database, static_cast<int>(migrations.size())));
  if (database->read_only()) return database->error(SQLITE_READONLY);
  if (version < static_cast<int>(migrations.size())) KW_TRY_VOID(migrate(*database, migrations));
  KW_TRY_VOID(use_write_ahead_log(*database));
  KW_TRY_VOID(quick_check(*database));
  return Store(std::make_unique<Impl>(Impl{std::move(database)}));
}

Result<Store> Store::open_read_only(const fs::path& path) {
  KW_TRY_VOID(check_path(path));
  std::error_code code;
  if (!fs::exists(path, code)) return fail_user("there is no store {}", path.string());
  KW_TRY(auto database, Database::open_for_reading(path));
  const int known = static_cast<int>(get_migrations().size());
  KW_TRY(const int version, find_schema_version(*database, known));
  if (version == 0) return fail_user("{} is empty: no store was made there yet", path.string());
  if (version < known)
    return fail_user(
        "store {} is schema {}, this program reads {}; open it once for writing to migrate it, for "
        "example with `kernelwright store clean`",
        path.string(), version, known);
  return Store(std::make_unique<Impl>(Impl{std::move(database)}));
}

Result<int64_t> Store::add_run(const RunRecord& run) {
  Database& database = *impl_->database;
  KW_TRY(Transaction transaction, Transaction::begin(database));
  KW_TRY(const int64_t device, add_device(database, run.device.key()));
  const std::string uid = fmt::format("{:016x}{:016x}", make_secret_seed(), make_secret_seed());
  KW_TRY_VOID(
      database.run("INSERT INTO runs (uid, device, origin, command, seed, facts, version, started) VALUES "
                   "(?, ?, 'run', ?, ?, ?, ?, ?)",
                   uid, device, run.command, static_cast<int64_t>(run.seed),
                   print_json(print_device(run.device)), run.version, print_now()));
  const int64_t id = database.last_id();
  KW_TRY_VOID(transaction.commit());
  return id;
}

Status Store::add_evaluations(int64_t run, const std::vector<Evaluation>& evaluations) {
  Database& database = *impl_->database;
  KW_TRY(Transaction transaction, Transaction::begin(database));
  KW_TRY(const RunOrigin origin, load_run_origin(database, run));
  for (const Evaluation& evaluation : evaluations)
    KW_TRY_VOID(
        write_evaluation(database, evaluation, {origin, origin, evaluation.finished_s, kProtocolVersion}));
  return transaction.commit();
}

Status Store::add_baselines(int64_t run, const std::vector<BaselineRecord>& baselines) {
  Database& database = *impl_->database;
  KW_TRY(Transaction transaction, Transaction::begin(database));
  KW_TRY_VOID(load_run_origin(database, run));
  for (const BaselineRecord& baseline : baselines)
    KW_TRY_VOID(write_baseline(database, run, kProtocolVersion, print_now(), baseline));
  return transaction.commit();
}

Status Store::add_decision(int64_t run, const Decision& decision, const std::optional<Timing>& confirmation) {
  Database& database = *impl_->database;
  KW_TRY(Transaction transaction, Transaction::begin(database));
  KW_TRY(const RunOrigin origin, load_run_origin(database, run));
  KW_TRY(const bool written,
         write_decision(database, decision, confirmation, {origin, kProtocolVersion, print_now()}));
  if (!written)
    return fail("decision for {} rests on kernel \"{}\"{}, which has no stored pass on this device",
                decision.problem, decision.binary_hash,
                confirmation ? fmt::format(" and a time of \"{}\"", confirmation->binary_hash) : "");
  return transaction.commit();
}

Status Store::finish_run(int64_t run, const std::string& how) {
  Database& database = *impl_->database;
  KW_TRY(Transaction transaction, Transaction::begin(database));
  KW_TRY_VOID(load_run_origin(database, run));
  KW_TRY_VOID(database.run("UPDATE runs SET ended = ?, how = ? WHERE id = ?", print_now(), how, run));
  return transaction.commit();
}

}  // namespace kw
