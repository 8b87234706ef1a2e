// Where operands lie, checked by arithmetic alone.
#include "target/cpu/layout.h"

#include <set>

#include "target/cpu/kernels_test.h"
#include "target/pattern.h"
#include "target/shared_memory.h"

namespace kw {
namespace {

TEST(Layout, puts_an_aligned_single_set_right_behind_guards) {
  const auto layout = plan_operands(make_gemm(10, 11, 12), {1, Placement::kAligned});
  ASSERT_TRUE(layout.has_value());
  for (const OperandPlace& place : layout->places) {
    EXPECT_EQ(place.slack_before, 0U);
    EXPECT_EQ(place.address_offset % kPageBytes, 0U);
  }
}

TEST(Layout, ends_operands_at_a_page_end_when_asked) {
  const auto layout = plan_operands(make_gemm(10, 11, 12), {3, Placement::kEnd});
  ASSERT_TRUE(layout.has_value());
  for (const OperandPlace& place : layout->places) {
    EXPECT_EQ((place.address_offset + place.span_bytes) % kPageBytes, 0U);
    EXPECT_EQ(place.slack_behind, 0U);
  }
}

TEST(Layout, staggers_sets_over_page_offsets_and_keeps_lines) {
  const auto layout = plan_operands(make_gemm(16, 16, 16), {32, Placement::kAligned});
  ASSERT_TRUE(layout.has_value());
  std::set<uint64_t> offsets;
  for (int set = 0; set < 32; ++set) offsets.insert(layout->place(set, 0).address_offset % kPageBytes);
  EXPECT_GE(offsets.size(), 16U);
  for (const OperandPlace& place : layout->places) EXPECT_EQ(place.address_offset % kLineBytes, 0U);
}

TEST(Layout, never_overlaps_and_maps_every_operand) {
  for (const Placement placement : {Placement::kAligned, Placement::kEnd}) {
    const auto layout = plan_operands(make_gemm(7, 1030, 3), {kGuardedSets + 5, placement});
    ASSERT_TRUE(layout.has_value());
    uint64_t last_file = 0, last_address = 0;
    for (const OperandPlace& place : layout->places) {
      EXPECT_GE(place.file_offset - place.slack_before, last_file);
      EXPECT_GE(place.address_offset - place.slack_before, last_address);
      last_file = place.file_offset + place.span_bytes + place.slack_behind;
      last_address = place.address_offset + place.span_bytes + place.slack_behind;
      bool mapped = false;
      for (const Region& region : layout->regions)
        mapped |= place.address_offset >= region.address_offset &&
                  last_address <= region.address_offset + region.size_bytes &&
                  place.file_offset - region.file_offset == place.address_offset - region.address_offset;
      EXPECT_TRUE(mapped);
    }
    EXPECT_LE(last_file, layout->file_bytes);
    EXPECT_LE(last_address, layout->reserved_bytes);
  }
}

TEST(Layout, finds_the_nearest_element_on_both_sides_of_a_guard) {
  const Workload workload = make_gemm(10, 11, 12);
  const auto layout = plan_operands(workload, {1, Placement::kEnd});
  ASSERT_TRUE(layout.has_value());
  const OperandPlace& a = layout->place(0, 0);
  const OperandPlace& b = layout->place(0, 1);
  const auto behind_a = find_near_element(*layout, workload, a.address_offset + a.span_bytes + 4);
  ASSERT_TRUE(behind_a.has_value());
  EXPECT_EQ(behind_a->operand, 0);
  EXPECT_EQ(behind_a->element, 121);
  const auto before_b = find_near_element(*layout, workload, b.address_offset - 1);
  ASSERT_TRUE(before_b.has_value());
  EXPECT_EQ(before_b->operand, 1);
  EXPECT_EQ(before_b->element, -1);
  EXPECT_FALSE(find_near_element(*layout, workload, layout->reserved_bytes).has_value());
}

TEST(Layout, refuses_no_sets_and_impossible_sizes) {
  EXPECT_FALSE(plan_operands(make_gemm(1, 1, 1), {0}).has_value());
  EXPECT_FALSE(plan_operands(make_gemm(int64_t{1} << 28, int64_t{1} << 28, 1), {1}).has_value());
}

TEST(Pattern, is_found_broken_at_the_changed_byte_only) {
  std::vector<std::byte> memory(100);
  fill_pattern(memory, 3, 97, 5);
  EXPECT_FALSE(find_pattern_break(memory, 3, 97, 5).has_value());
  EXPECT_TRUE(find_pattern_break(memory, 3, 97, 6).has_value());
  EXPECT_EQ(memory[2], std::byte{0});
  EXPECT_EQ(memory[97], std::byte{0});
  for (size_t i = 3; i < 97; ++i) {
    memory[i] ^= std::byte{1};
    EXPECT_EQ(find_pattern_break(memory, 3, 97, 5), i);
    memory[i] ^= std::byte{1};
  }
}

}  // namespace
}  // namespace kw
