#include "store/schema.h"

#include <array>

namespace kw {
namespace {

// Every value that says what a row is has a constraint; constraint names appear in error messages.
constexpr const char* kSchema1 = R"sql(
CREATE TABLE devices (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE CHECK (key <> '')
) STRICT;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,          -- the run's identity in every store it is merged into
  device INTEGER NOT NULL REFERENCES devices (id),
  origin TEXT NOT NULL CHECK (origin IN ('run', 'import')),
  command TEXT NOT NULL,
  seed INTEGER,                      -- uint64 as two's complement
  facts TEXT CHECK (facts IS NULL OR json_valid(facts)),  -- the device as this run found it
  version TEXT NOT NULL,
  started TEXT NOT NULL,             -- ISO 8601 UTC with microseconds
  ended TEXT,
  how TEXT,
  CONSTRAINT end_has_a_how CHECK ((ended IS NULL) = (how IS NULL)),
  CONSTRAINT facts_unless_imported CHECK ((facts IS NULL) = (origin = 'import')),
  CONSTRAINT seed_unless_imported CHECK ((seed IS NULL) = (origin = 'import'))
) STRICT;

CREATE TABLE problems (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE CHECK (key <> '')
) STRICT;

CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),  -- of the text alone
  text TEXT NOT NULL
) STRICT;

CREATE TABLE binaries (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE CHECK (hash <> ''),
  launch TEXT CHECK (launch IS NULL OR json_valid(launch))  -- NULL when only the hash is known: parents, replays, imports
) STRICT;

CREATE TABLE verdicts (
  id INTEGER PRIMARY KEY,
  problem INTEGER NOT NULL REFERENCES problems (id),
  device INTEGER NOT NULL REFERENCES devices (id),
  protocol_version INTEGER NOT NULL CHECK (protocol_version >= 1),
  binary INTEGER REFERENCES binaries (id),
  candidate TEXT CHECK (candidate <> ''),  -- identity where no binary exists
  run INTEGER NOT NULL REFERENCES runs (id),
  finished_s REAL,                   -- since the run began; NULL when imported
  class TEXT NOT NULL CHECK (class IN (
    'pass', 'compile_error', 'illegal', 'launch_error', 'wrong_result', 'precision_downgrade', 'out_of_bounds',
    'input_modified', 'nondeterministic', 'race', 'hang', 'crash', 'cheat', 'skipped')),
  reason TEXT CHECK (reason <> ''),
  evidence TEXT NOT NULL CHECK (json_valid(evidence)),
  ran INTEGER NOT NULL CHECK (ran IN (0, 1)),
  promoted INTEGER NOT NULL CHECK (promoted IN (0, 1)),
  UNIQUE (id, class),
  CONSTRAINT binary_or_candidate CHECK ((binary IS NULL) = (candidate IS NOT NULL)),
  CONSTRAINT reason_unless_pass CHECK ((reason IS NULL) = (class = 'pass')),
  CONSTRAINT compile_error_has_no_binary CHECK (class <> 'compile_error' OR binary IS NULL),
  CONSTRAINT verdict_of_a_run_has_a_binary CHECK (
    class IN ('compile_error', 'illegal', 'launch_error', 'cheat', 'skipped') OR binary IS NOT NULL),
  CONSTRAINT what_ran_has_a_binary CHECK (ran = 0 OR binary IS NOT NULL),
  CONSTRAINT pass_ran CHECK (class <> 'pass' OR ran = 1),
  CONSTRAINT only_a_pass_is_promoted CHECK (promoted = 0 OR class = 'pass')
) STRICT;
CREATE UNIQUE INDEX verdict_of_binary ON verdicts (problem, device, protocol_version, binary) WHERE binary IS NOT NULL;
CREATE UNIQUE INDEX verdict_of_candidate ON verdicts (problem, device, protocol_version, candidate)
  WHERE candidate IS NOT NULL;
CREATE INDEX verdicts_of_problem ON verdicts (problem, device, protocol_version, class);
CREATE INDEX verdicts_by_binary ON verdicts (binary);

