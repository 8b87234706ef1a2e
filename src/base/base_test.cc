#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "base/random.h"

namespace kw {
namespace {

TEST(Hash, parts_are_length_prefixed) {
  EXPECT_NE(hash_parts({"ab", "c"}), hash_parts({"a", "bc"}));
  EXPECT_EQ(hash_parts({"ab", "c"}).size(), 64u);
  // FIPS 180-2 test vector for "abc".
  const std::string abc = "abc";
  EXPECT_EQ(hash_bytes(std::as_bytes(std::span(abc))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Random, same_seed_same_draws_and_streams_differ) {
  Random a(7, 1), b(7, 1), c(7, 2);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    differs |= x != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, moments_are_those_of_the_distributions) {
  Random random(3);
  double sum = 0, square = 0, uniform = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    square += x * x;
    uniform += random.uniform();
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(square / kDraws, 1, 0.02);
  EXPECT_NEAR(uniform / kDraws, 0.5, 0.01);
}

TEST(Json, refuses_what_could_be_read_in_two_ways) {
  EXPECT_TRUE(parse_json(R"({"a": 1, "b": {"a": 2}})", "text"));
  for (const char* text : {"", "{", R"({"a": 1, "a": 2})", "\"\xff\"", "[1,]", "nul"})
    EXPECT_FALSE(parse_json(text, "text")) << text;
  EXPECT_FALSE(parse_json(std::string(100, '[') + std::string(100, ']'), "text"));
}

TEST(File, atomic_write_replaces_whole_content_and_leaves_nothing_else) {
  const auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  const fs::path path = folder->path() / "x";
  ASSERT_TRUE(write_file_atomically(path, "first"));
  ASSERT_TRUE(write_file_atomically(path, "second"));
  EXPECT_EQ(*read_file(path), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), fs::directory_iterator()), 1);
  EXPECT_FALSE(write_file_atomically(folder->path() / "no" / "x", "y"));
  EXPECT_FALSE(read_file(path, 3));
}

TEST(File, temp_folder_removes_itself) {
  fs::path path;
  {
    const auto folder = TempFolder::make();
    path = folder->path();
    std::ofstream(path / "x") << "y";
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Process, output_errors_and_exit_code_come_back) {
  const auto outcome = run_command({.argv = {"sh", "-c", "cat; echo oops >&2; exit 3"}, .input = "hello"});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "hello");
  EXPECT_EQ(outcome->errors, "oops\n");
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_FALSE(outcome->ok());
}

TEST(Process, limit_kills_the_whole_group) {
  const auto outcome =
      run_command({.argv = {"sh", "-c", "sleep 100 & sleep 100"}, .limit = Milliseconds(200)});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->timed_out);
}

TEST(Process, child_that_keeps_the_streams_open_does_not_delay_the_end) {
  const auto start = Clock::now();
  const auto outcome = run_command({.argv = {"sh", "-c", "sleep 300 & echo done"}});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->ok());
  EXPECT_EQ(outcome->output, "done\n");
  EXPECT_LT(seconds_since(start), 30);
}

TEST(Process, size_of_files_is_limited) {
  const auto folder = TempFolder::make();
  const auto outcome = run_command({.argv = {"sh", "-c", "exec head -c 100000 /dev/zero > large"},
                                    .folder = folder->path(),
                                    .max_file_bytes = 1000});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->signal, SIGXFSZ);
  EXPECT_LE(fs::file_size(folder->path() / "large"), 1000u);
}

TEST(Process, flood_of_output_is_cut) {
  const auto outcome =
      run_command({.argv = {"sh", "-c", "head -c 10000000 /dev/zero"}, .max_output_bytes = 1000});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->ok());
  EXPECT_EQ(outcome->output.size(), 1000u);
}

TEST(Process, missing_program_is_an_error) {
  const auto outcome = run_command({.argv = {"no-such-program-here"}});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("no-such-program-here"), std::string::npos);
}

TEST(Text, utf8_is_well_formed_only_as_the_standard_has_it) {
  EXPECT_TRUE(is_utf8("a\u00e9\u20ac\U0001f600"));
  EXPECT_FALSE(is_utf8("\xc0\xaf"));          // overlong
  EXPECT_FALSE(is_utf8("\xe0\x80\x80"));      // overlong
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(is_utf8("a\xe2\x82"));         // cut
  EXPECT_TRUE(is_readable("a\tb\r\n\u00e9"));
  for (const char* text : {"\x1b[2J", "\x7f", "\u009b", "\u202e", "\xff"})
    EXPECT_FALSE(is_readable(text)) << text;
}

TEST(Text, a_line_is_printable_and_bounded_whatever_came_in) {
  EXPECT_EQ(print_line("plain \u00e9"), "plain \u00e9");
  EXPECT_EQ(print_line("two\nlines\tand\r\nmore"), "two lines and  more");
  EXPECT_EQ(print_line("\x1b[2J \xff \u202e \xe2\x82"), "?[2J ? ? ??");
  EXPECT_EQ(print_line("abcdef", 6), "abcdef");
  EXPECT_EQ(print_line("abcdefg", 6), "abc...");
  EXPECT_EQ(print_line("ab\u20acdefg", 6), "ab...");  // not within a character
  EXPECT_EQ(print_lines("a\n\tb\x01", 100), "a\n\tb?");
}

TEST(Text, an_error_is_one_line_whatever_it_quotes) {
  const Error error = fail_user("file {}: {}", "x\ny", std::string(5000, '\x01')).value();
  EXPECT_EQ(error.message.substr(0, 12), "file x y: ??");
  EXPECT_EQ(error.message.size(), kMaxPrintedBytes);
  EXPECT_LE(with_context(error, "more").value().message.size(), kMaxPrintedBytes);
}

TEST(Json, refuses_objects_that_would_take_for_ever_and_deep_ones) {
  std::string many = "{";
  for (int i = 0; i < 10'001; ++i) many += fmt::format("\"{}\":1,", i);
  const auto json = parse_json(many + "\"x\":1}", "many");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().message, "many: an object of more than 10000 keys");
  EXPECT_FALSE(parse_json(std::string(100, '[') + std::string(100, ']'), "deep"));
  EXPECT_TRUE(is_utf8(parse_json("\"\xff\"", "bytes").error().message));
}

}  // namespace
}  // namespace kw
