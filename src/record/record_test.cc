#include <gtest/gtest.h>

#include "base/random.h"
#include "record/candidate.h"
#include "record/device.h"
#include "record/launch.h"
#include "record/problem.h"

namespace kw {
namespace {

Problem draw_problem(Random& random) {
  Problem p;
  p.layout = static_cast<Layout>(random.below(4));
  p.dtype = static_cast<Dtype>(random.below(4));
  p.m = random.between(0, 5000);
  p.n = random.between(0, 5000);
  p.k = random.between(0, 5000);
  p = with_tight_strides(p);
  p.lda += random.between(0, 3);
  p.alpha = random.normal();
  p.beta = random.chance(0.5) ? 0 : random.normal();
  return p;
}

TEST(Problem, parse_and_print_are_inverse) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Problem p = draw_problem(random);
    const auto back = parse_problem(print_problem(p));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, p);
  }
}

TEST(Problem, malformed_texts_are_user_errors) {
  for (const char* text :
       {"", "gemm", "gemm f32 nn m1 n1", "gemm f99 nn m1 n1 k1 lda1 ldb1 ldc1 alpha1 beta0",
        "gemm f32 nn m01 n1 k1 lda1 ldb1 ldc1 alpha1 beta0",
        "conv f32 nn m1 n1 k1 lda1 ldb1 ldc1 alpha1 beta0",
        "gemm f32 nn m1 n1 k1 lda1 ldb1 ldc1 alpha1 beta0 x",
        "gemm f32 nn m1 n1 k1 lda1 ldb1 ldc1 alphanan beta0"}) {
    const auto parsed = parse_problem(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUser) << text;
  }
}

TEST(Problem, strides_below_the_row_length_are_refused_by_name) {
  Problem p = with_tight_strides({.layout = Layout::kNT, .m = 4, .n = 5, .k = 6});
  EXPECT_EQ(p.lda, 6);
  EXPECT_EQ(p.ldb, 6);
  EXPECT_EQ(p.ldc, 5);
  p.ldb = 5;
  const auto status = check_problem(p);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("ldb is 5"), std::string::npos);
}

TEST(Expression, follows_the_rules_of_arithmetic) {
  const Variables variables = {{"m", 257}, {"n", 130}, {"threads", 2}};
  const std::pair<const char*, int64_t> cases[] = {
      {"1+2*3", 7},  {"(1+2)*3", 9},   {"ceil_div(m, 64)", 5}, {"max(m,n)-min(m,n)", 127},
      {"m % 64", 1}, {"-m + 300", 43}, {"m/n/1", 1},           {"ceil_div(m*n, threads*16)", 1045}};
  for (const auto& [text, want] : cases) {
    const auto value = Expression::parse(text)->evaluate(variables);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(*value, want) << text;
  }
}

TEST(Expression, never_wraps_and_names_what_is_wrong) {
  const Variables variables = {{"m", INT64_MAX}, {"zero", 0}};
  for (const char* text : {"m+1", "m*2", "1/zero", "-m-2", "unknown", "1%zero"}) {
    const auto expression = Expression::parse(text);
    ASSERT_TRUE(expression) << text;
    EXPECT_FALSE(expression->evaluate(variables)) << text;
  }
  for (const char* text : {"", "1+", "(1", "1 2", "max(1)", "99999999999999999999", "a b", "1;2"})
    EXPECT_FALSE(Expression::parse(text)) << text;
  EXPECT_FALSE(Expression::parse(std::string(200, '(')));
}

LaunchRecord sample_launch() {
  LaunchRecord launch;
  launch.layout = Layout::kNT;
  launch.isa = "avx512";
  launch.kernels = {{"kw_pack", *Expression::parse("ceil_div(n,16)")},
                    {"kw_gemm", *Expression::parse("ceil_div(m,8)")}};
  launch.workspace_bytes = *Expression::parse("n*k*4");
  launch.domain = {{"m", 1, 4096, 2}};
  launch.deterministic = false;
  return launch;
}

