#include "ship/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "ship/chart.h"
#include "ship/report_case.h"

namespace kw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string key_of(int64_t m, int64_t n = 64, int64_t k = 32) {
  Problem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  return print_problem(with_tight_strides(problem));
}

Evaluation make_passed(const std::string& proposer, double at_s, double ratio) {
  Evaluation evaluation;
  evaluation.proposal.proposer = proposer;
  evaluation.proposal.family = "gemm_cpu";
  evaluation.proposal.schedule = "avx2 r4";
  evaluation.binary_hash = "0123456789abcdef";
  evaluation.verdict.klass = VerdictClass::kPass;
  evaluation.finished_s = at_s;
  evaluation.timing = Timing{.baseline = "onednn"};
  evaluation.timing->ratio = ratio;
  evaluation.timing->ratio_low = ratio * 0.99;
  evaluation.timing->ratio_high = ratio * 1.01;
  evaluation.timing->median_us = 100 / ratio;
  evaluation.timing->baseline_median_us = 100;
  return evaluation;
}

Evaluation make_failed(VerdictClass klass, const std::string& reason, const Json& evidence) {
  Evaluation evaluation;
  evaluation.proposal.proposer = "evolve";
  evaluation.verdict.klass = klass;
  evaluation.verdict.reason = reason;
  evaluation.verdict.evidence = evidence;
  return evaluation;
}

// Peak 100 GFLOP/s, 10 GB/s, no launch floor; vendor 100 us.
ReportCase make_case(const std::string& problem, double ratio, bool vendor = false) {
  ReportCase one;
  one.row.decision.problem = problem;
  one.row.decision.baseline = "onednn";
  one.row.decision.baseline_median_us = 100;
  one.row.decision.median_us = vendor ? 100 : 100 / ratio;
  one.row.decision.binary_hash = vendor ? "" : "0123456789abcdef";
  one.row.decision.ratio = vendor ? 1 : ratio;
  one.row.decision.ratio_low = vendor ? 1 : ratio * 0.98;
  one.row.decision.ratio_high = vendor ? 1 : ratio * 1.02;
  one.row.decision.reason = vendor ? "interval does not exclude 1" : "interval excludes 1";
  one.row.schedule = vendor ? "" : "avx2 r4";
  one.row.decided = "2026-01-02T03:04:05.000Z";
  one.row.device.target = "cpu";
  one.row.device.name = "Test CPU";
  one.row.device.isa = "avx2";
  one.row.device.peak_gflops = 100;
  one.row.device.bandwidth_gbs = 10;
  one.flops = 2e6;
  one.bytes = 1e5;
  one.evaluations = {make_passed("seed", 1, ratio * 0.8), make_passed("evolve", 3, ratio)};
  return one;
}

ReportInput make_input(std::vector<ReportCase> cases) {
  ReportInput input;
  input.cases = std::move(cases);
  input.store = "test.db";
  input.command = "kernelwright report --store test.db";
  input.made = "2026-01-03T00:00:00Z";
  input.version = "9.8.7";
  return input;
}

std::string section_of(const std::string& html, const std::string& id) {
  const size_t start = html.find("<section id=\"" + id + "\"");
  return start == std::string::npos ? "" : html.substr(start, html.find("</section>", start) - start);
}

TEST(Report, shows_every_case_in_table_and_chart) {
  std::vector<ReportCase> cases;
  for (int i = 1; i <= 100; ++i) cases.push_back(make_case(key_of(i), 1 + 0.01 * i, i % 4 == 0));
  const auto html = make_report(make_input(std::move(cases)));
  ASSERT_TRUE(html) << html.error().message;
  for (const char* id : {"speedup", "shapes", "progress"}) {
    const std::string section = section_of(*html, id);
    for (int i = 1; i <= 100; ++i)
      EXPECT_THAT(section, HasSubstr(">" + std::to_string(i) + "x64x32 nn f32<")) << id;
  }
}

