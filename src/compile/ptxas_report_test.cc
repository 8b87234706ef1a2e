#include "compile/ptxas_report.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(PtxasReport, largest_numbers_of_all_kernels_are_read) {
  const Json facts = read_ptxas_report(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 96 registers, used 1 barriers, 1024 bytes smem\n"
      "    16 bytes stack frame, 8 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 40 registers\n");
  EXPECT_EQ(facts["registers"], 96);
  EXPECT_EQ(facts["spill_store_bytes"], 8);
  EXPECT_EQ(facts["spill_load_bytes"], 24);
  EXPECT_EQ(facts["stack_bytes"], 16);
  EXPECT_EQ(facts["shared_bytes"], 1024);
  EXPECT_FALSE(facts.contains("warnings"));
}

TEST(PtxasReport, serialised_wgmma_is_kept_as_a_warning) {
  const Json facts = read_ptxas_report(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n");
  ASSERT_EQ(facts["warnings"].size(), 1U);
}

TEST(PtxasReport, an_empty_log_says_nothing) { EXPECT_TRUE(read_ptxas_report("").empty()); }

}  // namespace
}  // namespace kw
