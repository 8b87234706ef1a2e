// Answers as models write them: what is understood, and the name of every fault.
#include "propose/llm_answer.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "propose/answer_blocks.h"

namespace kw {
namespace {

const std::vector<std::string> kFamilies = {"gemm_cpu", "gemm_sm90"};
const std::string kLaunch = R"({"layout": "nt", "kernels": [{"name": "f", "items": "m"}]})";
const std::string kCode = "void f(long long item, const kw_call* call) {\n  // if (item < 1) return;\n}\n";
const std::string kSchedule = R"({"family": "gemm_cpu", "schedule": "avx2 dot r1"})";

tl::expected<Answer, AnswerFault> parse(std::string_view text) { return parse_answer(text, kFamilies); }

std::string fence(const std::string& label, const std::string& content) {
  return "```" + label + "\n" + content + (content.ends_with('\n') ? "" : "\n") + "```\n";
}

// "schedule", "free", or the fault's name.
std::string outcome_of(std::string_view text) {
  const auto answer = parse(text);
  if (!answer) return std::string(print_answer_fault(answer.error().kind));
  return std::holds_alternative<ScheduleAnswer>(*answer) ? "schedule" : "free";
}

FreeAnswer free_of(std::string_view text) {
  const auto answer = parse(text);
  if (answer && std::holds_alternative<FreeAnswer>(*answer)) return std::get<FreeAnswer>(*answer);
  ADD_FAILURE() << text << ": " << (answer ? "a schedule" : answer.error().reason);
  return {};
}

std::string reason_of(std::string_view text) {
  const auto answer = parse(text);
  return answer ? "understood" : answer.error().reason;
}

TEST(LlmAnswer, takes_a_schedule_wherever_its_json_stands) {
  const ScheduleAnswer wanted{"gemm_cpu", "avx2 dot r1"};
  const std::vector<std::string> answers = {
      kSchedule,
      "\xef\xbb\xbf\n  " + kSchedule + "\n\n",
      fence("json", kSchedule),
      fence("", kSchedule),
      "Analysis first.\n\n" + fence("JSON", kSchedule) + "\nThat is all.",
      "Here it is: ```json\n" + kSchedule + "\n```",
      "```json " + kSchedule + " ```",
      "~~~json\n" + kSchedule + "\n~~~",
      "1. schedule\n   ```json\n   " + kSchedule + "\n   ```\n",
      "```json\r\n" + kSchedule + "\r\n```\r\n",
      "```json\n" + kSchedule + "```",
      fence("json", kSchedule) + "I repeat:\n" + fence("json", kSchedule),
      fence("bash", "rm -rf /") + fence("json", kSchedule),
      "<think>\nPerhaps " + fence("json", R"({"family": "other"})") + "</think>\n" + fence("json", kSchedule),
      "Perhaps ```c\n</think>\n" + kSchedule,
      fence("json", R"({"analysis": "x", "plan": "y", "family": "gemm_cpu", "schedule": "avx2 dot r1"})")};
  for (const std::string& text : answers) {
    const auto answer = parse(text);
    ASSERT_TRUE(answer) << text << ": " << answer.error().reason;
    ASSERT_TRUE(std::holds_alternative<ScheduleAnswer>(*answer)) << text;
    EXPECT_EQ(std::get<ScheduleAnswer>(*answer), wanted) << text;
  }
}

TEST(LlmAnswer, takes_code_with_its_launch_record) {
  const FreeAnswer cpp = free_of(fence("cpp", kCode) + fence("json", kLaunch));
  EXPECT_EQ(cpp.text, kCode);
  EXPECT_EQ(cpp.language, "c++");
  ASSERT_EQ(cpp.launch.kernels.size(), 1u);
  EXPECT_EQ(cpp.launch.kernels[0].name, "f");
  EXPECT_EQ(free_of(fence("json", kLaunch) + fence("C", kCode)).language, "c");
  EXPECT_EQ(free_of(fence("", kCode) + fence("", kLaunch)), cpp);
  EXPECT_EQ(free_of("````c++ file.cc\n" + kCode + "````\n" + fence("json", "{\"launch\": " + kLaunch + "}")),
            cpp);
  EXPECT_EQ(free_of("- code:\n  ```cpp\n  void f() {\n    int a;\n  }\n  ```\n" + kLaunch.substr(0, 0) +
                    fence("json", kLaunch))
                .text,
            "void f() {\n  int a;\n}\n");
  EXPECT_EQ(free_of(R"({"family": "free", "language": "c", "source": "int a;\r\nint b;", "launch": )" +
                    kLaunch + "}")
                .text,
            "int a;\nint b;\n");
  EXPECT_EQ(free_of(fence("cpp", kCode) + fence("cpp", kCode) + fence("json", kLaunch)), cpp);
}

TEST(LlmAnswer, names_every_fault) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "empty"},
      {" \n\t\n", "empty"},
      {"<think>nothing comes of it</think>\n", "empty"},
      {std::string(kMaxAnswerBytes + 1, 'x'), "too_large"},
      {fence("json", kSchedule) + "\xff\xfe", "not_utf8"},
      {"\xed\xa0\x80", "not_utf8"},
      {"I'm sorry, but I can't help with that.", "refusal"},
      {"As an AI model I cannot write device code.", "refusal"},
      {"I\xe2\x80\x99m unable to do so.", "refusal"},
      {"Use larger tiles and ``` fences.", "no_code"},
      {"Everything in ```json```!\nThen ~~~ and ``` as said", "no_code"},
      {fence("python", "print(1)"), "no_code"},
      {"{}", "no_code"},
      {"Sure.\n" + fence("json", "{\"plan\": \"later\"}"), "no_code"},
      {"```cpp\n" + kCode, "truncated"},
      {"```cpp\n" + kCode + "```json\n" + kLaunch + "\n```\n", "truncated"},
      {fence("json", kSchedule) + "```", "truncated"},
      {"<think>\nfirst " + fence("json", kSchedule), "truncated"},
      {fence("cpp", kCode) + fence("cpp", "int other;") + fence("json", kLaunch), "several_blocks"},
      {fence("json", kSchedule) + fence("json", R"({"family": "gemm_cpu", "schedule": "avx2 dot r2"})"),
       "several_blocks"},
      {fence("json", kSchedule) + fence("cpp", kCode), "several_blocks"},
      {fence("c", kCode) + fence("cpp", kCode) + fence("json", kLaunch), "several_blocks"},
      {[] {
         std::string many;
         for (int i = 0; i < 65; ++i) many += fence("text", "x");
         return many;
       }(),
       "several_blocks"},
      {fence("json", R"({"family": "gemm_cpu", "schedule": "x",})"), "bad_json"},
      {"{\"family\": \"gemm_cpu\", \"schedule\": \"avx", "bad_json"},
      {fence("json", "[1, 2]"), "bad_json"},
      {fence("json", R"({"family": "a", "family": "b"})"), "bad_json"},
      {fence("json", "// comment\n" + kSchedule), "bad_json"},
      {R"({"tile": 128})", "unknown_field"},
      {R"({"family": "gemm_cpu", "schedule": 7})", "unknown_field"},
      {R"({"language": "rust", "source": "x"})", "unknown_field"},
      {R"({"family": "gemm_tpu", "schedule": "x"})", "unknown_family"},
      {R"({"schedule": "x"})", "unknown_family"},
      {R"({"family": "gemm_cpu"})", "missing_schedule"},
      {fence("cpp", kCode), "missing_launch"},
      {R"({"family": "free", "source": "int a;"})", "missing_launch"},
      {fence("cpp", kCode) + fence("json", R"({"layout": "nt", "kernels": []})"), "bad_launch"},
      {fence("cpp", kCode) +
           fence("json", R"({"layout": "nt", "grid": 1, "kernels": [{"name": "f", "items": 1}]})"),
       "bad_launch"},
      {fence("json", kLaunch), "missing_source"},
      {fence("cpp", " \n") + fence("json", kLaunch), "missing_source"}};
  std::set<std::string> seen;
  for (const auto& [text, fault] : cases) {
    EXPECT_EQ(outcome_of(text), fault) << text.substr(0, 300);
    seen.insert(fault);
  }
  EXPECT_EQ(seen.size(), kAnswerFaultKinds);  // none is without a case
}

