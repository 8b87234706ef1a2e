#include "compile/compile.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

namespace kw {
namespace {

Source make_source(const std::string& text) {
  Source source;
  source.text = text;
  source.launch.kernels = {{"kernel", *Expression::parse("1")}};
  return source;
}

struct CompileTest : testing::Test {
  TempFolder folder = *TempFolder::make();
  CompilePlan plan = {.cache_folder = folder.path() / "cache"};
};

TEST_F(CompileTest, second_compile_comes_from_the_cache_with_the_same_identity) {
  const Source source = make_source("extern \"C\" void kernel(long long, const void*) {}");
  auto first = Compiler::find(plan);
  ASSERT_TRUE(first) << first.error().message;
  const auto a = first->compile({source});
  ASSERT_TRUE(a && (*a)[0]);
  EXPECT_FALSE((*a)[0]->from_cache);
  auto second = Compiler::find(plan);
  const auto b = second->compile({source});
  ASSERT_TRUE(b && (*b)[0]);
  EXPECT_TRUE((*b)[0]->from_cache);
  EXPECT_EQ(second->runs(), 0);
  EXPECT_EQ((*a)[0]->hash, (*b)[0]->hash);
  EXPECT_EQ((*a)[0]->object, (*b)[0]->object);
}

TEST_F(CompileTest, everything_that_determines_the_bytes_is_in_the_hash) {
  auto compiler = Compiler::find(plan);
  const Source source = make_source("int x;");
  Source other = source;
  other.flags = {"-O3"};
  EXPECT_NE(compiler->source_hash(source), compiler->source_hash(other));
  other = source;
  other.language = "c";
  EXPECT_NE(compiler->source_hash(source), compiler->source_hash(other));
  other = source;
  other.launch.isa = "avx512";
  EXPECT_NE(compiler->source_hash(source), compiler->source_hash(other));
}

TEST_F(CompileTest, launch_record_is_part_of_the_kernels_identity) {
  auto compiler = Compiler::find(plan);
  Source one = make_source("extern \"C\" void kernel(long long, const void*) {}");
  Source two = one;
  two.launch.kernels[0].items = *Expression::parse("2");
  const auto binaries = compiler->compile({one, two});
  EXPECT_EQ((*binaries)[0]->source_hash, (*binaries)[1]->source_hash);
  EXPECT_NE((*binaries)[0]->hash, (*binaries)[1]->hash);
}

TEST_F(CompileTest, error_is_a_verdict_with_the_compilers_words_and_is_remembered) {
  auto compiler = Compiler::find(plan);
  const Source wrong = make_source("void kernel( {");
  for (int round = 0; round < 2; ++round) {
    const auto outcome = compiler->compile({wrong});
    ASSERT_TRUE(outcome);
    ASSERT_FALSE((*outcome)[0]);
    EXPECT_EQ((*outcome)[0].error().code(), "compile_error/syntax");
    EXPECT_NE((*outcome)[0].error().evidence["message"].get<std::string>().find("error"), std::string::npos);
  }
  EXPECT_EQ(compiler->runs(), 1);
}

TEST_F(CompileTest, what_the_compiler_runs_out_of_is_named) {
  plan.max_memory_bytes = size_t{256} << 20;
  auto compiler = Compiler::find(plan);
  std::string doubling = "#define A0 x x x x x x x x\n", flood;
  for (int i = 1; i < 25; ++i) doubling += fmt::format("#define A{0} A{1} A{1} A{1} A{1}\n", i, i - 1);
  for (int i = 0; i < 100; ++i) flood += "x;\n";
  const auto outcome = compiler->compile(
      {make_source("template<int N> struct S { static constexpr int v = S<N + 1>::v; }; int x = S<0>::v;"),
       make_source("constexpr long f(long n) { return f(n + 1) + 1; } constexpr long x = f(0);"),
       make_source(doubling + "A24"), make_source(flood),
       make_source("extern const char x[100 << 20] = {1};")});
  ASSERT_TRUE(outcome);
  const char* expected[] = {"compiler_limit", "compiler_limit", "out_of_memory", "too_many_errors",
                            "object_too_large"};
  for (size_t i = 0; i < std::size(expected); ++i) {
    ASSERT_FALSE((*outcome)[i]) << i;
    EXPECT_EQ((*outcome)[i].error().reason, expected[i]) << i;
    EXPECT_LE((*outcome)[i].error().evidence["message"].get<std::string>().size(), 4500U);
  }
}

TEST_F(CompileTest, never_ending_compile_is_stopped) {
  plan.max_cpu_s = 1;
  auto compiler = Compiler::find(plan);
  const auto outcome = compiler->compile(
      {make_source("template<long N> constexpr long f() { long s = 0; for (long i = 0; i < 200000; ++i) s += "
                   "i ^ N; return s; }"
                   "template<long N> struct S { static constexpr long v = f<N>() + S<N - 1>::v; };"
                   "template<> struct S<0> { static constexpr long v = 0; }; long x = S<800>::v;")});
  ASSERT_TRUE(outcome);
  ASSERT_FALSE((*outcome)[0]);
  EXPECT_EQ((*outcome)[0].error().code(), "compile_error/timeout");
}

TEST_F(CompileTest, torn_entry_is_rebuilt) {
  const Source source = make_source("extern \"C\" void kernel(long long, const void*) {}");
  auto compiler = Compiler::find(plan);
  ASSERT_TRUE((*compiler->compile({source}))[0]);
  for (const auto& entry : fs::recursive_directory_iterator(plan.cache_folder))
    if (entry.is_regular_file()) fs::resize_file(entry.path(), entry.file_size() / 2);
  const auto again = compiler->compile({source});
  ASSERT_TRUE((*again)[0]);
  EXPECT_FALSE((*again)[0]->from_cache);
  EXPECT_TRUE((*compiler->compile({source}))[0]->from_cache);
}

TEST_F(CompileTest, sixteen_processes_with_a_cold_cache_all_succeed) {
  const Source source = make_source("extern \"C\" void kernel(long long, const void*) {}");
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      auto compiler = Compiler::find(plan);
      const auto outcome = compiler ? compiler->compile({source}) : tl::unexpected(compiler.error());
      _exit(outcome && (*outcome)[0] ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(plan.cache_folder))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 1u) << "temporary files were left behind";
}

TEST_F(CompileTest, entries_longest_unused_go_first_when_the_cache_is_full) {
  auto cache = ObjectCache::open(plan.cache_folder, 25'000);
  ASSERT_TRUE(cache);
  CacheEntry entry;
  entry.object = std::string(10'000, 'x');
  for (const char* hash : {"aa", "bb", "cc"}) {
    ASSERT_TRUE(cache->put(hash, entry));
    usleep(20'000);
  }
  ASSERT_TRUE(cache->find("aa"));
  EXPECT_EQ(cache->evict(), 1);
  EXPECT_TRUE(cache->find("aa"));
  EXPECT_FALSE(cache->find("bb"));
  EXPECT_TRUE(cache->find("cc"));
}

TEST_F(CompileTest, entries_from_the_future_go_before_new_ones) {
  auto cache = ObjectCache::open(plan.cache_folder, 25'000);
  ASSERT_TRUE(cache);
  CacheEntry entry;
  entry.object = std::string(10'000, 'x');
  for (const char* hash : {"aa", "bb", "cc"}) ASSERT_TRUE(cache->put(hash, entry));
  fs::last_write_time(plan.cache_folder / "aa" / "aa",
                      fs::file_time_type::clock::now() + std::chrono::hours(24 * 365));
  EXPECT_EQ(cache->evict(), 1);
  EXPECT_FALSE(cache->find("aa"));
  EXPECT_TRUE(cache->find("bb"));
}

// A compiler that stands in for g++ for one source: `body` is what it does instead of compiling.
class WrapperTest : public CompileTest {
 protected:
  Compiler wrap(const std::string& body) {
    const fs::path script = folder.path() / "g++wrapper";
    std::ofstream(script) << "#!/bin/sh\ncase \"$*\" in *-c*) ;; *) exec g++ \"$@\" ;; esac\n"
                          << body << "\n";
    fs::permissions(script, fs::perms::owner_all);
    CompilePlan wrapped = plan;
    wrapped.compiler = script;
    auto compiler = Compiler::find(wrapped);
    EXPECT_TRUE(compiler) << compiler.error().message;
    return *std::move(compiler);
  }
  std::string code_of(const std::string& body) {
    const auto outcome = wrap(body).compile({source});
    if (!outcome) return outcome.error().message;
    return (*outcome)[0] ? "compiled" : (*outcome)[0].error().code();
  }
  const Source source = make_source("extern \"C\" void kernel(long long, const void*) {}");
};

TEST_F(WrapperTest, killed_compiler_gets_a_second_chance_and_is_not_remembered) {
  EXPECT_EQ(code_of("kill -9 $$"), "compile_error/compiler_crash");
  EXPECT_EQ(code_of("echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1"),
            "compile_error/compiler_crash");
  const std::string mark = (folder.path() / "mark").string();
  EXPECT_EQ(code_of("[ -e " + mark + " ] || { touch " + mark + "; kill -9 $$; }; exec g++ \"$@\""),
            "compiled");
}

TEST_F(WrapperTest, children_that_outlive_the_compiler_delay_nothing) {
  const auto start = Clock::now();
  EXPECT_EQ(code_of("sleep 300 & exec g++ \"$@\""), "compiled");
  EXPECT_LT(seconds_since(start), 60);  // the sleeper holds standard error for five minutes
}

TEST_F(WrapperTest, success_without_an_object_is_named) {
  EXPECT_EQ(code_of("exit 0"), "compile_error/no_object");
}

TEST_F(WrapperTest, endless_file_is_cut) {
  EXPECT_EQ(code_of("exec head -c 1000000000 /dev/zero > kernel.s"), "compile_error/object_too_large");
}

TEST_F(CompileTest, unwritable_cache_is_a_readable_error) {
  std::ofstream(folder.path() / "cache") << "a file where the folder should be";
  const auto compiler = Compiler::find(plan);
  ASSERT_FALSE(compiler);
  EXPECT_NE(compiler.error().message.find("cache"), std::string::npos);
}

// A message is cut to a bounded length; a letter of two bytes must not be cut in half.
TEST_F(CompileTest, errors_about_any_text_can_be_stored_and_shown) {
  auto compiler = Compiler::find(plan);
  std::string letters;
  for (int i = 0; i < 3000; ++i) letters += "\u00e9";
  for (const std::string shift : {"", "x"}) {
    const auto built =
        compiler->compile({make_source("int a = /*" + shift + letters + "*/ missing;\x1b[2J")});
    ASSERT_TRUE(built) << built.error().message;
    ASSERT_FALSE((*built)[0]);
    EXPECT_NO_THROW((void)(*built)[0].error().evidence.dump());
    EXPECT_TRUE(is_readable((*built)[0].error().evidence["message"].get<std::string>()));
  }
}

}  // namespace
}  // namespace kw
