// Attacks by launch record: JSON that must be refused while it is read, and arithmetic that must be refused
// before a worker is started.
#include <fmt/format.h>

#include "selftest/attack.h"
#include "selftest/attack_object.h"

namespace kw {
namespace {

// Of a plain kernel, with more fields behind.
std::string print_record(const std::string& items, const std::string& more = "") {
  return fmt::format(R"({{"layout": "nn", "kernels": [{{"name": "gemm", "items": {}}}]{}}})", items, more);
}

Result<LaunchRecord> read_record(const std::string& text) {
  KW_TRY(const Json json, parse_json(text, "launch record"));
  return parse_launch(json);
}

// As the user meets it: an error of one line.
Attack make_text_attack(std::string name, const std::string& says,
                        const std::function<std::string()>& make_text) {
  return {std::move(name), kUserError, "launch record", says, [make_text](AttackBench&) -> Result<Stopped> {
            const auto launch = read_record(make_text());
            if (launch) return Stopped{"pass", "", "it is read"};
            const bool is_user = launch.error().kind == ErrorKind::kUser;
            return Stopped{is_user ? kUserError : "error", "launch record", launch.error().message};
          }};
}

Attack make_text_attack(std::string name, const std::string& says, const std::string& text) {
  return make_text_attack(std::move(name), says, [text] { return text; });
}

// Well-formed; its numbers are not.
Attack make_number_attack(std::string name, const std::string& expected, const std::string& says,
                          const std::string& text) {
  return {std::move(name), expected, expected.starts_with("skipped/") ? "comparison" : "loader", says,
          [text](AttackBench& bench) -> Result<Stopped> {
            KW_TRY(const LaunchRecord launch, read_record(text));
            return bench.judge_object(write_object(make_plain_parts()), launch);
          }};
}

Attack make_expression_attack(std::string name, const std::string& says, const std::string& items) {
  return make_number_attack(std::move(name), "launch_error/launch_numbers", says,
                            print_record(fmt::format("\"{}\"", items)));
}

std::vector<Attack> list_unreadable() {
  return {
      make_text_attack("record_is_no_json", "not valid JSON", "items = m"),
      make_text_attack("record_is_a_list", "expected an object", "[]"),
      make_text_attack("record_of_a_million_brackets", "nested deeper than 64",
                       [] { return std::string(500'000, '[') + std::string(500'000, ']'); }),
      make_text_attack("record_of_100_MB", "at most",
                       [] { return print_record("1") + std::string(100 << 20, ' '); }),
      make_text_attack("record_of_a_million_keys", "keys",
                       [] {
                         std::string more;
                         for (int i = 0; i < 1'000'000; ++i) more += fmt::format(",\"x{}\":1", i);
                         return print_record("1", more);
                       }),
      make_text_attack("field_given_twice", "stands twice", print_record("1", R"(, "layout": "tt")")),
      make_text_attack("field_unknown", "\"host_code\" is not known",
                       print_record("1", R"(, "host_code": "x.so")")),
      make_text_attack("no_kernels", "launch.kernels", R"({"layout": "nn"})"),
      make_text_attack("kernels_of_no_kernel", "1 to 16 kernels", R"({"layout": "nn", "kernels": []})"),
      make_text_attack("thousand_kernels", "1 to 16 kernels",
                       [] {
                         std::string kernels = R"({"name": "gemm", "items": 1})";
                         for (int i = 1; i < 1000; ++i) kernels += R"(, {"name": "gemm", "items": 1})";
                         return fmt::format(R"({{"layout": "nn", "kernels": [{}]}})", kernels);
                       }),
      make_text_attack("kernel_name_with_a_path", "is not a C symbol",
                       R"({"layout": "nn", "kernels": [{"name": "../gemm", "items": 1}]})"),
      make_text_attack("kernel_without_a_name", "\"name\" is missing",
                       R"({"layout": "nn", "kernels": [{"items": 1}]})"),
      make_text_attack("items_of_the_wrong_type", "a number or an expression", print_record("[1]")),
      make_text_attack("items_with_a_fraction", "a number or an expression", print_record("1.5")),
      make_text_attack("items_beyond_all_numbers", "launch record", print_record("1e999")),
      make_text_attack("items_that_are_not_a_number", "not valid JSON", print_record("NaN")),
      make_text_attack("items_that_call_a_function", "expected", print_record("\"system(1)\"")),
      make_text_attack(
          "items_nested_too_deep", "nested deeper",
          [] { return print_record("\"" + std::string(200, '(') + "1" + std::string(200, ')') + "\""); }),
      make_text_attack("items_of_a_megabyte", "1 to 500",
                       [] { return print_record("\"" + std::string(1 << 20, '1') + "\""); }),
      make_text_attack("domain_without_values", "low must not exceed high",
                       print_record("1", R"(, "domain": [{"variable": "m", "low": 9, "high": 3}])")),
      make_text_attack("domain_in_steps_of_zero", "multiple must be 1 or more",
                       print_record("1", R"(, "domain": [{"variable": "m", "multiple": 0}])")),
      make_text_attack("precision_unknown", "f7", print_record("1", R"(, "contract": {"input": "f32",
                       "accumulate": "f7", "output": "f32"})")),
      make_text_attack("deterministic_by_word", "true or false",
                       print_record("1", R"(, "deterministic": "yes")")),
  };
}

std::vector<Attack> list_numbers() {
  return {
      make_expression_attack("items_that_overflow", "does not fit 64 bits", "m * 9223372036854775807"),
      make_expression_attack("items_below_zero", "allowed are 0", "m - 1000000"),
      make_expression_attack("items_beyond_the_limit", "allowed are 0", "16777217 + m * 0"),
      make_expression_attack("items_divided_by_zero", "divides by zero", "m / (n - n)"),
      make_expression_attack("items_of_an_unknown_name", "is not known", "blocks"),
      make_number_attack("workspace_of_an_exabyte", "launch_error/launch_numbers", "workspace_bytes",
                         print_record("1", R"(, "workspace_bytes": "1152921504606846976")")),
      make_number_attack("workspace_below_zero", "launch_error/launch_numbers", "workspace_bytes",
                         print_record("1", R"(, "workspace_bytes": -1)")),
      make_number_attack("scratch_that_wraps_around", "launch_error/launch_numbers", "does not fit 64 bits",
                         print_record("1", R"(, "scratch_bytes": "m * 2305843009213693952")")),
      make_number_attack("domain_that_no_check_meets", "skipped/no_check_in_domain", "",
                         print_record("1", R"(, "domain": [{"variable": "m", "low": 123456789}])")),
      make_number_attack("kernel_that_is_not_there", "launch_error/missing_kernel", "absent",
                         R"({"layout": "nn", "kernels": [{"name": "absent", "items": 1}]})"),
  };
}

}  // namespace

std::vector<Attack> list_record_attacks() {
  std::vector<Attack> attacks = list_unreadable();
  const auto numbers = list_numbers();
  attacks.insert(attacks.end(), numbers.begin(), numbers.end());
  return attacks;
}

}  // namespace kw
