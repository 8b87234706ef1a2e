#include "store/database.h"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "store/lock_holder.h"

namespace kw {
namespace {

constexpr std::string_view kDamaged = "is damaged";

// SQLite's URI form: everything but plain characters as %XX.
std::string print_uri(const fs::path& path, std::string_view options) {
  std::error_code code;
  const fs::path absolute = fs::absolute(path, code);
  std::string uri = "file:";
  for (const unsigned char c : (code ? path : absolute).string()) {
    const bool plain = std::isalnum(c) || c == '/' || c == '-' || c == '_' || c == '.';
    uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return fmt::format("{}?{}", uri, options);
}

fs::path get_folder(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool is_writable(const fs::path& folder) {
  return ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      sql_(std::move(other.sql_)),
      handle_(std::exchange(other.handle_, nullptr)),
      next_parameter_(other.next_parameter_),
      failed_code_(other.failed_code_) {}

Statement::~Statement() {
  if (handle_ != nullptr) database_->give_back(std::move(sql_), handle_);
}

void Statement::bind(std::nullopt_t) {
  const int code = sqlite3_bind_null(handle_, next_parameter_++);
  if (failed_code_ == SQLITE_OK) failed_code_ = code;
}

void Statement::bind(int64_t value) {
  const int code = sqlite3_bind_int64(handle_, next_parameter_++, value);
  if (failed_code_ == SQLITE_OK) failed_code_ = code;
}

void Statement::bind(double value) {
  const int code = sqlite3_bind_double(handle_, next_parameter_++, value);
  if (failed_code_ == SQLITE_OK) failed_code_ = code;
}

void Statement::bind(std::string_view value) {
  const char* text = value.data() == nullptr ? "" : value.data();
  const int code =
      sqlite3_bind_text64(handle_, next_parameter_++, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (failed_code_ == SQLITE_OK) failed_code_ = code;
}

void Statement::bind(BlobView value) {
  const void* data = value.data == nullptr ? "" : value.data;
  const int code = sqlite3_bind_blob64(handle_, next_parameter_++, data, value.bytes, SQLITE_TRANSIENT);
  if (failed_code_ == SQLITE_OK) failed_code_ = code;
}

Result<bool> Statement::step() {
  if (failed_code_ != SQLITE_OK) return database_->error(failed_code_);
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->error(code);
}

Status Statement::run() {
  KW_TRY(const bool row, step());
  KW_CHECK(!row, "a statement that gives rows was run for its effect: {}", sql_);
  return {};
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (text == nullptr) return {};
  return std::string(text, static_cast<size_t>(sqlite3_column_bytes(handle_, column)));
}

std::optional<double> Statement::find_real(int column) const {
  return is_null(column) ? std::nullopt : std::optional(real(column));
}

std::optional<int64_t> Statement::find_integer(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}

std::optional<std::string> Statement::find_text(int column) const {
  return is_null(column) ? std::nullopt : std::optional(text(column));
}

std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(handle_, column))};
}

Result<std::unique_ptr<Database>> Database::open(const fs::path& path, Mode mode, int busy_ms) {
  const int flags =
      SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE |
      (mode == Mode::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  const std::string uri = print_uri(path, mode == Mode::kImmutable ? "immutable=1" : "immutable=0");
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
  if (handle == nullptr) return fail("store {}: out of memory", path.string());
  std::unique_ptr<Database> database(new Database(path, handle, busy_ms));
  if (code != SQLITE_OK) return database->error(code);
  sqlite3_busy_timeout(handle, busy_ms);
  KW_TRY_VOID(
      database->run_script("PRAGMA cache_size = -16384"));  // 16 MiB: one problem's rows of a large store
  return database;
}

// Reading a WAL file needs a shared index beside it, which cannot be made in a folder that is read-only.
Result<std::unique_ptr<Database>> Database::open_for_reading(const fs::path& path) {
  std::error_code code;
  const fs::path log = path.string() + "-wal";
  const bool no_log = !fs::exists(log, code) || fs::file_size(log, code) == 0;
  const bool frozen = no_log && !is_writable(get_folder(path));
  return open(path, frozen ? Mode::kImmutable : Mode::kRead, kBusyMs);
}

Database::~Database() {
  for (auto& [sql, handles] : idle_)
    for (sqlite3_stmt* handle : handles) sqlite3_finalize(handle);
  const int code = sqlite3_close(handle_);
  KW_CHECK(code == SQLITE_OK, "closing {} with a statement on loan: {}", path_.string(),
           sqlite3_errstr(code));
}

Result<Statement> Database::prepare(std::string_view sql) {
  if (const auto found = idle_.find(sql); found != idle_.end() && !found->second.empty()) {
    sqlite3_stmt* handle = found->second.back();
    found->second.pop_back();
    return Statement(this, std::string(sql), handle);
  }
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Statement(this, std::string(sql), handle);
}

void Database::give_back(std::string sql, sqlite3_stmt* handle) {
  sqlite3_reset(handle);  // repeats the last step's error, which was reported there
  sqlite3_clear_bindings(handle);
  idle_[std::move(sql)].push_back(handle);
}

Status Database::run_script(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

tl::unexpected<Error> Database::error(int code) const {
  const std::string path = path_.string();
  const std::string why = sqlite3_errmsg(handle_);
  const int system_code = sqlite3_system_errno(handle_);
  const std::string system_why = system_code != 0 ? std::strerror(system_code) : why;
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: {
      auto holder = find_lock_holder(path + "-shm");
      if (!holder) holder = find_lock_holder(path);
      return fail("store {} is locked by {} for more than {} s; wait until it ends or stop it", path,
                  holder.value_or(fmt::format("another process (`fuser {}` names it)", path)),
                  busy_ms_ / 1000.0);
    }
    case SQLITE_FULL:
      return fail(
          "store {}: disk full; nothing of this write was kept and all earlier ones are. Free space on that "
          "disk, or shrink the store with `kernelwright store clean`",
          path);
    case SQLITE_CORRUPT:
      return fail(
          "store {} {} ({}). Copy the file, save what can be read with `kernelwright store export`, move the "
          "file away and import the table into a new store",
          path, kDamaged, why);
    case SQLITE_NOTADB:
      return fail_user(
          "{} is not a Kernelwright store: it is no SQLite database. Give the path of a store, or of a "
          "file that does not exist yet",
          path);
    case SQLITE_CANTOPEN:
      if (system_code != EACCES && system_code != EROFS && is_writable(get_folder(path_)))
        return fail_user("store {} cannot be opened: {}", path, system_why);
      [[fallthrough]];
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return fail(
          "store {} cannot be used: the file or its folder is read-only or closed for this user. Change its "
          "permissions or use a store elsewhere",
          path);
    case SQLITE_IOERR:
      return fail("store {}: reading or writing failed: {}", path, system_why);
    case SQLITE_CONSTRAINT:
      return fail("store {} refuses a record that cannot be: {}", path, why);
    default:
      return fail("store {}: {}", path, why);
  }
}

bool is_damage(const Error& error) { return error.message.find(kDamaged) != std::string::npos; }

Result<Transaction> Transaction::begin(Database& database) {
  KW_TRY_VOID(database.run("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::~Transaction() {
  if (database_ == nullptr || sqlite3_get_autocommit(database_->handle())) return;
  sqlite3_exec(database_->handle(), "ROLLBACK", nullptr, nullptr,
               nullptr);  // its failure leaves nothing to undo
}

Status Transaction::commit() {
  KW_TRY_VOID(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace kw
