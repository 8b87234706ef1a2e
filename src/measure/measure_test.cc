// Baselines, operands and the machine's load, on a simulated device and a written /proc.
#include "measure/measure.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "base/file.h"
#include "base/random.h"
#include "base/statistics.h"
#include "measure/busy.h"
#include "measure/fake_device_test.h"

namespace kw {
namespace {

using testing::HasSubstr;

MeasurePlan quiet_plan() {
  MeasurePlan plan;
  plan.watch_load = false;
  return plan;
}

TEST(Baselines, are_sorted_with_refused_ones_last) {
  FakeDevice device;
  device.routines = {{"slow", steady(50)}, {"fast", steady(20)}, {"dies", steady(1)}};
  device.broken["dies"] = {.status = RunOutcome::Status::kFault, .detail = "read past b"};
  FakeBuffers buffers(make_fake_workload(4, 4, 4), 4);
  const auto rows = measure_baselines(device, buffers, {"missing", "slow", "dies", "fast"}, quiet_plan());
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 4U);
  EXPECT_EQ((*rows)[0].name, "fast");
  EXPECT_DOUBLE_EQ((*rows)[0].median_us, 20);
  EXPECT_EQ((*rows)[1].name, "slow");
  EXPECT_EQ((*rows)[2].refused, "does not start: missing is not installed");
  EXPECT_THAT((*rows)[3].refused, HasSubstr("crash/fault"));
  EXPECT_THAT((*rows)[3].refused, HasSubstr("read past b"));
  EXPECT_EQ((*rows)[0].note, "");
}

TEST(Baselines, are_measured_again_when_their_halves_disagree) {
  FakeDevice device;
  // 2500 us samples of one call: 1 calibration, 1 warm-up, 16 slow, then steady: only the first measurement
  // is torn.
  device.routines = {{"settles", [](int sample) { return sample < 18 ? 5000.0 : 2500.0; }},
                     {"drifts", [](int sample) { return 2500.0 * (1 + 0.02 * sample); }}};
  FakeBuffers buffers(make_fake_workload(4, 4, 4), 4);
  const auto rows = measure_baselines(device, buffers, {"settles", "drifts"}, quiet_plan());
  ASSERT_TRUE(rows);
  EXPECT_EQ((*rows)[0].name, "settles");
  EXPECT_EQ((*rows)[0].median_us, 2500);
  EXPECT_EQ((*rows)[0].note, "");
  EXPECT_THAT((*rows)[1].note, HasSubstr("unsteady"));
}

TEST(Baselines, are_measured_once_where_the_same_routine_has_two_names) {
  FakeDevice device;
  device.routines = {{"slow", steady(50)}, {"fast", steady(20)}};
  FakeBuffers buffers(make_fake_workload(4, 4, 4), 4);
  const auto rows = measure_baselines(device, buffers, {"fast", "slow", "fast"}, quiet_plan());
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ((*rows)[0].latency_us, (*rows)[1].latency_us);
  EXPECT_EQ((*rows)[1].median_us, 20);
  EXPECT_EQ((*rows)[2].name, "slow");
}

TEST(RankedBaselines, run_twice_and_say_who_failed) {
  FakeDevice device;
  device.routines = {{"slow", steady(50)},
                     {"fast", steady(20)},
                     {"hangs", steady(1e9)},
                     {"dies", steady(1)},
                     {"no time", steady(std::nan(""))}};
  device.broken["dies"] = {.status = RunOutcome::Status::kFault, .detail = "bad address"};
  device.fail_at = 2;
  FakeBuffers buffers(make_fake_workload(4, 4, 4), 4);
  const auto rows = rank_baselines(device, buffers, {"slow", "missing", "dies", "hangs", "no time", "fast"},
                                   Milliseconds(1000));
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 6U);
  EXPECT_THAT((*rows)[5].refused, HasSubstr("cheat/impossible_time"));
  EXPECT_EQ((*rows)[0].name, "fast");
  EXPECT_DOUBLE_EQ((*rows)[0].median_us, 20);
  EXPECT_EQ((*rows)[0].identity, "fast 1.0");
  EXPECT_EQ((*rows)[1].name, "slow");
  EXPECT_EQ((*rows)[2].refused, "does not start: missing is not installed");
  EXPECT_THAT((*rows)[3].refused, HasSubstr("crash/fault"));
  EXPECT_THAT((*rows)[3].refused, HasSubstr("bad address"));
  EXPECT_THAT((*rows)[4].refused, HasSubstr("hang/time_limit"));
}