TEST(Report, puts_losses_before_wins_and_the_slowest_first) {
  // Vendor stays at 2 (best kernel 0.7), at 3 (0.9); 4 ships at 0.95; 1 and 5 win.
  const auto html = make_report(
      make_input({make_case(key_of(1), 1.5), make_case(key_of(3), 0.9, true), make_case(key_of(2), 0.7, true),
                  make_case(key_of(4), 0.95), make_case(key_of(5), 1.2)}));
  ASSERT_TRUE(html);
  for (const char* id : {"speedup", "shapes"}) {
    const std::string section = section_of(*html, id);
    size_t last = 0;
    for (const char* label : {">2x64", ">3x64", ">4x64", ">5x64", ">1x64"}) {
      const size_t at = section.find(label);
      ASSERT_NE(at, std::string::npos) << label;
      EXPECT_GT(at, last) << label;
      last = at;
    }
  }
  const std::string losses = section_of(*html, "losses");
  EXPECT_LT(html->find("id=\"losses\""), html->find("id=\"speedup\""));
  for (const char* label : {">2x64", ">3x64", ">4x64"}) EXPECT_THAT(losses, HasSubstr(label));
  for (const char* label : {">1x64", ">5x64"}) EXPECT_THAT(losses, Not(HasSubstr(label)));
  EXPECT_THAT(losses, HasSubstr("interval does not exclude 1"));
  EXPECT_THAT(losses, HasSubstr(">0.700<"));
}

TEST(Report, states_geomean_and_vendor_share) {
  // Ratios 2, 0.5 counted as vendor's 1: geomean sqrt(2).
  const auto html = make_report(make_input({make_case(key_of(1), 2), make_case(key_of(2), 0.5, true)}));
  ASSERT_TRUE(html);
  EXPECT_THAT(*html, HasSubstr("2 shapes run <b>1.414×</b> as fast"));
  EXPECT_THAT(*html, HasSubstr("on <b>50 %</b> of them the vendor stays"));
}

