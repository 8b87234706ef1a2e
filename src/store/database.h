// One SQLite connection: prepared statements, transactions, and error codes turned into lines a user can act
// on. Used by the files of src/store only. Knows nothing of what the tables mean.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace kw {

struct BlobView {
  const void* data;
  size_t bytes;
};

// A prepared statement on loan from its Database; reset and given back when it dies.
class Statement {
 public:
  Statement(class Database* database, std::string sql, sqlite3_stmt* handle)
      : database_(database), sql_(std::move(sql)), handle_(handle) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Binds the next parameter. A failure is kept and reported by step().
  void bind(std::nullopt_t);
  void bind(int64_t value);
  void bind(int value) { bind(static_cast<int64_t>(value)); }
  void bind(bool value) { bind(static_cast<int64_t>(value)); }
  void bind(double value);
  void bind(std::string_view value);
  void bind(const std::string& value) { bind(std::string_view(value)); }
  void bind(const char* value) { bind(std::string_view(value)); }
  void bind(BlobView value);
  template <class T>
  void bind(const std::optional<T>& value) {
    if (value) return bind(*value);
    bind(std::nullopt);
  }

  // True when a row is there, false at the end.
  [[nodiscard]] Result<bool> step();
  // For statements that give no row.
  [[nodiscard]] Status run();

  bool is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }
  int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  double real(int column) const { return sqlite3_column_double(handle_, column); }
  std::string text(int column) const;                 // NULL reads as empty
  std::optional<double> find_real(int column) const;  // nothing for NULL, as the next two
  std::optional<int64_t> find_integer(int column) const;
  std::optional<std::string> find_text(int column) const;
  std::string_view blob(int column) const;  // valid until the next step

 private:
  Database* database_;
  std::string sql_;
  sqlite3_stmt* handle_;
  int next_parameter_ = 1;
  int failed_code_ = SQLITE_OK;
};

class Database {
 public:
  // Longest wait for another writer. A run's transactions are one batch long; a merge or clean of a large
  // store takes seconds.
  static constexpr int kBusyMs = 20'000;

  enum class Mode { kWrite, kRead, kImmutable };
  // Opens the file and waits up to busy_ms for other processes' locks from then on. Checks nothing in it.
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const fs::path& path, Mode mode, int busy_ms);
  // For reading only, also where the folder can't be written: then as the file lies, if no log waits beside
  // it.
  [[nodiscard]] static Result<std::unique_ptr<Database>> open_for_reading(const fs::path& path);
  Database(const Database&) = delete;
  ~Database();

  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  template <class... Args>
  [[nodiscard]] Result<Statement> query(std::string_view sql, const Args&... values) {
    auto statement = prepare(sql);
    if (statement) (statement->bind(values), ...);
    return statement;
  }
  template <class... Args>
  [[nodiscard]] Status run(std::string_view sql, const Args&... values) {
    KW_TRY(Statement statement, query(sql, values...));
    return statement.run();
  }
  // First column of the first row; an error when there is no row.
  template <class... Args>
  [[nodiscard]] Result<int64_t> get_integer(std::string_view sql, const Args&... values) {
    KW_TRY(auto found, find_integer(sql, values...));
    if (!found) return fail("store {}: no row for: {}", path_.string(), sql);
    return *found;
  }
  // First column of the first row; nothing when there is no row or the value is NULL.
  template <class... Args>
  [[nodiscard]] Result<std::optional<int64_t>> find_integer(std::string_view sql, const Args&... values) {
    KW_TRY(Statement statement, query(sql, values...));
    KW_TRY(const bool row, statement.step());
    if (!row || statement.is_null(0)) return std::optional<int64_t>();
    return std::optional<int64_t>(statement.integer(0));
  }
  // Several statements separated by semicolons, without parameters.
  [[nodiscard]] Status run_script(const std::string& sql);

  int64_t last_id() const { return sqlite3_last_insert_rowid(handle_); }
  int64_t total_changes() const { return sqlite3_total_changes64(handle_); }
  bool read_only() const { return sqlite3_db_readonly(handle_, "main") == 1; }
  const fs::path& path() const { return path_; }
  sqlite3* handle() { return handle_; }

  // The line for an SQLite result code that just came back from this connection.
  [[nodiscard]] tl::unexpected<Error> error(int code) const;

 private:
  friend class Statement;
  Database(fs::path path, sqlite3* handle, int busy_ms)
      : path_(std::move(path)), handle_(handle), busy_ms_(busy_ms) {}
  void give_back(std::string sql, sqlite3_stmt* handle);

  fs::path path_;
  sqlite3* handle_;
  int busy_ms_;
  std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> idle_;
};

// True for errors of a damaged file.
[[nodiscard]] bool is_damage(const Error& error);

// BEGIN IMMEDIATE ... COMMIT; rolls back when it dies uncommitted.
class Transaction {
 public:
  [[nodiscard]] static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  [[nodiscard]] Status commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;
};

}  // namespace kw