TEST(PlanSets, covers_four_times_l2_within_its_limits) {
  DeviceFacts device;
  device.l2_bytes = 1 << 20;
  const auto sets = [&](int64_t rows, int64_t cols) {
    return plan_sets(make_fake_workload(rows, cols, cols), device);
  };
  EXPECT_EQ(sets(256, 256), 8);     // 2 x 256 KiB a set, 4 MiB wanted
  EXPECT_EQ(sets(1024, 1024), 2);   // 8 MiB a set: at least two
  EXPECT_EQ(sets(1, 1), 4096);      // two cache lines a set: as many as allowed
  EXPECT_EQ(sets(16384, 8192), 1);  // 1 GiB a set: two do not fit the limit
  EXPECT_EQ(sets(0, 8), 1);
  device.l2_bytes = 0;
  EXPECT_EQ(sets(256, 256), 16);  // unknown L2 counts as 2 MiB
}

float element(FakeBuffers& buffers, int set, int operand, int64_t index) {
  float value = 0;
  std::memcpy(&value, buffers.contents(set, operand).data() + index * 4, 4);
  return value;
}

TEST(FillForTiming, gives_normal_inputs_that_differ_between_sets) {
  FakeBuffers buffers(make_fake_workload(300, 500, 500), 3);
  fill_for_timing(buffers, 9);
  double sum = 0, squares = 0;
  int equal = 0;
  for (int64_t i = 0; i < 300 * 500; ++i) {
    const double value = element(buffers, 0, 0, i);
    sum += value;
    squares += value * value;
    if (element(buffers, 1, 0, i) == element(buffers, 0, 0, i)) ++equal;
  }
  EXPECT_NEAR(sum / 150000, 0, 0.02);
  EXPECT_NEAR(squares / 150000, 1, 0.03);
  EXPECT_LT(equal, 10);
  EXPECT_TRUE(std::isnan(element(buffers, 2, 1, 77)));
}

TEST(FillForTiming, leaves_gaps_alone_and_fills_outputs_that_are_read) {
  FakeBuffers buffers(make_fake_workload(5, 3, 8, Access::kInOut), 1);
  fill_for_timing(buffers, 9);
  const auto c = buffers.contents(0, 1);
  for (size_t row = 0; row + 1 < 5; ++row)
    for (size_t byte = 12; byte < 32; ++byte) EXPECT_EQ(c[row * 32 + byte], std::byte{0x11});
  for (int64_t row = 0; row < 5; ++row) EXPECT_TRUE(std::isfinite(element(buffers, 0, 1, row * 8)));
  EXPECT_NE(element(buffers, 0, 1, 0), element(buffers, 0, 1, 8));
}

TEST(FillForTiming, rounds_to_half_types) {
  Workload workload;
  workload.operands = {{"h", Dtype::kF16, 1, 4096, 4096, Access::kIn},
                       {"b", Dtype::kBf16, 1, 4096, 4096, Access::kIn}};
  FakeBuffers buffers(workload, 1);
  fill_for_timing(buffers, 3);
  double half_squares = 0, bfloat_squares = 0;
  for (size_t i = 0; i < 4096; ++i) {
    uint16_t half = 0, bfloat = 0;
    std::memcpy(&half, buffers.contents(0, 0).data() + 2 * i, 2);
    std::memcpy(&bfloat, buffers.contents(0, 1).data() + 2 * i, 2);
    const int exponent = (half >> 10) & 31;
    const double half_value = exponent == 0 ? 0 : std::ldexp(1024 + (half & 1023), exponent - 25);
    const uint32_t wide = static_cast<uint32_t>(bfloat) << 16;
    float bfloat_value = 0;
    std::memcpy(&bfloat_value, &wide, 4);
    half_squares += half_value * half_value;
    bfloat_squares += bfloat_value * static_cast<double>(bfloat_value);
  }
  EXPECT_NEAR(half_squares / 4096, 1, 0.1);
  EXPECT_NEAR(bfloat_squares / 4096, 1, 0.1);
}

// A /proc with two cores and process 10 whose child is 11.
class WrittenProc {
 public:
  explicit WrittenProc(const fs::path& root) : root_(root) {}
  void write_cores(int64_t busy0, int64_t busy1, int64_t steal1, int64_t now) const {
    write("stat",
          fmt::format("cpu  0 0 0 0\ncpu0 {} 0 0 {} 0 0 0 0 0 0\ncpu1 0 {} 0 {} 0 0 0 {} 0 0\nintr 5\n",
                      busy0, now - busy0, busy1, now - busy1 - steal1, steal1));
  }
  void write_process(int id, const std::string& children, int64_t ticks, int64_t ended, int core) const {
    const auto folder = fmt::format("{}/task/{}/", id, id);
    const auto stat = fmt::format(
        "{} (odd ) name) S 1 1 1 0 -1 0 0 0 0 0 {} 1 {} 0 20 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0 0 0 0 17 {} 0 0\n",
        id, ticks - 1, ended, core);
    write(folder + "stat", stat);
    write(fmt::format("{}/stat", id), stat);
    write(folder + "children", children);
  }

