#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "problem/model.h"

namespace kw {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ShapesCsv, reads_what_it_prints) {
  Problem plain;
  plain.m = 3, plain.n = 0, plain.k = 5;
  Problem odd;
  odd.layout = Layout::kTN, odd.dtype = Dtype::kBf16;
  odd.m = 257, odd.n = 130, odd.k = 515;
  odd.alpha = 0.1, odd.beta = -1e-30;
  odd = with_tight_strides(odd);
  odd.ldb += 7;
  const std::vector<ProblemUse> uses = {{with_tight_strides(plain), "", "", 0, 1},
                                        {odd, "a \"b\", # c", "decode+prefill", 16, 24}};
  const auto again = parse_shapes_csv(print_shapes_csv(uses), "list");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  ASSERT_EQ(again->size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*again)[i].problem, uses[i].problem);
    EXPECT_EQ((*again)[i].name, uses[i].name);
    EXPECT_EQ((*again)[i].phase, uses[i].phase);
    EXPECT_EQ((*again)[i].tokens, uses[i].tokens);
    EXPECT_EQ((*again)[i].count, uses[i].count);
  }
  EXPECT_EQ(print_shapes_csv(*again), print_shapes_csv(uses));
}

TEST(ShapesCsv, takes_columns_in_any_order_with_marks_comments_and_blank_lines) {
  const auto uses = parse_shapes_csv(
      "\xef\xbb\xbf# list\r\n\r\n k , n,layout,m,lda\r\n5,7, nt ,3,\r\n# more\r\n\r\n5,7,tn,3,9", "list");
  ASSERT_TRUE(uses.has_value()) << uses.error().message;
  ASSERT_EQ(uses->size(), 2U);
  EXPECT_EQ(print_problem((*uses)[0].problem), "gemm f32 nt m3 n7 k5 lda5 ldb5 ldc7 alpha1 beta0");
  EXPECT_EQ(print_problem((*uses)[1].problem), "gemm f32 tn m3 n7 k5 lda9 ldb7 ldc7 alpha1 beta0");
}

TEST(ShapesCsv, names_line_column_value_and_what_is_accepted) {
  struct Case {
    const char* text;
    std::vector<const char*> parts;
  };
  const Case cases[] = {
      {"", {"no header", "m,n,k"}},
      {"1,2,3\n", {":1:", "\"1\""}},
      {"m,n\n1,2\n", {":1:", "\"k\"", "missing"}},
      {"m,n,k,m\n", {":1:", "\"m\"", "twice"}},
      {"m,n,k,depth\n", {":1:", "\"depth\"", "layout"}},
      {"m,n,k\n1,2,3\n\n1,-2,3\n", {":4:", "\"n\"", "\"-2\"", "from 0"}},
      {"m,n,k\n1,2.5,3\n", {":2:", "\"n\"", "\"2.5\""}},
      {"m,n,k\n1,,3\n", {":2:", "\"n\"", "\"\""}},
      {"m,n,k\n1,2,99999999999999999999\n", {":2:", "\"k\"", "99999999999999999999"}},
      {"m,n,k\n1,2\n", {":2:", "2 cells", "3 columns"}},
      {"m,n,k,layout\n1,2,3,xx\n", {":2:", "\"layout\"", "\"xx\"", "nn, nt, tn or tt"}},
      {"m,n,k,dtype\n1,2,3,int8\n", {":2:", "\"dtype\"", "\"int8\"", "bf16"}},
      {"m,n,k,alpha\n1,2,3,nan\n", {":2:", "\"alpha\"", "\"nan\"", "finite"}},
      {"m,n,k,count\n1,2,3,0\n", {":2:", "\"count\"", "\"0\"", "from 1"}},
      {"m,n,k,phase\n1,2,3,sleep\n", {":2:", "\"phase\"", "\"sleep\"", "prefill"}},
      {"m,n,k,lda\n4,2,3,1\n", {":2:", "lda is 1", "3"}},
      {"m,n,k,name\n4,2,3,\"x\n", {":2:", "quoted"}},
      {"m,n,k,name\n4,2,3,\xff\n", {":2:", "not UTF-8"}},
      {"m,n,k,name\n4,2,3,\x1b[2J\n", {":2:", "control characters"}},
      {"m,n,k,na\rme\n", {":1:", "\"na me\""}},
  };
  for (const Case& c : cases) {
    const auto uses = parse_shapes_csv(c.text, "list.csv");
    ASSERT_FALSE(uses.has_value()) << c.text;
    EXPECT_EQ(uses.error().kind, ErrorKind::kUser);
    EXPECT_EQ(uses.error().message.find('\n'), std::string::npos);
    EXPECT_THAT(uses.error().message, HasSubstr("list.csv"));
    for (const char* part : c.parts) EXPECT_THAT(uses.error().message, HasSubstr(part)) << c.text;
  }
}

TEST(ShapesCsv, limits_the_number_of_rows) {
  std::string text = "m,n,k\n";
  for (int i = 0; i < 100'001; ++i) text += "1,1,1\n";
  EXPECT_FALSE(parse_shapes_csv(text, "list").has_value());
}

TEST(ShapesCsv, holds_sixty_random_shapes_a_third_odd) {
  const auto text = read_file(fs::path(__FILE__).parent_path() / "../../examples/shapes/random60.csv");
  ASSERT_TRUE(text.has_value());
  const auto uses = parse_shapes_csv(*text, "random60.csv");
  ASSERT_TRUE(uses.has_value()) << uses.error().message;
  EXPECT_EQ(uses->size(), 60U);
  EXPECT_EQ(merge_uses(*uses).size(), 60U);
  const auto odd = std::count_if(uses->begin(), uses->end(), [](const ProblemUse& use) {
    return use.problem.m % 2 == 1 && use.problem.n % 2 == 1 && use.problem.k % 2 == 1;
  });
  EXPECT_GE(odd, 20);
  for (const ProblemUse& use : *uses)
    EXPECT_LE(std::max({use.problem.m, use.problem.n, use.problem.k}), 2048);
}

}  // namespace
}  // namespace kw
