// Printed CUDA kernels: launch records that parse back and evaluate for many shapes, texts that are taken as
// free ones again, and, where NVRTC is installed, compilation without spills or complaints. Runs nothing on a
// GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <regex>

#include "emit/cuda_menu_test.h"
#include "emit/source_rules.h"
#include "schedule/cuda_limits.h"
#include "schedule/gemm_wgmma.h"
#include "schedule/space.h"

namespace kw {
namespace {

Variables make_variables_of(const Problem& p) {
  return {{"m", p.m},     {"n", p.n},     {"k", p.k},     {"lda", p.lda},
          {"ldb", p.ldb}, {"ldc", p.ldc}, {"threads", 1}, {"sm_count", 132}};
}

TEST(GemmCuda, prints_launch_records_that_parse_back) {
  for (const MenuEntry& entry : list_menu()) {
    const LaunchRecord launch = print_menu_entry(entry).launch;
    const auto again = parse_launch(print_launch(launch));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, launch);
    EXPECT_EQ(launch.target, "cuda");
    EXPECT_EQ(launch.layout, entry.problem.layout);
    EXPECT_EQ(launch.contract.input, entry.problem.dtype);
    EXPECT_EQ(launch.contract.accumulate, Dtype::kF32);
    EXPECT_EQ(launch.kernels.size(), 1u);
    EXPECT_EQ(launch.kernels[0].name, entry.family);
    EXPECT_EQ(launch.kernels[0].grid->programmatic, entry.key.ends_with("pdl1"));
  }
}

// Every shape inside the domain can be launched, and the shape that the schedule is for lies inside.
TEST(GemmCuda, launches_every_shape_of_its_domain) {
  size_t inside = 0;
  for (const MenuEntry& entry : list_menu()) {
    const LaunchRecord launch = print_menu_entry(entry).launch;
    const Variables own = make_variables_of(entry.problem);
    ASSERT_EQ(find_domain_violation(launch, own).value_or("inside"), "inside") << entry.key;
    for (const int64_t m : {0, 1, 63, 64, 65, 1000, 1000000})
      for (const int64_t n : {0, 1, 31, 32, 33, 151936})
        for (const int64_t k : {0, 1, 7, 63, 64, 65, 128, 4100})
          for (const int64_t gap : {0, 1, 8}) {
            Problem p = make_cuda_problem(m, n, k, entry.problem.layout, entry.problem.dtype);
            for (int64_t* ld : {&p.lda, &p.ldb, &p.ldc}) *ld = gap == 8 ? (*ld + 7) / 8 * 8 : *ld + gap;
            if (find_domain_violation(launch, make_variables_of(p))) continue;
            ++inside;
            const auto numbers = evaluate_launch(launch, make_variables_of(p));
            ASSERT_TRUE(numbers) << numbers.error().message << " for " << print_problem(p) << " "
                                 << entry.key;
            ASSERT_EQ(numbers->grids.size(), 1u);
            ASSERT_EQ(numbers->grids[0].is_empty(), m == 0 || n == 0);
          }
  }
  EXPECT_GT(inside, 5000u);
}

// gemm_async takes every alignment, and gemm_direct and gemm_async take k = 0.
TEST(GemmCuda, declares_the_domain_of_its_copies) {
  for (const MenuEntry& entry : list_menu()) {
    const LaunchRecord launch = print_menu_entry(entry).launch;
    Problem p = entry.problem;
    p.k = 0;
    EXPECT_EQ(find_domain_violation(launch, make_variables_of(p)).has_value(), entry.family == "gemm_wgmma");
    p = entry.problem;
    p.lda += 1, p.ldb += 1, p.ldc += 1;
    const bool any = entry.key.starts_with("ca2 cb2");
    EXPECT_EQ(find_domain_violation(launch, make_variables_of(p)).has_value(), !any && p.lda % 16 != 0)
        << entry.key;
    p = entry.problem;
    p.ldc += 1;
    EXPECT_FALSE(find_domain_violation(launch, make_variables_of(p))) << entry.key;
  }
}

TEST(GemmCuda, prints_texts_that_are_taken_as_free_ones_again) {
  for (const MenuEntry& entry : list_menu()) {
    const Source source = print_menu_entry(entry);
    EXPECT_EQ(source.language, "cuda");
    EXPECT_NE(source.text.find(entry.key), std::string::npos);
    EXPECT_EQ(source.text.find("#include"), std::string::npos);
    Proposal again;
    again.family = "free";
    again.free_text = source.text;
    again.free_language = "cuda";
    again.free_launch = source.launch;
    const auto second = make_source(entry.problem, again, make_cuda_device());
    ASSERT_TRUE(second) << second.error().evidence.dump();
    EXPECT_EQ(second->text, source.text);
    EXPECT_EQ(second->launch, source.launch);
    EXPECT_EQ(second->language, "cuda");
    EXPECT_TRUE(second->flags.empty());
  }
}

// NVRTC, as far as this test needs it.
class Compiler {
 public:
  static const Compiler* find() {
    static const Compiler compiler;
    return compiler.create_ != nullptr ? &compiler : nullptr;
  }

