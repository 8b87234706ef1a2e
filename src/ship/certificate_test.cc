#include "ship/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

namespace kw {
namespace {

using testing::HasSubstr;

Certificate make_sample() {
  Certificate c;
  c.kernel = std::string(64, 'a');
  c.source_hash = std::string(64, '0');
  c.name = "dot \"nt\" \xc3\xa4";
  c.family = "free";
  c.language = "c";
  c.source = "void f(void) {\n\treturn; /* \\ */\n}\n";
  c.toolchain = {"g++ 12", {"-O2", "-x", "c"}, "0.1.0"};
  c.launch.kernels = {{"f", *Expression::parse("m")}};
  c.launch.domain = {{"k", 1, 4096, 4}};
  c.problem.m = 17, c.problem.n = 33, c.problem.k = 65, c.problem.beta = 0.5;
  c.problem = with_tight_strides(c.problem);
  c.verified.seed = 18'000'000'000'000'000'001ULL;
  c.verified.tile = {8, 16, 0};
  c.verified.checks = 11, c.verified.runs = 47;
  c.verified.families = {{"normal", 77, 1, 561, 1.25e-7, 3e-6, 0.0417},
                         {"exact_integers", 78, 1, 561, 0, 0, 0}};
  c.verified.domain_families = {{"normal", 5, 14, 9000, 2e-6, 9e-6, 0.25}};
  c.verified.domain_shapes = {"5x7x0 nn f32"};
  c.timing.baseline = "onednn";
  c.timing.binary_hash = c.kernel;
  c.timing.median_us = 12.5, c.timing.baseline_median_us = 14, c.timing.ratio = 1.12;
  c.timing.ratio_low = 1.1, c.timing.ratio_high = 1.14;
  c.timing.latency_us = {12.5, 12.25, 13}, c.timing.baseline_latency_us = {14, 14.5, 13.75};
  c.device.target = "cpu", c.device.name = "a CPU", c.device.cores = 2;
  c.date = "2030-01-02T03:04:05Z";
  return c;
}

TEST(Certificate, is_read_back_as_it_was_written) {
  const Certificate sample = make_sample();
  const std::string text = print_certificate(sample);
  const auto read = parse_certificate(text, "file");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(print_certificate(*read), text);
  EXPECT_EQ(read->source, sample.source);
  EXPECT_EQ(read->launch, sample.launch);
  EXPECT_EQ(read->problem, sample.problem);
  EXPECT_EQ(read->verified, sample.verified);
  EXPECT_EQ(read->toolchain, sample.toolchain);
  EXPECT_EQ(read->timing.latency_us, sample.timing.latency_us);
}

TEST(Certificate, is_refused_when_any_byte_is_changed_dropped_or_doubled) {
  const std::string text = print_certificate(make_sample());
  for (size_t at = 0; at < text.size(); ++at) {
    for (const int bit : {0, 1, 2, 4, 5, 7}) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      ASSERT_FALSE(parse_certificate(changed, "file").has_value()) << "byte " << at << " bit " << bit;
    }
    std::string shorter = text, longer = text;
    shorter.erase(at, 1);
    longer.insert(at, 1, text[at]);
    ASSERT_FALSE(parse_certificate(shorter, "file").has_value()) << "without byte " << at;
    ASSERT_FALSE(parse_certificate(longer, "file").has_value()) << "byte " << at << " twice";
    std::string spaced = text;
    spaced.insert(at, 1, ' ');
    ASSERT_FALSE(parse_certificate(spaced, "file").has_value()) << "a blank at " << at;
  }
  EXPECT_FALSE(parse_certificate(text + "\n", "file").has_value());
  EXPECT_FALSE(parse_certificate(" " + text, "file").has_value());
}

// Contents changed and sealed again: what is left is to say what is wrong in one line.
std::string reseal(Json json) {
  json.erase("seal");
  // The seal is what print_certificate would give; any wrong one shows after the fields were read.
  json["seal"] = std::string(64, '0');
  return json.dump(2) + "\n";
}

TEST(Certificate, names_the_field_that_is_missing_or_of_the_wrong_kind) {
  const Json good = print_certificate_json(make_sample());
  for (const auto& [name, value] : good.items()) {
    Json lacking = good;
    lacking.erase(name);
    const auto missing = parse_certificate(lacking.dump(2) + "\n", "file");
    ASSERT_FALSE(missing.has_value()) << name;
    EXPECT_EQ(missing.error().kind, ErrorKind::kUser);
    EXPECT_THAT(missing.error().message, HasSubstr("\"" + name + "\" is missing"));
    EXPECT_EQ(missing.error().message.find('\n'), std::string::npos);
    Json odd = good;
    odd[name] = value.is_string() ? Json(7) : Json("seven");
    const auto wrong = parse_certificate(reseal(odd), "file");
    ASSERT_FALSE(wrong.has_value()) << name;
    EXPECT_THAT(wrong.error().message, HasSubstr(name)) << wrong.error().message;
  }
  Json more = good;
  more["surprise"] = 1;
  EXPECT_THAT(parse_certificate(reseal(more), "file").error().message, HasSubstr("surprise"));
  Json inner = good;
  inner["verified"]["families"][0]["error"] = "small";
  EXPECT_THAT(parse_certificate(reseal(inner), "file").error().message, HasSubstr("verified.families[0]"));
  inner = good;
  inner["timing"]["latency_us"][1] = Json();
  EXPECT_THAT(parse_certificate(reseal(inner), "file").error().message, HasSubstr("latency_us"));
}

TEST(Certificate, of_another_format_says_which_is_read) {
  Json json = print_certificate_json(make_sample());
  json["certificate"] = 1;
  const auto read = parse_certificate(json.dump(2) + "\n", "old.json");
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message, HasSubstr("old.json: certificate format 1"));
}

}  // namespace
}  // namespace kw