TEST(LlmAnswer, says_where_the_fault_is) {
  EXPECT_NE(
      reason_of("A plan.\n\n" + fence("json", "{\"family\": \"gemm_cpu\",\n \"schedule\": \"x\",}"))
          .find(
              "JSON at line 3 of the answer: not valid JSON: [json.exception.parse_error.101] parse error at "
              "line 2, column 18"),
      std::string::npos);
  EXPECT_NE(
      reason_of(fence("c", "int a;") + fence("c", "int b;")).find("two different codes, at lines 1 and 4"),
      std::string::npos);
  EXPECT_NE(reason_of("x\n```cpp\nint a;").find("line 2"), std::string::npos);
  EXPECT_NE(reason_of(fence("cpp", kCode) + fence("json", R"({"layout": "nt", "kernels": [{"name": "f"}]})"))
                .find("launch.kernels[0]: field \"items\" is missing"),
            std::string::npos);
  EXPECT_NE(reason_of(R"({"family": "x", "schedule": "y"})").find("gemm_cpu, gemm_sm90"), std::string::npos);
  EXPECT_NE(reason_of(fence("bash", "x") + fence("text", "y")).find("bash, text"), std::string::npos);
}

TEST(LlmAnswer, gives_reasons_of_one_printable_line) {
  const std::string odd = "{\"\\u001b[2J\\n" + std::string(5000, 'x') + "\": 1}";
  const std::string reason = reason_of(odd);
  EXPECT_LE(reason.size(), 600u);
  for (const char letter : reason) EXPECT_GE(static_cast<unsigned char>(letter), ' ');
}

TEST(LlmAnswer, reads_what_it_prints) {
  FreeAnswer free;
  free.launch = *parse_launch(*parse_json(kLaunch, "launch"));
  const std::vector<std::string> texts = {
      kCode,  "// ```c\nint a; // ````\n", "\n\n  int a;\n\n", "// </think>\nint a;\n", "// <think>\n",
      "~~~\n"};
  for (const std::string& text : texts)
    for (const std::string language : {"c", "c++"}) {
      free.text = text, free.language = language;
      EXPECT_EQ(free_of(print_answer(free)), free) << print_answer(free);
    }
  const Answer schedule = ScheduleAnswer{"gemm_cpu", "odd \"key\"\n```"};
  const auto again = parse(print_answer(schedule));
  ASSERT_TRUE(again) << again.error().reason;
  EXPECT_EQ(*again, schedule);
}

TEST(AnswerBlocks, keep_place_label_and_content) {
  const auto blocks = find_answer_blocks("a\n~~~~CPP x\n```\n~~~\n~~~~~\nb ```c\nint a;```\n```\n");
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].label, "cpp");
  EXPECT_EQ(blocks[0].content, "```\n~~~\n");
  EXPECT_EQ(blocks[0].line, 2);
  EXPECT_EQ(blocks[1].label, "c");
  EXPECT_EQ(blocks[1].content, "int a;\n");
  EXPECT_TRUE(blocks[1].closed);
  EXPECT_EQ(blocks[2].line, 8);
  EXPECT_FALSE(blocks[2].closed);
}

}  // namespace
}  // namespace kw
