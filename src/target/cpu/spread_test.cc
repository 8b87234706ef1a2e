// Rows gigabytes apart: right kernels compute the same as on close rows, 32-bit arithmetic does not get
// through, and no memory is spent on the distance.
#include <algorithm>

#include "target/cpu/device_bench_test.h"
#include "target/cpu/layout.h"
#include "target/shared_memory.h"

namespace kw {
namespace {

constexpr int64_t kWide = (int64_t{1} << 30) - 1;

// Row-major C = A B through offsets of type `Offset`.
std::string print_kernel(const std::string& offset) {
  return "extern \"C\" __attribute__((visibility(\"default\"))) void gemm_" +
         offset.substr(0, offset.find(' ')) +
         "(long long i, const kw_call* call) {\n"
         "  typedef " +
         offset + " Offset;\n" + R"(
  const float* a = (const float*)call->operand[0];
  const float* b = (const float*)call->operand[1];
  float* c = (float*)call->operand[2];
  const Offset n = call->size[1], k = call->size[2], lda = call->size[3], ldb = call->size[4], ldc = call->size[5];
  for (Offset j = 0; j < n; ++j) {
    float sum = 0;
    for (Offset p = 0; p < k; ++p) sum += a[(Offset)((Offset)i * lda + p)] * b[(Offset)(p * ldb + j)];
    c[(Offset)((Offset)i * ldc + j)] = sum;
  }
}
)";
}

struct Spread {
  Workload stored, seen;
};

// One operand's rows far apart, the others as they are stored.
Spread make_spread(size_t operand, int64_t wide) {
  Spread spread{make_gemm(6, 9, 7, 0), {}};
  constexpr int64_t kStep = kSpreadBytes / 4;
  for (size_t i = 0; i < 3; ++i) {
    int64_t& ld = spread.stored.operands[i].ld;
    const int64_t least = spread.stored.operands[i].cols + 2 * kStep;
    ld = least + ((wide - least) % kStep + kStep) % kStep;
    spread.stored.sizes[3 + i] = ld;
  }
  Problem& problem = spread.stored.problem;
  problem.lda = spread.stored.sizes[3], problem.ldb = spread.stored.sizes[4],
  problem.ldc = spread.stored.sizes[5];
  spread.seen = spread.stored;
  spread.seen.operands[operand].ld = spread.seen.sizes[3 + operand] = wide;
  return spread;
}

TEST(Spread, maps_only_pages_of_rows_and_keeps_their_places_in_a_page) {
  for (const Placement placement : {Placement::kAligned, Placement::kEnd}) {
    const Spread spread = make_spread(2, kWide);
    const auto layout = plan_operands(spread.stored, {1, placement, spread.seen});
    ASSERT_TRUE(layout.has_value());
    const OperandPlace& c = layout->place(0, 2);
    EXPECT_EQ(c.address_span_bytes, static_cast<uint64_t>(spread.seen.operands[2].span_bytes()));
    EXPECT_LT(layout->file_bytes, uint64_t{1} << 20);
    EXPECT_GT(layout->reserved_bytes, uint64_t{20} << 30);
    for (int64_t row = 0; row < 6; ++row) {
      const uint64_t file = c.file_offset + static_cast<uint64_t>(row * spread.stored.operands[2].ld) * 4;
      const uint64_t address = c.address_offset + static_cast<uint64_t>(row * kWide) * 4;
      const auto holds = [&](const Region& region) {
        return address >= region.address_offset &&
               address + 36 <= region.address_offset + region.size_bytes &&
               file - region.file_offset == address - region.address_offset;
      };
      EXPECT_EQ(std::count_if(layout->regions.begin(), layout->regions.end(), holds), 1) << row;
    }
    for (const Region& region : layout->regions) EXPECT_EQ(region.address_offset % kPageBytes, 0U);
  }
}

TEST(Spread, separates_64_bit_offsets_from_narrower_ones) {
  const std::string object = compile_kernels(
      print_kernel("long long") + print_kernel("int") + print_kernel("unsigned"), {"-fwrapv"});
  for (const int64_t wide : {kWide, (int64_t{1} << 32) + 5}) {
    for (size_t operand = 0; operand < 3; ++operand) {
      const Spread spread = make_spread(operand, wide);
      for (const Placement placement : {Placement::kAligned, Placement::kEnd}) {
        Bench right = start(make_binary(object, "gemm_long"), spread.stored, {1, placement, spread.seen});
        const RunOutcome outcome = right.program->run(0, 1, kLimit);
        ASSERT_TRUE(outcome.ok()) << outcome.detail;
        EXPECT_EQ(count_wrong(*right.buffers, 0), 0);
        EXPECT_FALSE(right.buffers->find_guard_hit().has_value());
        for (const char* narrow : {"gemm_int", "gemm_unsigned"}) {
          Bench wrong = start(make_binary(object, narrow), spread.stored, {1, placement, spread.seen});
          const bool ok = wrong.program->run(0, 1, kLimit).ok() && count_wrong(*wrong.buffers, 0) == 0 &&
                          !wrong.buffers->find_guard_hit();
          EXPECT_FALSE(ok) << narrow << " " << wide << " operand " << operand;
          Bench close = start(make_binary(object, narrow), spread.stored, {1, placement});
          EXPECT_TRUE(close.program->run(0, 1, kLimit).ok());
          EXPECT_EQ(count_wrong(*close.buffers, 0), 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kw