CREATE TABLE evaluations (
  id INTEGER PRIMARY KEY,
  verdict INTEGER NOT NULL REFERENCES verdicts (id) ON DELETE CASCADE,
  run INTEGER NOT NULL REFERENCES runs (id),
  proposer TEXT NOT NULL,
  family TEXT NOT NULL,
  schedule TEXT CHECK (schedule <> ''),
  note TEXT CHECK (note <> ''),
  seed INTEGER,                      -- uint64 as two's complement; NULL when imported
  free_source INTEGER REFERENCES sources (id),
  free_language TEXT,                -- NULL without a free text
  free_launch TEXT CHECK (free_launch IS NULL OR json_valid(free_launch)),
  kernel_name TEXT CHECK (kernel_name <> ''),
  source INTEGER REFERENCES sources (id),
  source_hash TEXT CHECK (source_hash <> ''),
  compiler TEXT CHECK (compiler <> ''),
  compile_us REAL,                   -- NULL when nothing was compiled
  from_cache INTEGER NOT NULL CHECK (from_cache IN (0, 1)),
  finished_s REAL
) STRICT;
CREATE UNIQUE INDEX evaluation_once ON evaluations (verdict, family, ifnull(schedule, ''), ifnull(free_source, 0));
CREATE INDEX evaluations_by_run ON evaluations (run);
CREATE INDEX evaluations_by_source ON evaluations (source);
CREATE INDEX evaluations_by_free_source ON evaluations (free_source);