TEST(Launch, parse_and_print_are_inverse) {
  const auto back = parse_launch(print_launch(sample_launch()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, sample_launch());
}

// A two-pass kernel with every kind of argument.
LaunchRecord sample_grid_launch() {
  const auto make = [](const char* text) { return *Expression::parse(text); };
  LaunchRecord launch;
  launch.target = "cuda";
  launch.isa = "sm_90a";
  launch.contract = {Dtype::kF16, Dtype::kF32, Dtype::kF16};
  launch.workspace_bytes = make("m*n*4");
  GridLaunch grid;
  grid.grid = {make("ceil_div(n,64)*4"), make("ceil_div(m,64)"), make("1")};
  grid.block = {make("160"), make("1"), make("1")};
  grid.cluster = {make("4"), make("1"), make("1")};
  grid.shared_bytes = make("4*16384+1024");
  using Kind = Argument::Kind;
  const TensorMap map{"a", {make("k"), make("m")}, {make("lda*2")}, {64, 64}, 128};
  grid.arguments = {{Kind::kTensorMap, "", {}, map},       {Kind::kOperand, "c", {}, {}},
                    {Kind::kWorkspace, "", make("0"), {}}, {Kind::kInt32, "", make("m"), {}},
                    {Kind::kInt64, "", make("ldc"), {}},   {Kind::kFloat32, "alpha", {}, {}}};
  grid.programmatic = true;
  launch.kernels = {{.name = "kw_gemm", .items = {}, .grid = grid}};
  return launch;
}

const Variables kGridSizes = {{"m", 130}, {"n", 64}, {"k", 72}, {"lda", 72}, {"ldb", 72}, {"ldc", 64}};

TEST(Launch, grids_parse_and_print_inversely) {
  const auto back = parse_launch(print_launch(sample_grid_launch()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, sample_grid_launch());
}

TEST(Launch, grids_become_numbers) {
  const auto numbers = evaluate_launch(sample_grid_launch(), kGridSizes);
  ASSERT_TRUE(numbers) << numbers.error().message;
  const GridNumbers& grid = numbers->grids.at(0);
  EXPECT_EQ(grid.grid, (std::array<int64_t, 3>{4, 3, 1}));
  EXPECT_EQ(grid.cluster, (std::array<int64_t, 3>{4, 1, 1}));
  EXPECT_EQ(grid.shared_bytes, 66560);
  EXPECT_EQ(grid.arguments.at(0).map.sizes, (std::vector<int64_t>{72, 130}));
  EXPECT_EQ(grid.arguments.at(0).map.stride_bytes, (std::vector<int64_t>{144}));
  EXPECT_EQ(grid.arguments.at(3).value, 130);
}

TEST(Launch, grids_that_no_device_starts_are_refused_with_the_value) {
  const std::pair<const char*, const char*> edits[] = {{"block", "[2000]"},
                                                       {"block", "[64,32]"},
                                                       {"grid", "[\"m-131\"]"},
                                                       {"grid", "[3]"},
                                                       {"cluster", "[5,4]"},
                                                       {"shared_bytes", "300000"},
                                                       {"grid", "[1,2,3,4]"},
                                                       {"arguments", "5"},
                                                       {"arguments", "[{\"int32\":\"k*100000000\"}]"},
                                                       {"arguments", "[{\"workspace\":\"8\"}]"},
                                                       {"arguments", "[{\"workspace\":\"m*n*4\"}]"},
                                                       {"arguments", "[{\"pointer\":\"a\"}]"},
                                                       {"arguments", "[{\"operand\":3}]"},
                                                       {"arguments", "[{\"int32\":1,\"int64\":1}]"},
                                                       {"carveout_percent", "101"},
                                                       {"surprise", "1"},
                                                       {"programmatic", "\"yes\""},
                                                       {"grid", "null"}};
  for (const auto& [field, text] : edits) {
    Json json = print_launch(sample_grid_launch());
    json["kernels"][0][field] = *parse_json(text, "edit");
    const auto parsed = parse_launch(json);
    EXPECT_FALSE(parsed && evaluate_launch(*parsed, kGridSizes)) << field << " " << text;
  }
}

TEST(Launch, tensor_maps_that_cannot_be_built_are_refused) {
  const std::pair<const char*, const char*> edits[] = {
      {"sizes", "[\"k\"]"}, {"sizes", "[0,4]"}, {"stride_bytes", "[\"lda\"]"}, {"stride_bytes", "[-16]"},
      {"box", "[64,300]"},  {"box", "[64]"},    {"swizzle_bytes", "48"},       {"sizes", "[1,1,1,1,1,1]"},
      {"operand", "1"},     {"fill", "0"}};
  for (const auto& [field, text] : edits) {
    Json json = print_launch(sample_grid_launch());
    json["kernels"][0]["arguments"][0]["tensor_map"][field] = *parse_json(text, "edit");
    const auto parsed = parse_launch(json);
    EXPECT_FALSE(parsed && evaluate_launch(*parsed, kGridSizes)) << field << " " << text;
  }
}

TEST(Launch, a_grid_of_no_blocks_needs_no_tensor_map) {
  Variables sizes = kGridSizes;
  sizes["m"] = 0;
  const auto numbers = evaluate_launch(sample_grid_launch(), sizes);
  ASSERT_TRUE(numbers) << numbers.error().message;
  EXPECT_TRUE(numbers->grids.at(0).is_empty());
}

TEST(Launch, odd_records_are_refused_with_the_field) {
  const std::pair<const char*, Json> edits[] = {{"kernels", Json::array()},
                                                {"kernels", 5},
                                                {"layout", "xx"},
                                                {"surprise", 1},
                                                {"isa", "sse9"},
                                                {"isa", "sm_90a"},
                                                {"target", "moon"},
                                                {"workspace_bytes", "1+"},
                                                {"domain", "m"},
                                                {"deterministic", "yes"},
                                                {"op", "two\nlines"},
                                                {"domain", {{{"variable", "m\n"}}}},
                                                {"domain", {{{"variable", "m"}, {"high", UINT64_MAX}}}},
                                                {"contract", Json{{"input", "f32"}}}};
  for (const auto& [field, value] : edits) {
    Json json = print_launch(sample_launch());
    json[field] = value;
    const auto parsed = parse_launch(json);
    ASSERT_FALSE(parsed) << field;
    EXPECT_NE(parsed.error().message.find(field), std::string::npos) << parsed.error().message;
  }
}

TEST(Launch, negative_and_huge_numbers_are_refused) {
  LaunchRecord launch = sample_launch();
  const Variables variables = {{"m", 8}, {"n", 32}, {"k", 2}};
  ASSERT_TRUE(evaluate_launch(launch, variables));
  EXPECT_EQ(evaluate_launch(launch, variables)->items, (std::vector<int64_t>{2, 1}));
  launch.kernels[0].items = *Expression::parse("m-9");
  EXPECT_FALSE(evaluate_launch(launch, variables));
  launch.kernels[0].items = *Expression::parse("m*100000000");
  EXPECT_FALSE(evaluate_launch(launch, variables));
}

TEST(Launch, domain_violation_says_the_rule) {
  const LaunchRecord launch = sample_launch();
  EXPECT_FALSE(find_domain_violation(launch, {{"m", 8}}));
  EXPECT_EQ(*find_domain_violation(launch, {{"m", 7}}), "m = 7 is not a multiple of 2");
  EXPECT_EQ(*find_domain_violation(launch, {{"m", 0}}), "m = 0 is outside [1, 4096]");
}

TEST(Verdict, class_names_round_trip) {
  for (int i = 0; i <= static_cast<int>(VerdictClass::kSkipped); ++i) {
    const auto klass = static_cast<VerdictClass>(i);
    EXPECT_EQ(*parse_verdict_class(print_verdict_class(klass)), klass);
  }
  EXPECT_FALSE(parse_verdict_class("fine"));
}

TEST(Device, facts_round_trip_and_roofline_takes_the_larger_term) {
  DeviceFacts device{
      .target = "cpu", .name = "x", .isa = "avx512", .cores = 2, .threads = 1, .l2_bytes = 1 << 21};
  device.peak_gflops = 100;
  device.bandwidth_gbs = 10;
  device.launch_floor_us = 0.5;
  const auto back = parse_device(print_device(device));
  ASSERT_TRUE(back);
  EXPECT_EQ(print_device(*back), print_device(device));
  EXPECT_DOUBLE_EQ(roofline_us(device, 1e6, 1e3), 10.5);
  EXPECT_DOUBLE_EQ(roofline_us(device, 1e3, 1e6), 100.5);
}

TEST(Device, odd_facts_are_refused_with_the_field) {
  const std::pair<const char*, Json> edits[] = {
      {"cores", 1e300}, {"threads", -1},    {"l2_bytes", UINT64_MAX}, {"cores", "two"}, {"peak_gflops", -1},
      {"name", 5},      {"l1d_bytes", 1.5}, {"bandwidth_gbs", true},  {"os", nullptr}};
  for (const auto& [field, value] : edits) {
    Json json = print_device(DeviceFacts{.target = "cpu"});
    json[field] = value;
    const auto parsed = parse_device(json);
    ASSERT_FALSE(parsed) << field;
    EXPECT_NE(parsed.error().message.find(field), std::string::npos) << parsed.error().message;
  }
}

}  // namespace
}  // namespace kw
