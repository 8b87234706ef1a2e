#include "target/cuda/layout.h"

#include <gtest/gtest.h>

namespace kw::cuda {
namespace {

Workload make_two_operands(int64_t rows, int64_t cols, int64_t ld) {
  Workload workload;
  for (const char* name : {"a", "c"})
    workload.operands.push_back(
        {name, Dtype::kF16, rows, cols, ld, *name == 'a' ? Access::kIn : Access::kOut});
  return workload;
}

bool is_mapped(const Layout& layout, int64_t offset) {
  for (const MappedRange& range : layout.mapped)
    if (offset >= range.offset && offset < range.offset + range.size) return true;
  return false;
}

TEST(CudaLayout, fences_stand_before_the_start_or_behind_the_end) {
  const Workload workload = make_two_operands(64, 64, 64);
  for (const Placement placement : {Placement::kAligned, Placement::kEnd}) {
    const Layout layout = plan_layout(workload, {.sets = 1, .placement = placement});
    ASSERT_TRUE(layout.fenced);
    for (int operand = 0; operand < 2; ++operand) {
      const OperandPlace& place = layout.place(0, operand);
      const int64_t end = place.device_offset + place.span_bytes;
      EXPECT_TRUE(is_mapped(layout, place.device_offset) && is_mapped(layout, end - 1));
      EXPECT_EQ(is_mapped(layout, place.device_offset - 1), placement == Placement::kEnd);
      EXPECT_EQ(is_mapped(layout, end), placement == Placement::kAligned);
      EXPECT_EQ(place.device_offset % kOddBytes, 0);
    }
  }
}

TEST(CudaLayout, an_end_that_is_no_multiple_of_16_bytes_has_its_last_bytes_guarded) {
  const Layout layout = plan_layout(make_two_operands(3, 5, 5), {.sets = 1, .placement = Placement::kEnd});
  const OperandPlace& place = layout.place(0, 0);
  EXPECT_EQ(place.span_bytes, 30);
  EXPECT_EQ(place.guard_behind, 2);
  EXPECT_FALSE(is_mapped(layout, place.device_offset + 32));
}

TEST(CudaLayout, spread_rows_have_nothing_between) {
  const Workload workload = make_two_operands(3, 8, 8);
  Workload spread = workload;
  for (Operand& operand : spread.operands) operand.ld = int64_t{1} << 31;
  const Layout layout = plan_layout(workload, {.sets = 1, .spread = spread});
  EXPECT_EQ(layout.mapped.size(), 6U);
  int64_t mapped_bytes = 0;
  for (const MappedRange& range : layout.mapped) mapped_bytes += range.size;
  EXPECT_EQ(mapped_bytes, 6 * kGranuleBytes);
  const OperandPlace& place = layout.place(0, 1);
  EXPECT_TRUE(is_mapped(layout, place.device_offset + 2 * place.device_pitch_bytes));
  EXPECT_FALSE(is_mapped(layout, place.device_offset + place.device_pitch_bytes / 2));
}

TEST(CudaLayout, timed_sets_lie_side_by_side) {
  const Layout layout = plan_layout(make_two_operands(64, 64, 64), {.sets = 3});
  EXPECT_FALSE(layout.fenced);
  for (size_t at = 1; at < layout.places.size(); ++at) {
    const OperandPlace &before = layout.places[at - 1], &place = layout.places[at];
    EXPECT_GE(place.device_offset, before.device_offset + before.span_bytes + kGuardBytes);
    EXPECT_EQ(place.device_offset % kAlignedBytes, 0);
  }
}

TEST(CudaLayout, prints_and_reads_inversely) {
  const Layout layout = plan_layout(make_two_operands(3, 5, 7), {.sets = 1, .placement = Placement::kEnd});
  EXPECT_EQ(print_layout(read_layout(print_layout(layout))), print_layout(layout));
}

}  // namespace
}  // namespace kw::cuda
