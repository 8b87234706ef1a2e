#include "schedule/joint_space.h"

#include <gtest/gtest.h>

#include <set>

namespace kw {
namespace {

DeviceFacts make_gpu() {
  DeviceFacts device;
  device.target = "cuda";
  device.isa = "sm_90a";
  device.cores = 132;
  device.l2_bytes = 60 << 20;
  return device;
}

std::unique_ptr<Space> make_space_of_gpu() {
  Problem problem;
  problem.dtype = Dtype::kF16;
  problem.layout = Layout::kNT;
  problem.m = problem.n = 256;
  problem.k = 512;
  auto space = make_space("gemm_cuda", with_tight_strides(problem), make_gpu());
  EXPECT_TRUE(space) << space.error().message;
  return std::move(*space);
}

std::string family_of(const std::string& key) { return std::string(split_joint_key(key).first); }

TEST(JointSpace, keys_name_their_family_and_stay_legal_when_changed) {
  const auto space = make_space_of_gpu();
  Random random(7);
  std::set<std::string> families;
  for (int i = 0; i < 200; ++i) {
    const std::string a = space->draw(random), b = space->draw(random);
    families.insert(family_of(a));
    const std::string changed = space->mutate(a, random), crossed = space->cross(a, b, random);
    EXPECT_FALSE(space->find_illegality(a)) << a;
    EXPECT_FALSE(space->find_illegality(changed)) << changed;
    EXPECT_FALSE(space->find_illegality(crossed)) << crossed;
    EXPECT_EQ(family_of(changed), family_of(a));
    EXPECT_EQ(space->features(a).size(), space->feature_names().size());
  }
  EXPECT_EQ(families, (std::set<std::string>{"gemm_async", "gemm_direct", "gemm_wgmma"}));
}

TEST(JointSpace, ranks_all_families_by_predicted_time) {
  const auto space = make_space_of_gpu();
  const auto ranked = space->rank(50);
  ASSERT_EQ(ranked.size(), 50U);
  for (size_t at = 1; at < ranked.size(); ++at)
    EXPECT_LE(space->predict_us(ranked[at - 1]), space->predict_us(ranked[at]));
}

TEST(JointSpace, lists_every_family_in_turn) {
  const auto keys = make_space_of_gpu()->enumerate(9);
  ASSERT_EQ(keys.size(), 9U);
  std::set<std::string> families;
  for (size_t at = 0; at < 3; ++at) families.insert(family_of(keys[at]));
  EXPECT_EQ(families.size(), 3U);
}

TEST(JointSpace, foreign_families_are_illegal_with_a_reason) {
  const auto reason = make_space_of_gpu()->find_illegality("gemm_cpu tile8x8");
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("gemm_cpu"), std::string::npos);
}

}  // namespace
}  // namespace kw
