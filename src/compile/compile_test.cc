#include "compile/compile.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST_F(CompileTest, unwritable_cache_is_a_readable_error) {
  std::ofstream(folder.path() / "cache") << "a file where the folder should be";
  const auto compiler = Compiler::find(plan);
  ASSERT_FALSE(compiler);
  EXPECT_NE(compiler.error().message.find("cache"), std::string::npos);
}

}  // namespace
}  // namespace kw
