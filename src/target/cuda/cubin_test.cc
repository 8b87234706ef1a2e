#include "target/cuda/cubin.h"

#include <gtest/gtest.h>

#include "target/cuda/nvrtc.h"

namespace kw::cuda {
namespace {

LaunchRecord record_of(const std::string& kernel) {
  LaunchRecord launch;
  launch.target = "cuda";
  launch.kernels = {{.name = kernel, .items = {}, .grid = GridLaunch()}};
  return launch;
}

// The code of what check_cubin says of a text, "pass" when nothing.
std::string judge(const std::string& text, const std::string& kernel = "f") {
  const auto nvrtc = Nvrtc::load();
  EXPECT_TRUE(nvrtc);
  const auto built = (*nvrtc)->compile(text, "sm_90a", {});
  EXPECT_TRUE(built && built->ok) << (built ? built->log : built.error().message);
  if (!built || !built->ok) return "no cubin";
  const auto verdict = check_cubin(built->cubin, record_of(kernel));
  return verdict ? verdict->code() : "pass";
}

class Cubin : public testing::Test {
  void SetUp() override {
    if (!Nvrtc::load()) GTEST_SKIP() << Nvrtc::load().error().message;
  }
};

TEST_F(Cubin, plain_kernel_shared_memory_and_constants_pass) {
  EXPECT_EQ(judge("extern \"C\" __global__ void f(float* x) { x[threadIdx.x] = 1; }"), "pass");
  EXPECT_EQ(
      judge("__constant__ float t[3] = {1, 2, 3};\n"
            "extern \"C\" __global__ void f(float* x) { __shared__ float s[99]; s[threadIdx.x] = x[0];\n"
            "__syncthreads(); x[threadIdx.x] = s[1] + t[threadIdx.x % 3]; }"),
      "pass");
  EXPECT_EQ(judge("__constant__ constexpr int kCount = 3; __constant__ constexpr bool kOn = true;\n"
                  "extern \"C\" __global__ void f(float* x) { if (kOn) x[threadIdx.x % kCount] = 1; }"),
            "pass");
}

TEST_F(Cubin, what_outlives_a_launch_is_refused) {
  EXPECT_EQ(judge("__device__ int n;\nextern \"C\" __global__ void f(int* x) { x[0] = n++; }"),
            "illegal/writable_static_data");
  EXPECT_EQ(judge("extern \"C\" __global__ void f(int* x) { static int n = 7; x[0] = n++; }"),
            "illegal/writable_static_data");
  EXPECT_EQ(judge("__device__ int n[4];\n__device__ int* const p = n;\n"
                  "extern \"C\" __global__ void f(int* x) { x[0] = p[x[1]]++; }"),
            "illegal/writable_static_data");
  EXPECT_EQ(
      judge("__device__ int n;\nextern \"C\" __global__ void f(int* x) { int* p; asm(\"mov.u64 %0, n;\" : "
            "\"=l\"(p)); *p = x[0]; }"),
      "illegal/writable_static_data");
}

TEST_F(Cubin, calls_into_the_runtime_are_refused) {
  EXPECT_EQ(judge("extern \"C\" __global__ void f(void** x) { x[0] = malloc(8); }"),
            "illegal/undefined_symbol");
  EXPECT_EQ(
      judge("extern \"C\" __global__ void f(void** x) { printf(\"\"); x[0] = malloc(8); }").substr(0, 8),
      "illegal/");
}

TEST_F(Cubin, a_missing_kernel_is_named) {
  EXPECT_EQ(judge("extern \"C\" __global__ void g(float* x) { x[0] = 1; }"), "launch_error/missing_kernel");
}

TEST(CubinBytes, anything_else_is_no_object) {
  for (const std::string& bytes : {std::string(),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(4000, 'x')}) {
    const auto verdict = check_cubin(bytes, record_of("f"));
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->code(), "illegal/object");
  }
}

}  // namespace
}  // namespace kw::cuda
