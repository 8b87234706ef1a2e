// The benchmark on a device whose routines really compute and whose times are given: verdicts, screening,
// resume, stops, modes, a kernel of ours.
#include "loop/bench.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/hash.h"
#include "measure/fake_device_test.h"
#include "problem/model.h"
#include "store/bench_table.h"

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum class Answer { kRight, kZeros };

struct Routine {
  double us = 1;
  std::string identity;
  Answer answer = Answer::kRight;
  bool serves = true;
};

// C = alpha A B + beta C in the layout of the problem, on every set whose turn it is.
class ComputingProgram final : public Program {
 public:
  ComputingProgram(Routine routine, Buffers& buffers, int64_t& calls)
      : routine_(std::move(routine)), buffers_(buffers), calls_(calls) {}
  RunOutcome run(int first_set, int64_t calls, Milliseconds) override {
    for (int64_t i = 0; i < std::min<int64_t>(calls, buffers_.sets()); ++i)
      compute(static_cast<int>((first_set + i) % buffers_.sets()));
    calls_ += calls;
    return {.elapsed_us = routine_.us * static_cast<double>(calls)};
  }
  void poison_workspace(uint64_t) override {}
  const std::string& identity() const override { return routine_.identity; }
  Result<std::vector<ServerCall>> serve(int64_t calls, double rate_hz, uint64_t seed) override {
    if (!routine_.serves) return Program::serve(calls, rate_hz, seed);
    std::vector<ServerCall> all(static_cast<size_t>(calls), {routine_.us, routine_.us + 5});
    all.back() = {10 * routine_.us, 10 * routine_.us + 5};
    return all;
  }

 private:
  void compute(int set) {
    const Problem& p = buffers_.workload().problem;
    const auto at = [&](int operand) {
      return reinterpret_cast<float*>(buffers_.contents(set, operand).data());
    };
    const float *a = at(0), *b = at(1);
    float* c = at(2);
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < p.k; ++l)
          sum += a[i * p.lda + l] * (p.layout == Layout::kNT ? b[j * p.ldb + l] : b[l * p.ldb + j]);
        c[i * p.ldc + j] = routine_.answer == Answer::kZeros ? 0 : sum;
      }
  }
  Routine routine_;
  Buffers& buffers_;
  int64_t& calls_;
};

class ComputingDevice final : public Device {
 public:
  std::map<std::string, Routine> routines;
  Routine ours{2, "ours"};
  int64_t calls = 0;  // of all programs
  int starts = 0;
  bool out_of_memory = false;

  ComputingDevice() { facts_.target = "cuda", facts_.name = "fake"; }
  const DeviceFacts& facts() const override { return facts_; }
  Result<std::unique_ptr<Buffers>> make_buffers(const Workload& workload, const BufferPlan& plan) override {
    if (out_of_memory) return fail("out of memory");
    return std::make_unique<FakeBuffers>(workload, std::min(plan.sets, 3));
  }
  Result<tl::expected<std::unique_ptr<Program>, Verdict>> start_candidate(const Binary&,
                                                                          Buffers& buffers) override {
    return tl::expected<std::unique_ptr<Program>, Verdict>(
        std::make_unique<ComputingProgram>(ours, buffers, calls));
  }
  Result<std::vector<std::string>> find_baselines(const Workload&) override {
    std::vector<std::string> names;
    for (const auto& [name, routine] : routines) names.push_back(name);
    return names;
  }
  Result<std::unique_ptr<Program>> start_baseline(const std::string& name, Buffers& buffers) override {
    ++starts;
    return std::make_unique<ComputingProgram>(routines.at(name), buffers, calls);
  }

 private:
  DeviceFacts facts_;
};

class BenchTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = TempFolder::make().value();
    device_.routines = {{"cublas", {20, "cuBLAS default"}},
                        {"cublaslt_heuristic", {8, "Lt tile 64x64"}},
                        {"cublaslt_w32_0", {8, "Lt tile 64x64"}},
                        {"cublaslt_w32_1", {5, "Lt tile 32x32"}},
                        {"cublaslt_w32_2", {1, "Lt wrong", Answer::kZeros}},
                        {"cublaslt_w32_3", {30, "Lt slow"}}};
    const auto uses = parse_shapes_csv("name,m,n,k,layout\nx,5,6,7,nn\nx,5,6,7,nt\ny,3,4,9,nn\n", "list");
    plan_.uses = *uses;
    plan_.table = folder_->path() / "bench.csv";
    plan_.settings.sample_us = 100;
    plan_.settings.finalists = 2;
    plan_.settings.pairs = 3;
    watcher_.show = [this](const BenchProgress& progress) { shown_.push_back(progress); };
    watcher_.say = [this](const std::string& line) { said_.push_back(line); };
    watcher_.should_stop = [this] { return shown_.size() >= stop_after_; };
  }
  BenchOutcome run() {
    auto outcome = run_bench(device_, plan_, watcher_);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
    return outcome ? std::move(*outcome) : BenchOutcome();
  }
  std::string content() const { return read_file(plan_.table).value_or(""); }

  std::optional<TempFolder> folder_;
  ComputingDevice device_;
  BenchPlan plan_;
  BenchWatcher watcher_;
  std::vector<BenchProgress> shown_;
  std::vector<std::string> said_;
  size_t stop_after_ = SIZE_MAX;
};

TEST_F(BenchTest, gives_the_figures_of_every_case_and_keeps_wrong_routines_out) {
  const BenchOutcome outcome = run();
  EXPECT_EQ(outcome.measured, 3);
  EXPECT_FALSE(outcome.interrupted);
  ASSERT_EQ(outcome.cases.size(), 3u);
  for (const BenchCase& one : outcome.cases) {
    const BenchRow& row = one.row;
    EXPECT_EQ(row.cublas_us, 20);
    EXPECT_EQ(row.heuristic_us, 8);
    EXPECT_FALSE(row.torch_us);
    EXPECT_EQ(*row.cublaslt, (BenchFigure{"cublaslt_w32_1", "Lt tile 32x32", 5}));
    EXPECT_EQ(*row.bar, *row.cublaslt);
    EXPECT_EQ(row.algorithms, 6);
    EXPECT_EQ(row.refused, "cublaslt_w32_2 wrong_result/zeros");
    EXPECT_EQ(row.agreement, 0);
    EXPECT_FALSE(row.ours);
    EXPECT_EQ(row.protocol_version, kProtocolVersion);
  }
  EXPECT_EQ(outcome.cases[0].shape, outcome.cases[1].shape);
  EXPECT_EQ(outcome.cases[2].flops, 2 * 3 * 4 * 9);
  ASSERT_EQ(said_.size(), 3u);
  EXPECT_THAT(said_[0], HasSubstr("wrong_result/zeros"));
  ASSERT_EQ(shown_.size(), 3u);
  EXPECT_FALSE(shown_[0].left_s);
  EXPECT_TRUE(shown_[2].left_s);
  EXPECT_EQ(shown_[2].done, 2u);
  EXPECT_EQ(shown_[2].total, 3u);
}

TEST_F(BenchTest, hidden_spots_refuse_what_no_family_was_run_on) {
  plan_.settings.classes = {{0x1p62, BenchCheck::kSpots}};
  const BenchOutcome outcome = run();
  EXPECT_EQ(outcome.cases[0].row.bar->name, "cublaslt_w32_1");
  EXPECT_THAT(outcome.cases[0].row.refused, HasSubstr("cublaslt_w32_2 failed while timed"));
}

TEST_F(BenchTest, verification_can_be_left_out_by_size) {
  plan_.settings.classes = {{0x1p62, BenchCheck::kNone}};
  EXPECT_EQ(run().cases[0].row.bar->name, "cublaslt_w32_2");
}

TEST_F(BenchTest, goes_on_where_it_was_stopped) {
  stop_after_ = 2;
  const BenchOutcome first = run();
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(first.measured, 2);
  EXPECT_EQ(first.cases.size(), 2u);
  stop_after_ = SIZE_MAX;
  const BenchOutcome second = run();
  EXPECT_EQ(second.known, 2);
  EXPECT_EQ(second.measured, 1);
  EXPECT_EQ(second.cases.size(), 3u);
  const int64_t calls = device_.calls;
  const std::string before = content();
  EXPECT_EQ(run().measured, 0);
  EXPECT_EQ(device_.calls, calls);
  EXPECT_EQ(content(), before);
}

TEST_F(BenchTest, a_torn_last_line_is_measured_again) {
  run();
  const std::string whole = content();
  std::ofstream(plan_.table) << whole.substr(0, whole.size() - 10);
  said_.clear();
  const BenchOutcome outcome = run();
  EXPECT_EQ(outcome.known, 2);
  EXPECT_EQ(outcome.measured, 1);
  EXPECT_THAT(said_[0], HasSubstr("torn last line"));
  EXPECT_EQ(parse_bench_table(content(), "t")->size(), 3u);
}

