#include "store/schema.h"

#include <gmock/gmock.h>

#include "store/impl.h"
#include "store/sample_test.h"

namespace kw::test {
namespace {

using ::testing::HasSubstr;

class SchemaTest : public StoreFiles {
 protected:
  std::unique_ptr<Database> open_raw(const std::string& name = "store.db") const {
    return std::move(*Database::open(path(name), Database::Mode::kWrite, 0));
  }
};

TEST_F(SchemaTest, marks_the_file_as_ours) {
  open();
  auto database = open_raw();
  EXPECT_EQ(*database->get_integer("PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(*database->get_integer("PRAGMA user_version"), static_cast<int64_t>(get_migrations().size()));
}

TEST_F(SchemaTest, uses_a_write_ahead_log_and_foreign_keys) {
  const Store store = open();
  Database& database = *store.impl().database;
  EXPECT_EQ(*database.get_integer("PRAGMA foreign_keys"), 1);
  EXPECT_EQ(*database.get_integer("PRAGMA synchronous"), 1);  // NORMAL
  EXPECT_EQ(*database.get_integer("SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"), 1);
}

TEST_F(SchemaTest, brings_a_version_1_file_to_the_newest_schema_with_its_rows) {
  const char* const first = get_migrations()[0];
  const char* const second = "ALTER TABLE runs ADD COLUMN host TEXT; CREATE TABLE hosts (name TEXT) STRICT;";
  const char* const one[] = {first};
  const char* const two[] = {first, second};
  {
    auto database = open_raw();
    ASSERT_TRUE(migrate(*database, one));
    ASSERT_TRUE(
        database->run_script("INSERT INTO devices (key) VALUES ('cpu'); INSERT INTO runs (uid, device, "
                             "origin, command, seed, facts, version, "
                             "started) VALUES ('u', 1, 'run', 'tune', 7, '{}', '0', '2025')"));
  }
  auto database = open_raw();
  EXPECT_EQ(*find_schema_version(*database, 2), 1);
  ASSERT_TRUE(migrate(*database, two));
  EXPECT_EQ(*find_schema_version(*database, 2), 2);
  EXPECT_EQ(*database->get_integer("SELECT seed FROM runs WHERE host IS NULL"), 7);
  ASSERT_TRUE(migrate(*database, two)) << "a file that is up to date stays as it is";
  EXPECT_THAT(migrate(*database, one).error().message, HasSubstr("is schema 2, this program knows up to 1"));
}

TEST_F(SchemaTest, migrates_a_private_copy_and_leaves_the_file_alone) {
  {
    Store store = open();
    add(store, start_run(store), {make_pass("a")});
  }
  const char* const two[] = {get_migrations()[0], "ALTER TABLE runs ADD COLUMN host TEXT"};
  fs::path folder;
  {
    const auto copy = make_migrated_copy(path(), two);
    ASSERT_TRUE(copy) << copy.error().message;
    folder = copy->folder.path();
    EXPECT_EQ(*find_schema_version(*copy->database, 2), 2);
    EXPECT_EQ(*copy->database->get_integer("SELECT count(*) FROM runs WHERE host IS NULL"), 1);
  }
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_EQ(*find_schema_version(*open_raw(), 2), 1);
}

TEST_F(SchemaTest, leaves_a_file_as_it_was_when_a_migration_fails) {
  const char* const one[] = {get_migrations()[0]};
  const char* const broken[] = {get_migrations()[0], "CREATE TABLE hosts (name TEXT); CREATE TABEL x"};
  auto database = open_raw();
  ASSERT_TRUE(migrate(*database, one));
  const Status done = migrate(*database, broken);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("migrating from schema 1 to 2"));
  EXPECT_EQ(*find_schema_version(*database, 2), 1);
  EXPECT_EQ(*database->get_integer("SELECT count(*) FROM sqlite_schema WHERE name = 'hosts'"), 0);
}

TEST_F(SchemaTest, takes_constraints_as_law_even_for_other_programs) {
  Store store = open();
  add(store, start_run(store), {make_pass("a"), make_failure("b")});
  Database& database = *store.impl().database;
  EXPECT_FALSE(database.run("UPDATE verdicts SET class = 'passed' WHERE class = 'pass'"));
  EXPECT_FALSE(database.run(
      "UPDATE verdicts SET class = 'hang', reason = 'x' WHERE class = 'pass'"));  // it has a timing
  EXPECT_FALSE(database.run("UPDATE verdicts SET reason = NULL WHERE class <> 'pass'"));
  EXPECT_FALSE(database.run("UPDATE verdicts SET evidence = '{'"));
  EXPECT_FALSE(database.run("UPDATE timings SET verdict = (SELECT id FROM verdicts WHERE class <> 'pass')"));
  EXPECT_FALSE(database.run("UPDATE timings SET class = 'hang'"));
  EXPECT_FALSE(database.run("UPDATE timings SET ratio_high = 0"));
  EXPECT_FALSE(database.run("UPDATE evaluations SET run = 99"));
  EXPECT_FALSE(database.run(
      "INSERT INTO verdicts SELECT id + 100, problem, device, protocol_version, binary, candidate, "
      "run, finished_s, class, reason, evidence, ran, promoted FROM verdicts"));
}

}  // namespace
}  // namespace kw::test
