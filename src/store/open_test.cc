// What Store::open says when the world or the path is not as it should be.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "store/impl.h"
#include "store/sample_test.h"
#include "store/schema.h"

namespace kw::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class OpenTest : public StoreFiles {
 protected:
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }
  std::unique_ptr<Database> open_raw(const std::string& name) const {
    return std::move(*Database::open(path(name), Database::Mode::kWrite, 0));
  }
  // The message of `what` run by a user who may not change others' files.
  template <class F>
  static std::string run_unprivileged(F what) {
    int ends[2];
    if (::pipe(ends) != 0) return "no pipe";
    const pid_t child = ::fork();
    if (child == 0) {
      if (::geteuid() == 0 && (::setegid(65534) != 0 || ::seteuid(65534) != 0)) ::_exit(1);
      const std::string message = what();
      ::_exit(::write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size()) ? 0
                                                                                                       : 1);
    }
    ::close(ends[1]);
    std::string message;
    char block[4096];
    for (ssize_t got; (got = ::read(ends[0], block, sizeof block)) > 0;)
      message.append(block, static_cast<size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return message;
  }
};

TEST_F(OpenTest, makes_the_file_and_its_folder) {
  ASSERT_TRUE(Store::open(path("new") / "deep" / "it's 100 %?#.db"));
  EXPECT_TRUE(fs::exists(path("new") / "deep" / "it's 100 %?#.db"));
}

TEST_F(OpenTest, says_that_a_file_is_no_database) {
  write("text.db", std::string(5000, 'x'));
  for (const auto& result : {Store::open(path("text.db")), Store::open_read_only(path("text.db"))}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::kUser);
    EXPECT_THAT(result.error().message, AllOf(HasSubstr("text.db"), HasSubstr("not a Kernelwright store")));
  }
  EXPECT_EQ(*read_file(path("text.db")), std::string(5000, 'x'));
}