TEST(Report, escapes_everything_that_a_store_may_hold) {
  const std::string bad = "<script>alert('x')</script>";
  ReportCase one = make_case(key_of(7), 0.9, true);
  one.row.decision.reason = bad;
  one.row.decision.baseline = bad;
  one.row.device.name = bad;
  one.row.device.os = bad;
  one.evaluations[0].proposal.proposer = bad;
  one.evaluations[0].proposal.note = bad;
  one.evaluations.push_back(make_failed(VerdictClass::kCrash, bad, {{bad, bad}}));
  one.evaluations.back().kernel_name = "\" onmouseover=\"alert(1)";
  one.baselines = {{"p", bad, bad, std::nullopt, bad}};
  ReportCase odd = make_case(bad, 1.5);  // not even a problem
  odd.row.schedule = bad;
  odd.row.kernel_name = bad;
  odd.evaluations[1].proposal.family = bad;
  ReportInput input = make_input({one, odd});
  input.store = input.command = input.version = input.made = bad;
  input.runs.push_back({1, {bad, 3, one.row.device, bad}, "key", false, bad, bad, bad});
  const auto html = make_report(input);
  ASSERT_TRUE(html);
  size_t scripts = 0;
  for (size_t at = html->find("<script"); at != std::string::npos; at = html->find("<script", at + 1))
    ++scripts;
  EXPECT_EQ(scripts, 1U);  // our own
  EXPECT_THAT(*html, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
  EXPECT_THAT(*html, Not(HasSubstr("\" onmouseover=")));
}

TEST(Report, needs_no_network) {
  const auto html = make_report(make_input({make_case(key_of(1), 2)}));
  ASSERT_TRUE(html);
  for (const char* text : {"http:", "https:", "src=", "@import", "url("})
    EXPECT_THAT(*html, Not(HasSubstr(text)));
}

TEST(Report, survives_values_that_are_not_numbers) {
  ReportCase broken = make_case(key_of(1), 1.5);
  broken.row.decision.ratio = broken.row.decision.ratio_low = broken.row.decision.ratio_high = kNan;
  broken.row.decision.median_us = kNan;
  ReportCase empty = make_case(key_of(0), 1.5, true);
  empty.flops = empty.bytes = 0;
  empty.evaluations.clear();
  empty.row.device.peak_gflops = empty.row.device.bandwidth_gbs = 0;
  ReportCase infinite = make_case(key_of(3), 1.2);
  infinite.row.decision.ratio_high = HUGE_VAL;
  infinite.evaluations[0].timing->ratio = kNan;
  const auto html = make_report(make_input({broken, empty, infinite}));
  ASSERT_TRUE(html) << html.error().message;
  const std::regex number(R"((^|[^a-z])(nan|-?inf)([^a-z]|$))");
  EXPECT_FALSE(std::regex_search(
      html->substr(html->find("<body>"), html->find("<script>") - html->find("<body>")), number));
  EXPECT_THAT(section_of(*html, "losses"), HasSubstr("stored ratio is not a positive number"));
  EXPECT_THAT(section_of(*html, "losses"), HasSubstr("no kernel was tried"));
}

TEST(Report, says_what_to_do_when_nothing_is_decided) {
  ReportInput input = make_input({});
  input.undecided.resize(2);
  const auto html = make_report(input);
  ASSERT_FALSE(html);
  EXPECT_EQ(html.error().kind, ErrorKind::kUser);
  EXPECT_THAT(html.error().message,
              HasSubstr("test.db holds no decision yet (2 shapes measured); run: kernelwright tune"));
}

TEST(Report, counts_failures_with_an_example) {
  ReportCase one = make_case(key_of(1), 2);
  one.evaluations.push_back(make_failed(VerdictClass::kHang, "time_limit", Json::object()));
  one.evaluations.push_back(make_failed(VerdictClass::kWrongResult, "k_tail", Json::object()));
  one.evaluations.push_back(make_failed(VerdictClass::kWrongResult, "k_tail", {{"row", 41}}));
  const auto html = make_report(make_input({one}));
  ASSERT_TRUE(html);
  const std::string failures = section_of(*html, "failures");
  EXPECT_THAT(failures, HasSubstr("3 of 5 evaluated candidates (60 %) failed"));
  EXPECT_LT(failures.find("wrong_result/k_tail"), failures.find("hang/time_limit"));
  EXPECT_THAT(failures, HasSubstr("{&quot;row&quot;:41}"));
  EXPECT_THAT(failures, HasSubstr("width=\"50%\""));  // of one hang beside two wrong results
}

TEST(Report, names_the_fields_of_winning_schedules) {
  ReportInput input = make_input({make_case(key_of(1), 2), make_case(key_of(2), 3)});
  input.cases[1].row.schedule = "avx2 r6";
  input.schedule_fields["gemm_cpu"] = {"instruction set"};
  const auto html = make_report(input);
  ASSERT_TRUE(html);
  const std::string schedules = section_of(*html, "schedules");
  EXPECT_THAT(schedules, HasSubstr("instruction set"));
  EXPECT_THAT(schedules, HasSubstr("avx2 <small>2</small>"));
  EXPECT_THAT(schedules, HasSubstr("word 2"));
  EXPECT_THAT(schedules, HasSubstr("r6 <small>1</small>"));
}

TEST(Report, keeps_devices_apart) {
  ReportCase two = make_case(key_of(1), 4);
  two.row.device.threads = 2;
  const auto html = make_report(make_input({two, make_case(key_of(1), 2)}));
  ASSERT_TRUE(html);
  EXPECT_LT(html->find("Test CPU, 1 thread: 1 shape runs"), html->find("Test CPU, 2 threads: 1 shape runs"));
  EXPECT_NE(html->find("Test CPU, 2 threads: 1 shape runs"), std::string::npos);
}

TEST(Roofline, places_points_by_hand_checked_coordinates) {
  // 2e6 flop over 1e5 bytes: 20 flop/byte. Vendor 100 us: 20 GFLOP/s. Ours at 2x: 40 GFLOP/s, 40 % of peak
  // 100.
  const std::vector<ReportCase> cases = {make_case(key_of(1), 2)};
  const auto groups = group_cases(cases);
  const auto points = list_roofline_points(groups.at(0));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_DOUBLE_EQ(points[0].intensity, 20);
  EXPECT_DOUBLE_EQ(points[0].vendor_gflops, 20);
  EXPECT_DOUBLE_EQ(points[0].chosen_gflops, 40);
  EXPECT_DOUBLE_EQ(points[0].view->floor_share, 0.4);
  // x from ridge 10 / 2 to 20 * 2: 20 lies at log(4) / log(8) = 2/3. y from 20 / 2 to 100 * 1.6, 400 px to 24
  // px: 40 lies at log(4) / log(16) = 1/2, that is 212 px.
  EXPECT_THAT(draw_roofline(groups[0]), HasSubstr("<circle cx=\"66.667%\" cy=\"212\""));
}

TEST(Roofline, leaves_out_what_has_no_place) {
  std::vector<ReportCase> cases = {make_case(key_of(1), 2), make_case(key_of(2), 2)};
  cases[0].flops = 0;
  cases[1].bytes = 0;
  const auto groups = group_cases(cases);
  EXPECT_TRUE(list_roofline_points(groups.at(0)).empty());
  EXPECT_THAT(draw_roofline(groups[0]), Not(HasSubstr("<svg")));
}

TEST(SearchTrace, adds_up_the_time_of_runs_without_pauses) {
  // First run at 100, 101, 103 s; a second one begins anew at 2, 6 s; then a pause of 70 s.
  const std::vector<Evaluation> evaluations = {make_passed("seed", 100, 0.8),   make_passed("seed", 101, 0.7),
                                               make_passed("evolve", 103, 1.1), make_passed("evolve", 2, 1.0),
                                               make_passed("seed", 6, 1.3),     make_passed("seed", 76, 1.4)};
  const SearchTrace trace = trace_search(evaluations);
  ASSERT_EQ(trace.improvements.size(), 4U);
  EXPECT_DOUBLE_EQ(trace.improvements[0].at_s, 0);
  EXPECT_DOUBLE_EQ(trace.improvements[1].at_s, 3);
  EXPECT_DOUBLE_EQ(trace.improvements[2].at_s, 7);
  EXPECT_DOUBLE_EQ(trace.improvements[3].at_s, 7);
  EXPECT_EQ(trace.improvements[1].evaluation->proposal.proposer, "evolve");
  EXPECT_DOUBLE_EQ(trace.total_s, 7);
  EXPECT_DOUBLE_EQ(best_at(trace, 2.9), 0.8);
  EXPECT_DOUBLE_EQ(best_at(trace, 3), 1.1);
  EXPECT_EQ(best_at({}, 3), 0);
  EXPECT_EQ(trace_search({}).total_s, 0);
}

TEST(Proposers, are_credited_with_their_improvements) {
  std::vector<ReportCase> cases = {make_case(key_of(1), 2)};
  cases[0].evaluations.push_back(make_passed("evolve", 4, 1.9));
  const std::string html = draw_proposers(group_cases(cases).at(0));
  // evolve: 2 proposals, 2 right, 1 improvement, the final best; seed: 1, 1, 1, none.
  EXPECT_TRUE(
      std::regex_search(html, std::regex("evolve</td><td[^>]*>2</td><td[^>]*>2</td><td[^>]*>100 %</td>"
                                         "<td[^>]*>1</td><td[^>]*>50.0</td><td[^>]*>1</td>")))
      << html;
  EXPECT_TRUE(std::regex_search(html, std::regex("seed</td><td[^>]*>1</td><td[^>]*>1</td><td[^>]*>100 %</td>"
                                                 "<td[^>]*>1</td><td[^>]*>100</td><td[^>]*>0</td>")))
      << html;
}

}  // namespace
}  // namespace kw
