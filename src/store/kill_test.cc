// kill -9 of a writer at any moment: what add_evaluations acknowledged is there, and nothing half. Two
// writers at once.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "store/impl.h"
#include "store/sample_test.h"

namespace kw::test {
namespace {

class KillTest : public StoreFiles {};

constexpr int kBatch = 3;

std::string name_of(int round, int batch, int i) { return fmt::format("r{}b{}i{}", round, batch, i); }

// Writes batches until killed and reports each acknowledged one.
[[noreturn]] void write_until_killed(const fs::path& path, int round, int pipe_end) {
  auto store = Store::open(path);
  if (!store) ::_exit(2);
  const auto run = store->add_run(make_run());
  if (!run) ::_exit(3);
  for (int batch = 0;; ++batch) {
    std::vector<Evaluation> evaluations;
    for (int i = 0; i < kBatch; ++i) {
      evaluations.push_back(make_pass(name_of(round, batch, i)));
      evaluations.back().source_text += std::string(static_cast<size_t>(batch % 7) * 3000, 's');
    }
    if (!store->add_evaluations(*run, evaluations)) ::_exit(4);
    if (::write(pipe_end, &batch, sizeof batch) != sizeof batch) ::_exit(5);
  }
}

TEST_F(KillTest, loses_nothing_acknowledged_and_keeps_nothing_half) {
  open();
  Random random(20240501);
  int acknowledged_total = 0;
  for (int round = 0; round < 50; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(path(), round, ends[1]);
    ::close(ends[1]);
    ::usleep(static_cast<useconds_t>(random.between(500, 40'000)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with " << WEXITSTATUS(status);
    int acknowledged = 0;
    for (int batch = 0; ::read(ends[0], &batch, sizeof batch) == sizeof batch;) acknowledged = batch + 1;
    ::close(ends[0]);
    acknowledged_total += acknowledged;

    const Store store = open();
    Database& database = *store.impl().database;
    EXPECT_EQ(
        *database.get_integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"),
        0);
    EXPECT_EQ(*database.get_integer("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    const int64_t stored = *database.get_integer("SELECT count(*) FROM evaluations WHERE schedule GLOB ?",
                                                 fmt::format("r{}b*", round));
    EXPECT_EQ(stored % kBatch, 0);
    EXPECT_GE(stored, acknowledged * kBatch);
    EXPECT_LE(stored, (acknowledged + 1) * kBatch);  // the batch in flight may have made it
    const int64_t whole = *database.get_integer(
        "SELECT count(*) FROM evaluations e JOIN sources s ON s.id = e.source JOIN timings t ON t.verdict = "
        "e.verdict "
        "JOIN samples x ON x.timing = t.id WHERE e.schedule GLOB ? AND "
        "(SELECT count(*) FROM lineage l WHERE l.evaluation = e.id) = 2",
        fmt::format("r{}b*", round));
    EXPECT_EQ(whole, stored);
  }
  EXPECT_GT(acknowledged_total, 0);
}

TEST_F(KillTest, lets_two_processes_write_at_once) {
  open();
  constexpr int kBatches = 40;
  std::vector<pid_t> children;
  for (int writer = 0; writer < 2; ++writer) {
    children.push_back(::fork());
    if (children.back() == 0) {
      auto store = Store::open(path());
      if (!store) ::_exit(1);
      const auto run = store->add_run(make_run());
      if (!run) ::_exit(1);
      for (int batch = 0; batch < kBatches; ++batch) {
        // one of its own and one that both measure
        if (!store->add_evaluations(*run,
                                    {make_pass(name_of(writer, batch, 0)), make_pass(name_of(9, batch, 0))}))
          ::_exit(1);
      }
      ::_exit(store->finish_run(*run, "done") ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Store store = open();
  EXPECT_EQ(find(store).size(), 3u * kBatches);
  EXPECT_EQ(list_runs(store)->size(), 2u);
}

}  // namespace
}  // namespace kw::test