  struct Outcome {
    bool ok = false;
    std::string log;
  };
  Outcome compile(const std::string& text, const char* architecture) const {
    const std::string arch = std::string("--gpu-architecture=") + architecture;
    const char* options[] = {arch.c_str(), "-std=c++17", "-default-device", "--ptxas-options=-v"};
    void* program = nullptr;
    Outcome outcome;
    if (create_(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) return outcome;
    outcome.ok = compile_(program, 4, options) == 0;
    size_t size = 0;
    log_size_(program, &size);
    outcome.log.resize(size);
    log_(program, outcome.log.data());
    destroy_(&program);
    return outcome;
  }

 private:
  Compiler() {
    void* library = nullptr;
    for (const char* name :
         {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"})
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto take = [&](auto*& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    take(compile_, "nvrtcCompileProgram");
    take(destroy_, "nvrtcDestroyProgram");
    take(log_size_, "nvrtcGetProgramLogSize");
    take(log_, "nvrtcGetProgramLog");
    take(create_, "nvrtcCreateProgram");
  }
  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(void*, int, const char* const*) = nullptr;
  int (*destroy_)(void**) = nullptr;
  int (*log_size_)(void*, size_t*) = nullptr;
  int (*log_)(void*, char*) = nullptr;
};

int find_number(const std::string& log, const char* pattern) {
  std::smatch found;
  return std::regex_search(log, found, std::regex(pattern)) ? std::stoi(found[1]) : -1;
}

void expect_clean(const Source& source, const MenuEntry& entry, const char* architecture) {
  const auto outcome = Compiler::find()->compile(source.text, architecture);
  ASSERT_TRUE(outcome.ok) << outcome.log << "\n" << entry.key;
  const int registers = find_number(outcome.log, "Used ([0-9]+) registers");
  const int spills = find_number(outcome.log, "([0-9]+) bytes spill stores");
  std::printf("%-11s %s %s %s: %d registers\n", std::string(entry.family).c_str(),
              std::string(print_layout(entry.problem.layout)).c_str(),
              std::string(print_dtype(entry.problem.dtype)).c_str(), std::string(entry.key).c_str(),
              registers);
  EXPECT_EQ(spills, 0) << outcome.log << entry.key;
  EXPECT_EQ(outcome.log.find("arning"), std::string::npos) << outcome.log << entry.key;
  EXPECT_EQ(outcome.log.find("C75"), std::string::npos) << outcome.log << entry.key;
  const auto threads = source.launch.kernels[0].grid->block[0].evaluate({});
  ASSERT_TRUE(threads);
  EXPECT_GT(registers, 0) << outcome.log;
  EXPECT_LE(registers, get_register_limit(static_cast<int>(*threads))) << entry.key;
}

TEST(GemmCuda, compiles_the_menu_without_spills) {
  if (Compiler::find() == nullptr) GTEST_SKIP() << "no NVRTC";
  for (const MenuEntry& entry : list_menu()) expect_clean(print_menu_entry(entry), entry, "sm_90a");
}

TEST(GemmCuda, compiles_for_older_gpus_what_claims_to_run_there) {
  if (Compiler::find() == nullptr) GTEST_SKIP() << "no NVRTC";
  size_t index = 0;
  for (const MenuEntry& entry : list_menu()) {
    const Source source = print_menu_entry(entry);
    if (source.launch.isa == "sm_80" && index++ % 4 == 0) expect_clean(source, entry, "sm_80");
  }
}

TEST(CudaSourceRules, take_assembly_and_refuse_what_leaves_the_kernel) {
  const auto reason_of = [](std::string_view text) {
    const auto violation = find_source_violation(text, SourceRules::kCuda);
    return violation ? violation->reason : "none";
  };
  EXPECT_EQ(reason_of("extern \"C\" __global__ void f() { asm volatile(\"bar.sync 0;\"); }"), "none");
  EXPECT_EQ(reason_of("#include <cuda_fp16.h>\n"), "include");
  EXPECT_EQ(reason_of("#include <immintrin.h>\n"), "include");
  EXPECT_EQ(reason_of("#embed \"secret\"\n"), "embed");
  EXPECT_EQ(reason_of("__device__ void f() { asm(\".inc\" \"bin \\\"x\\\"\"); }"), "inline_assembly");
  EXPECT_EQ(reason_of("__device__ long f() { return clock64(); }"), "clock");
  EXPECT_EQ(reason_of("__device__ void f(long& t) { asm(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t)); }"),
            "clock");
  EXPECT_EQ(reason_of("__host__ void f() {}"), "host");
  EXPECT_EQ(reason_of("__managed__ int calls;"), "host");
}

Proposal make_free(std::string isa) {
  Proposal proposal;
  proposal.family = "free";
  proposal.free_language = "cuda";
  proposal.free_text = "extern \"C\" __global__ void mine(unsigned short* c) {}\n";
  LaunchRecord launch = print_menu_entry({"gemm_async", "ca16 cb16 m64 n64 k64 wm2 wn2 wk1 st4 pdl0",
                                          make_cuda_problem(256, 256, 512, Layout::kNT, Dtype::kF16)})
                            .launch;
  launch.isa = std::move(isa);
  proposal.free_launch = launch;
  return proposal;
}

TEST(MakeCudaSource, takes_free_kernels_for_this_gpu_and_older_ones) {
  const Problem problem = make_cuda_problem(64, 64, 64, Layout::kNT, Dtype::kF16);
  const auto reason_of = [&](const char* isa, const char* device) {
    const auto source = make_source(problem, make_free(isa), make_cuda_device(device));
    return source ? source->text : source.error().reason;
  };
  const std::string text = make_free("sm_80").free_text;
  EXPECT_EQ(reason_of("sm_80", "sm_90a"), text);
  EXPECT_EQ(reason_of("sm_90", "sm_90a"), text);
  EXPECT_EQ(reason_of("sm_90a", "sm_90a"), text);
  EXPECT_EQ(reason_of("sm_90a", "sm_80"), "isa");
  EXPECT_EQ(reason_of("sm_90a", "sm_100a"), "isa");
  EXPECT_EQ(reason_of("sm_100", "sm_90a"), "isa");
  EXPECT_EQ(reason_of("avx2", "sm_90a"), "launch");
  Proposal cpu = make_free("sm_80");
  cpu.free_launch->target = "cpu";
  EXPECT_FALSE(make_source(problem, cpu, make_cuda_device()));
}

TEST(MakeCudaSource, refuses_an_illegal_or_unreadable_schedule) {
  for (const char* family : {"gemm_wgmma", "gemm_direct", "gemm_async"})
    for (const char* key : {"", "fast", "g1 n32 k128 st4 s16 swap1 pdl0", "mt2 nt8 wm2 wn4 wk16 c4 pdl0",
                            "ca2 cb16 m16 n16 k32 wm1 wn1 wk1 st2 pdl0"}) {
      Proposal proposal;
      proposal.family = family;
      proposal.schedule = key;
      const auto source =
          make_source(make_cuda_problem(64, 64, 64, Layout::kNT, Dtype::kF16), proposal, make_cuda_device());
      ASSERT_FALSE(source) << family << " " << key;
      EXPECT_EQ(source.error().reason, "schedule");
    }
}

}  // namespace
}  // namespace kw