TEST_F(BenchTest, a_new_mode_adds_rows_of_that_mode_only) {
  run();
  plan_.modes = {BenchMode::kOffline, BenchMode::kServer, BenchMode::kCudaL2};
  const BenchOutcome outcome = run();
  EXPECT_EQ(outcome.known, 3);
  EXPECT_EQ(outcome.measured, 6);
  std::vector<BenchMode> modes;
  for (const BenchCase& one : outcome.cases)
    if (one.row.problem == outcome.cases[0].row.problem) modes.push_back(one.row.mode);
  EXPECT_THAT(modes, ElementsAre(BenchMode::kOffline, BenchMode::kServer, BenchMode::kCudaL2));
  const BenchRow& server = outcome.cases[3].row;
  EXPECT_EQ(server.bar->name, "cublaslt_w32_1");
  EXPECT_EQ(server.bar->us, 5);
  EXPECT_EQ(server.rate_hz, 2000);
  EXPECT_EQ(server.server->device_p50_us, 5);
  EXPECT_EQ(server.server->host_p50_us, 10);
  EXPECT_EQ(server.cublas_us, 20);
  const BenchRow& single = outcome.cases[4].row;
  EXPECT_DOUBLE_EQ(single.bar->us, 5);
  EXPECT_FALSE(single.server);
}

TEST_F(BenchTest, a_mode_that_the_target_lacks_ends_the_run_with_its_reason) {
  for (auto& [name, routine] : device_.routines) routine.serves = false;
  plan_.modes = {BenchMode::kServer};
  const auto outcome = run_bench(device_, plan_, watcher_);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::kUser);
  EXPECT_THAT(outcome.error().message, HasSubstr("server mode is not supported"));
}

TEST_F(BenchTest, a_kernel_of_ours_is_measured_with_the_bar_in_every_mode) {
  plan_.uses.resize(1);
  plan_.modes = {BenchMode::kOffline, BenchMode::kServer, BenchMode::kCudaL2};
  plan_.settings.find_ours = [](const Problem&) -> Result<std::optional<Binary>> {
    return std::optional(Binary{.hash = "h1"});
  };
  const BenchOutcome outcome = run();
  ASSERT_EQ(outcome.cases.size(), 3u);
  for (const BenchCase& one : outcome.cases) {
    ASSERT_TRUE(one.row.ours) << print_bench_mode(one.row.mode);
    EXPECT_EQ(one.row.ours->kernel, "h1");
    EXPECT_DOUBLE_EQ(one.row.ours->us, 2);
    EXPECT_DOUBLE_EQ(one.row.ours->ratio, 2.5);
    EXPECT_LE(one.row.ours->low, one.row.ours->ratio);
    EXPECT_GE(one.row.ours->high, one.row.ours->ratio);
  }
  EXPECT_EQ(outcome.cases[1].row.ours->server->device_p50_us, 2);
}

TEST_F(BenchTest, what_the_target_reads_stands_in_the_row) {
  plan_.settings.read_state = [] { return BenchState{1980.0, std::nullopt, "power cap"}; };
  plan_.settings.workspace_mib = 256;
  const BenchOutcome outcome = run();
  const BenchRow& row = outcome.cases[0].row;
  EXPECT_EQ(row.state.sm_mhz, 1980);
  EXPECT_FALSE(row.state.power_w);
  EXPECT_EQ(row.state.throttle, "power cap");
  EXPECT_EQ(row.workspace_mib, 256);
}

TEST_F(BenchTest, a_device_without_routines_gives_rows_without_a_bar) {
  device_.routines.clear();
  const BenchOutcome outcome = run();
  EXPECT_EQ(outcome.measured, 3);
  EXPECT_FALSE(outcome.cases[0].row.bar);
  EXPECT_EQ(outcome.cases[0].row.algorithms, 0);
}

TEST_F(BenchTest, three_failures_in_a_row_end_the_run) {
  device_.out_of_memory = true;
  const auto outcome = run_bench(device_, plan_, watcher_);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("3x4x9 nn f32: out of memory"));
  EXPECT_EQ(said_.size(), 2u);
  plan_.uses.resize(2);
  EXPECT_EQ(run().failed, 2);
  EXPECT_EQ(content(), bench_header() + "\n");
}

}  // namespace
}  // namespace kw