 private:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  fs::path root_;
};

TEST(MachineLoad, counts_what_is_not_ours) {
  const auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const WrittenProc proc(folder->path());
  proc.write_cores(1000, 500, 0, 10000);
  proc.write_process(10, "11 ", 300, 40, 0);
  proc.write_process(11, "", 50, 0, 1);
  const auto before_all = read_load(folder->path(), 10, false),
             before_core = read_load(folder->path(), 10, true);
  // 200 ticks: core 0 busy 60 (50 ours), core 1 busy 150 (80 ours) and 20 stolen by the host.
  proc.write_cores(1060, 650, 20, 10200);
  proc.write_process(10, "11 ", 350, 40, 0);
  proc.write_process(11, "", 130, 0, 1);
  const auto all = compare_loads(before_all, read_load(folder->path(), 10, false), {});
  EXPECT_DOUBLE_EQ(*all.other_share, (60 + 170 - 130 - 2) / 400.0);
  EXPECT_TRUE(all.disturbed());
  EXPECT_EQ(all.text(), "machine busy: others used 24 % of the cores");
  const auto after_core = read_load(folder->path(), 10, true);
  EXPECT_DOUBLE_EQ(*compare_loads(before_core, after_core, {1}).other_share, (170 - 80 - 2) / 200.0);
  const auto quiet = compare_loads(before_core, after_core, {0});
  EXPECT_DOUBLE_EQ(*quiet.other_share, (60 - 50 - 2) / 200.0);
  EXPECT_FALSE(quiet.disturbed());
  EXPECT_EQ(quiet.text(), "");
}

TEST(MachineLoad, counts_children_that_ended_as_ours) {
  const auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const WrittenProc proc(folder->path());
  proc.write_cores(1000, 500, 0, 10000);
  proc.write_process(10, "11 ", 300, 40, 0);
  proc.write_process(11, "", 50, 0, 1);
  const auto before = read_load(folder->path(), 10, false);
  proc.write_cores(1000, 600, 0, 10100);
  proc.write_process(10, "", 300, 40 + 150, 0);  // the child's 50 + 100 ticks
  const auto load = compare_loads(before, read_load(folder->path(), 10, false), {});
  EXPECT_EQ(*load.other_share, 0);
}

TEST(MachineLoad, counts_ended_workers_as_ours_on_the_cores_they_were_pinned_to) {
  const auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const WrittenProc proc(folder->path());
  proc.write_cores(1000, 500, 0, 10000);
  proc.write_process(10, "11 ", 300, 40, 0);
  proc.write_process(11, "", 50, 0, 1);
  const auto before = read_load(folder->path(), 10, true);
  proc.write_cores(1000, 600, 0, 10100);
  proc.write_process(10, "", 300, 40 + 50 + 90, 0);  // the child's 50 + 60 ticks and 30 of one born since
  const auto after = read_load(folder->path(), 10, true);
  EXPECT_EQ(*compare_loads(before, after, {1}, EndedChildren::kOnWatchedCores).other_share,
            (100 - 90 - 2) / 100.0);
  EXPECT_EQ(*compare_loads(before, after, {1}).other_share, (100 - 2) / 100.0);
}

TEST(MachineLoad, is_unknown_where_files_are_missing_or_do_not_add_up) {
  const auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const auto nothing = read_load(folder->path(), 10, false);
  const auto missing = compare_loads(nothing, nothing, {});
  EXPECT_FALSE(missing.other_share);
  EXPECT_FALSE(missing.disturbed());
  EXPECT_THAT(missing.text(), HasSubstr("machine load unknown: cannot read"));
  const WrittenProc proc(folder->path());
  proc.write_cores(0, 0, 0, 100);
  proc.write_process(10, "", 10, 0, 0);
  const auto before = read_load(folder->path(), 10, false);
  EXPECT_THAT(compare_loads(before, before, {}).text(), HasSubstr("counts no core time"));
  proc.write_cores(0, 0, 0, 200);
  proc.write_process(10, "", 110, 0, 0);
  EXPECT_THAT(compare_loads(before, read_load(folder->path(), 10, false), {}).text(),
              HasSubstr("do not add up"));
}

TEST(BusyWatch, reads_this_machine_or_says_why_not) {
  const MachineLoad load = BusyWatch({}).read();
  EXPECT_NE(load.other_share.has_value(), !load.unknown.empty());
  EXPECT_EQ(BusyWatch({}, false).read().text(), "");
}

}  // namespace
}  // namespace kw