CREATE TABLE lineage (
  evaluation INTEGER NOT NULL REFERENCES evaluations (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  parent INTEGER NOT NULL REFERENCES binaries (id),
  PRIMARY KEY (evaluation, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX lineage_by_parent ON lineage (parent);

CREATE TABLE timings (
  id INTEGER PRIMARY KEY,
  verdict INTEGER NOT NULL,
  class TEXT NOT NULL DEFAULT 'pass' CHECK (class = 'pass'),
  purpose TEXT NOT NULL CHECK (purpose IN ('search', 'decision')),
  baseline TEXT NOT NULL,
  mode TEXT NOT NULL,
  cache TEXT NOT NULL,
  threads INTEGER NOT NULL CHECK (threads >= 1),
  median_us REAL NOT NULL CHECK (median_us > 0),
  baseline_median_us REAL NOT NULL CHECK (baseline_median_us > 0),
  ratio REAL NOT NULL CHECK (ratio > 0),
  ratio_low REAL NOT NULL,
  ratio_high REAL NOT NULL,
  confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
  disturbed INTEGER NOT NULL CHECK (disturbed IN (0, 1)),
  note TEXT CHECK (note <> ''),
  FOREIGN KEY (verdict, class) REFERENCES verdicts (id, class) ON DELETE CASCADE,
  CONSTRAINT interval_holds_ratio CHECK (ratio_low <= ratio AND ratio <= ratio_high)
) STRICT;
CREATE UNIQUE INDEX search_timing_once ON timings (verdict) WHERE purpose = 'search';
CREATE INDEX timings_by_verdict ON timings (verdict, class);

CREATE TABLE samples (
  timing INTEGER PRIMARY KEY REFERENCES timings (id) ON DELETE CASCADE,
  latency_us BLOB NOT NULL,          -- little-endian float64
  baseline_latency_us BLOB NOT NULL,
  CONSTRAINT samples_are_pairs CHECK (
    length(latency_us) = length(baseline_latency_us) AND length(latency_us) % 8 = 0 AND length(latency_us) > 0)
) STRICT;

CREATE TABLE baselines (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (id),
  problem INTEGER NOT NULL REFERENCES problems (id),
  protocol_version INTEGER NOT NULL CHECK (protocol_version >= 1),
  name TEXT NOT NULL CHECK (name <> ''),
  version TEXT NOT NULL,
  median_us REAL CHECK (median_us > 0),
  refused TEXT CHECK (refused <> ''),
  measured TEXT NOT NULL,            -- ISO 8601 UTC with microseconds
  UNIQUE (problem, run, name, version),
  CONSTRAINT time_or_refusal CHECK ((median_us IS NULL) = (refused IS NOT NULL))
) STRICT;
CREATE INDEX baselines_by_run ON baselines (run);

CREATE TABLE decisions (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (id),
  problem INTEGER NOT NULL REFERENCES problems (id),
  protocol_version INTEGER NOT NULL CHECK (protocol_version >= 1),
  verdict INTEGER,                   -- of the chosen kernel; NULL = the vendor
  class TEXT NOT NULL DEFAULT 'pass' CHECK (class = 'pass'),
  baseline TEXT CHECK (baseline <> ''),
  ratio REAL NOT NULL CHECK (ratio > 0),
  ratio_low REAL NOT NULL,
  ratio_high REAL NOT NULL,
  median_us REAL CHECK (median_us > 0),
  baseline_median_us REAL CHECK (baseline_median_us > 0),
  reason TEXT NOT NULL CHECK (reason <> ''),
  confirmation INTEGER REFERENCES timings (id),
  decided TEXT NOT NULL,             -- ISO 8601 UTC with microseconds
  UNIQUE (problem, run),
  FOREIGN KEY (verdict, class) REFERENCES verdicts (id, class),
  CONSTRAINT interval_holds_ratio CHECK (ratio_low <= ratio AND ratio <= ratio_high),
  CONSTRAINT vendor_is_one CHECK (verdict IS NOT NULL OR (ratio = 1 AND ratio_low = 1 AND ratio_high = 1)),
  CONSTRAINT kernel_has_a_time CHECK (verdict IS NULL OR (median_us IS NOT NULL AND baseline IS NOT NULL))
) STRICT;
CREATE INDEX decisions_by_run ON decisions (run);
CREATE INDEX decisions_by_verdict ON decisions (verdict, class);
CREATE INDEX decisions_by_confirmation ON decisions (confirmation);
)sql";

constexpr std::array<const char*, 1> kMigrations = {kSchema1};

}  // namespace

std::span<const char* const> get_migrations() { return kMigrations; }

Result<int> find_schema_version(Database& database, int known) {
  const std::string path = database.path().string();
  KW_TRY(const int64_t version, database.get_integer("PRAGMA user_version"));
  KW_TRY(const int64_t application, database.get_integer("PRAGMA application_id"));
  if (application != kApplicationId) {
    KW_TRY(const int64_t objects, database.get_integer("SELECT count(*) FROM sqlite_schema"));
    if (version == 0 && application == 0 && objects == 0) return 0;
    return fail_user(
        "{} is not a Kernelwright store but an SQLite database of another program. Give the path of a "
        "store, or of a file that does not exist yet",
        path);
  }
  if (version > known)
    return fail("store {} is schema {}, this program knows up to {}; use a newer kernelwright", path, version,
                known);
  return static_cast<int>(version);
}

Status migrate(Database& database, std::span<const char* const> migrations) {
  KW_TRY(Transaction transaction, Transaction::begin(database));
  KW_TRY(const int version, find_schema_version(database, static_cast<int>(migrations.size())));
  for (size_t i = static_cast<size_t>(version); i < migrations.size(); ++i) {
    const Status done = database.run_script(migrations[i]);
    if (!done) return with_context(done.error(), fmt::format("migrating from schema {} to {}", i, i + 1));
  }
  KW_TRY_VOID(database.run_script(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                              kApplicationId, migrations.size())));
  return transaction.commit();
}

Result<MigratedCopy> make_migrated_copy(const fs::path& path, std::span<const char* const> migrations) {
  KW_TRY(TempFolder folder, TempFolder::make());
  KW_TRY(const auto from, Database::open_for_reading(path));
  KW_TRY(auto to, Database::open(folder.path() / "copy.db", Database::Mode::kWrite, Database::kBusyMs));
  sqlite3_backup* backup = sqlite3_backup_init(to->handle(), "main", from->handle(), "main");
  if (backup == nullptr) return to->error(sqlite3_errcode(to->handle()));
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) return (code & 0xff) == SQLITE_CORRUPT ? from->error(code) : to->error(code);
  KW_TRY_VOID(migrate(*to, migrations));
  return MigratedCopy{std::move(folder), std::move(to)};
}

}  // namespace kw
