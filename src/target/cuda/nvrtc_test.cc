#include "target/cuda/nvrtc.h"

#include <gtest/gtest.h>

namespace kw::cuda {
namespace {

// Needs the toolkit, no GPU: NVRTC compiles on the processor.
class NvrtcTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto loaded = Nvrtc::load();
    if (!loaded) GTEST_SKIP() << loaded.error().message;
    nvrtc_ = *loaded;
  }
  const Nvrtc* nvrtc_ = nullptr;
};

TEST_F(NvrtcTest, makes_a_cubin_and_hands_on_what_ptxas_reports) {
  const auto outcome = nvrtc_->compile(
      "extern \"C\" __global__ void f(float* x) { asm volatile(\"wgmma.fence.sync.aligned;\"); "
      "x[threadIdx.x] *= 2; }",
      "sm_90a", {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->ok) << outcome->log;
  EXPECT_EQ(outcome->cubin.substr(1, 3), "ELF");
  EXPECT_NE(outcome->log.find("registers"), std::string::npos) << outcome->log;
}

TEST_F(NvrtcTest, gives_the_compilers_words_for_what_is_wrong) {
  const auto outcome = nvrtc_->compile("__global__ void f() { this is no C++; }", "sm_90a", {});
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->ok);
  EXPECT_NE(outcome->log.find("kernel.cu(1)"), std::string::npos) << outcome->log;
}

TEST_F(NvrtcTest, reads_no_file_of_the_system) {
  const auto outcome = nvrtc_->compile("#include \"/etc/passwd\"\n", "sm_90a", {});
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->ok);
}

}  // namespace
}  // namespace kw::cuda