TEST_F(OpenTest, leaves_another_programs_database_alone) {
  ASSERT_TRUE(open_raw("other.db")->run_script("CREATE TABLE t (a)"));
  const auto result = Store::open(path("other.db"));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("database of another program"));
  EXPECT_EQ(*open_raw("other.db")->get_integer("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST_F(OpenTest, says_that_a_folder_or_nothing_is_no_store) {
  EXPECT_THAT(Store::open(path("").parent_path()).error().message, HasSubstr("is a folder"));
  EXPECT_THAT(Store::open("").error().message, HasSubstr("path is empty"));
  EXPECT_THAT(Store::open_read_only(path("absent.db")).error().message, HasSubstr("there is no store"));
  EXPECT_FALSE(fs::exists(path("absent.db")));
  write("empty.db", "");
  EXPECT_THAT(Store::open_read_only(path("empty.db")).error().message,
              HasSubstr("no store was made there yet"));
  write("file", "x");
  EXPECT_THAT(Store::open(path("file") / "store.db").error().message,
              HasSubstr("cannot make the store's folder"));
}

TEST_F(OpenTest, asks_for_a_newer_program_when_the_schema_is_newer) {
  open();
  ASSERT_TRUE(open_raw("store.db")->run_script("PRAGMA user_version = 7"));
  const std::string want =
      fmt::format("store {} is schema 7, this program knows up to {}; use a newer kernelwright",
                  path().string(), get_migrations().size());
  EXPECT_EQ(Store::open(path()).error().message, want);
  EXPECT_EQ(Store::open_read_only(path()).error().message, want);
}

TEST_F(OpenTest, names_the_process_that_holds_the_lock) {
  open();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto database = Database::open(path(), Database::Mode::kWrite, 0);
    const bool held = database && (*database)->run("BEGIN IMMEDIATE");
    if (::write(ready[1], held ? "y" : "n", 1) == 1) ::pause();
    ::_exit(1);
  }
  char held = 0;
  ASSERT_EQ(::read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  auto database = Database::open(path(), Database::Mode::kWrite, 20);
  const auto locked = (*database)->run("BEGIN IMMEDIATE");
  ASSERT_FALSE(locked);
  EXPECT_THAT(locked.error().message,
              AllOf(HasSubstr("is locked by"), HasSubstr("0.02 s"), HasSubstr("wait until it ends"),
                    AnyOf(HasSubstr(fmt::format("process {} (", child)), HasSubstr("fuser"))));
  const Store reader = *Store::open_read_only(path());  // readers do not wait for the writer
  EXPECT_TRUE(list_runs(reader));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE((*database)->run("BEGIN IMMEDIATE"));
}

TEST_F(OpenTest, says_that_a_file_or_folder_is_read_only_and_still_reads) {
  {
    Store store = open();
    add(store, start_run(store), {make_pass("a")});
  }
  ::chmod(path().c_str(), 0444);
  ::chmod(path().parent_path().c_str(), 0755);
  const std::string file = run_unprivileged([&] {
    const auto store = Store::open(path());
    return store ? "opened" : store.error().message;
  });
  EXPECT_THAT(file, AllOf(HasSubstr(path().string()), HasSubstr("read-only")));
  ::chmod(path().c_str(), 0666);
  const std::string folder = run_unprivileged([&] {
    auto store = Store::open(path());
    if (!store) return store.error().message;
    const auto run = store->add_run(make_run());
    return run ? "written" : run.error().message;
  });
  EXPECT_THAT(folder, AllOf(HasSubstr(path().string()), HasSubstr("read-only")));
  const std::string fresh = run_unprivileged([&] {
    const auto store = Store::open(path("new.db"));
    return store ? "opened" : store.error().message;
  });
  EXPECT_THAT(fresh, AllOf(HasSubstr("new.db"), HasSubstr("read-only")));
  const std::string read = run_unprivileged([&] {
    const auto store = Store::open_read_only(path());
    if (!store) return store.error().message;
    return fmt::format("{} evaluations", find(*store).size());
  });
  EXPECT_EQ(read, "1 evaluations");
}

TEST_F(OpenTest, keeps_all_earlier_and_nothing_of_the_batch_when_the_disk_is_full) {
  Store store = open();
  const int64_t run = start_run(store);
  add(store, run, {make_pass("a")});
  Database& database = *store.impl().database;
  const int64_t pages = *database.get_integer("PRAGMA page_count");
  ASSERT_TRUE(database.run_script(fmt::format("PRAGMA max_page_count = {}", pages + 3)));
  std::vector<Evaluation> batch;
  for (int i = 0; i < 100; ++i) {
    batch.push_back(make_pass(fmt::format("b{}", i)));
    batch.back().source_text += std::string(20'000, 'x');
  }
  const Status done = store.add_evaluations(run, batch);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kWorld);
  EXPECT_THAT(done.error().message, AllOf(HasSubstr("disk full"), HasSubstr("kernelwright store clean")));
  EXPECT_EQ(find(store).size(), 1u);
  ASSERT_TRUE(database.run_script("PRAGMA max_page_count = 1000000"));
  add(store, run, batch);
  EXPECT_EQ(find(store).size(), 101u);
}

TEST_F(OpenTest, says_that_a_store_is_damaged_and_salvages_the_rest) {
  {
    Store store = open();
    const int64_t run = start_run(store);
    for (int i = 0; i < 300; ++i) {
      Evaluation e = make_pass(fmt::format("s{}", i));
      e.verdict.evidence["text"] = std::string(3000, 'e');
      add(store, run, {e});
    }
  }
  // Pages of the table `verdicts` in the middle of its rows.
  std::string content = *read_file(path());
  int broken = 0;
  for (size_t page = 4096 * 40; page < content.size() && broken < 5; page += 4096) {
    if (content.compare(page + 2000, 16, std::string(16, 'e')) != 0) continue;
    content.replace(page, 2000, std::string(2000, '\xa5'));
    ++broken;
  }
  ASSERT_EQ(broken, 5);
  write("store.db", content);
  const auto opened = Store::open(path());  // small: checked as a whole
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, AllOf(HasSubstr("is damaged"), HasSubstr("kernelwright store export")));
  const auto store = Store::open_read_only(path());
  ASSERT_TRUE(store) << store.error().message;
  const auto exported = export_measurements(*store);
  ASSERT_FALSE(exported);
  EXPECT_THAT(exported.error().message, HasSubstr("is damaged"));
  const auto salvage = salvage_measurements(*store);
  ASSERT_TRUE(salvage) << salvage.error().message;
  EXPECT_GT(salvage->unreadable, 0);
  EXPECT_LT(salvage->unreadable, 300);
  Store fresh = open("fresh.db");
  ASSERT_TRUE(fresh.import_measurements(salvage->csv, "salvage"));
  EXPECT_EQ(static_cast<int64_t>(find(fresh).size()), 300 - salvage->unreadable);
}

TEST_F(OpenTest, lets_many_processes_create_one_store_at_once) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      auto store = Store::open(path());
      bool ok = store.has_value();
      if (ok) {
        const auto run = store->add_run(make_run());
        ok = run && store->add_evaluations(*run, {make_pass(fmt::format("s{}", i))});
      }
      ::_exit(ok ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(find(open()).size(), 8u);
}

}  // namespace
}  // namespace kw::test
