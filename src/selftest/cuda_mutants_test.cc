// The CUDA corpus as far as a machine without a GPU can hold it: every change applies, names and codes are in
// order, and where nvcc is installed every text that should compile does.
#include "selftest/cuda_mutants.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/file.h"
#include "base/process.h"
#include "record/candidate.h"
#include "record/launch.h"

namespace kw {
namespace {

std::vector<CudaMutant> list_all() {
  std::vector<CudaMutant> all = make_cuda_kernels();
  for (CudaMutant& mutant : make_cuda_mutants()) all.push_back(std::move(mutant));
  return all;
}

TEST(CudaMutants, differ_from_each_other_and_have_a_class_of_the_closed_list) {
  EXPECT_GE(make_cuda_mutants().size(), 25U);
  std::set<std::string> names, texts;
  for (const CudaMutant& mutant : list_all()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    EXPECT_TRUE(texts.insert(mutant.text).second) << mutant.name;
    const size_t slash = mutant.expected.find('/');
    EXPECT_TRUE(parse_verdict_class(mutant.expected.substr(0, slash))) << mutant.expected;
    EXPECT_EQ(slash == std::string::npos, mutant.expected == "pass") << mutant.expected;
    for (const char* point : {"DECLARATIONS", "BEGIN", "END"})
      EXPECT_EQ(mutant.text.find(point), std::string::npos) << mutant.name;
  }
}

TEST(CudaMutants, have_launches_that_can_be_evaluated) {
  const Variables sizes = {{"m", 65}, {"n", 130}, {"k", 17}};
  for (const CudaMutant& mutant : list_all()) {
    EXPECT_FALSE(mutant.launches.empty()) << mutant.name;
    std::vector<std::string> texts = {mutant.workspace_bytes};
    for (const CudaMutantLaunch& launch : mutant.launches)
      for (const auto& text :
           {launch.grid_x, launch.grid_y, launch.grid_z, launch.block_x, launch.smem_bytes})
        texts.push_back(text);
    for (const std::string& text : texts) {
      const auto expression = Expression::parse(text);
      ASSERT_TRUE(expression) << mutant.name << ": " << text;
      EXPECT_GE(expression->evaluate(sizes).value_or(-1), 0) << mutant.name << ": " << text;
    }
  }
}

std::string find_nvcc() {
  const Command version{.argv = {"nvcc", "--version"}};
  if (const auto outcome = run_command(version); outcome && outcome->ok()) return "nvcc";
  const fs::path usual = "/usr/local/cuda/bin/nvcc";
  return fs::exists(usual) ? usual.string() : "";
}

// All texts as one file: each in a namespace of its own, its kernels under names of its own.
std::string join_texts(const std::vector<CudaMutant>& mutants) {
  std::string joined;
  for (size_t at = 0; at < mutants.size(); ++at) {
    if (!mutants[at].compiles) continue;
    std::string defines, undefines;
    for (const CudaMutantLaunch& launch : mutants[at].launches) {
      defines += fmt::format("#define {0} {0}_{1}\n", launch.kernel, at);
      undefines += fmt::format("#undef {}\n", launch.kernel);
    }
    joined += fmt::format("// {}\n{}namespace text_{} {{\n{}\n}}\n{}", mutants[at].name, defines, at,
                          mutants[at].text, undefines);
  }
  return joined;
}

TEST(CudaMutants, compile_where_they_should) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc is neither on PATH nor in /usr/local/cuda/bin";
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file_atomically(folder->path() / "all.cu", join_texts(list_all())));
  const Command command{.argv = {nvcc, "-ptx", "-arch=sm_90", "-std=c++17", "-o", "all.ptx", "all.cu"},
                        .folder = folder->path(),
                        .limit = Milliseconds(240'000)};
  const auto outcome = run_command(command);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->ok()) << outcome->errors.substr(0, 4000);
  const auto ptx = read_file(folder->path() / "all.ptx");
  ASSERT_TRUE(ptx);
  EXPECT_NE(ptx->find("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"), std::string::npos);
}

TEST(CudaMutants, that_are_no_cuda_do_not_compile) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc is neither on PATH nor in /usr/local/cuda/bin";
  auto folder = TempFolder::make();
  ASSERT_TRUE(folder);
  for (const CudaMutant& mutant : make_cuda_mutants()) {
    if (mutant.compiles || !mutant.expected.starts_with("compile_error/")) continue;
    ASSERT_TRUE(write_file_atomically(folder->path() / "one.cu", mutant.text));
    const auto outcome = run_command({.argv = {nvcc, "-ptx", "-arch=sm_90", "-o", "one.ptx", "one.cu"},
                                      .folder = folder->path(),
                                      .limit = Milliseconds(120'000)});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_FALSE(outcome->ok()) << mutant.name;
  }
}

}  // namespace
}  // namespace kw
