#include "store/identity.h"

#include <chrono>
#include <ctime>

#include "base/hash.h"

namespace kw {

Result<int64_t> add_device(Database& database, std::string_view key) {
  KW_TRY(const auto found, database.find_integer("SELECT id FROM devices WHERE key = ?", key));
  if (found) return *found;
  KW_TRY_VOID(database.run("INSERT INTO devices (key) VALUES (?)", key));
  return database.last_id();
}

Result<int64_t> add_problem(Database& database, std::string_view key) {
  KW_TRY(const auto found, database.find_integer("SELECT id FROM problems WHERE key = ?", key));
  if (found) return *found;
  KW_TRY_VOID(database.run("INSERT INTO problems (key) VALUES (?)", key));
  return database.last_id();
}

Result<std::optional<int64_t>> add_source(Database& database, std::string_view text) {
  if (text.empty()) return std::optional<int64_t>();
  const std::string hash = hash_parts({text});
  KW_TRY(const auto found, database.find_integer("SELECT id FROM sources WHERE hash = ?", hash));
  if (found) return found;
  KW_TRY_VOID(database.run("INSERT INTO sources (hash, text) VALUES (?, ?)", hash, text));
  return std::optional(database.last_id());
}

Result<std::optional<int64_t>> add_binary(Database& database, std::string_view hash,
                                          const std::optional<LaunchRecord>& launch) {
  if (hash.empty()) return std::optional<int64_t>();
  std::optional<std::string> record;
  if (launch) record = print_json(print_launch(*launch));
  KW_TRY(const auto found, database.find_integer("SELECT id FROM binaries WHERE hash = ?", hash));
  if (!found) {
    KW_TRY_VOID(database.run("INSERT INTO binaries (hash, launch) VALUES (?, ?)", hash, record));
    return std::optional(database.last_id());
  }
  if (record)
    KW_TRY_VOID(
        database.run("UPDATE binaries SET launch = ? WHERE id = ? AND launch IS NULL", record, *found));
  return found;
}

Result<RunOrigin> load_run_origin(Database& database, int64_t run) {
  KW_TRY(Statement row, database.query("SELECT device, origin, started, uid FROM runs WHERE id = ?", run));
  KW_TRY(const bool found, row.step());
  if (!found) return fail("store {}: there is no run {}", database.path().string(), run);
  return RunOrigin{run, row.integer(0), row.text(1) == "import", row.text(2), row.text(3)};
}

Result<Json> load_json(const std::string& text, const Database& database) {
  auto json = parse_json(text, database.path().string());
  if (!json) return database.error(SQLITE_CORRUPT);
  return json;
}

std::string print_now() {
  const auto now = std::chrono::system_clock::now();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(us / 1'000'000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, us % 1'000'000);
}

}  // namespace kw
