// make_source: which proposals become sources and which verdict the others get.
#include "emit/emit.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "emit/device_text.h"
#include "schedule/gemm_cpu.h"

namespace kw {
namespace {

DeviceFacts make_device(std::string isa) {
  DeviceFacts device;
  device.target = "cpu";
  device.isa = std::move(isa);
  device.l2_bytes = 1 << 20;
  return device;
}

Problem make_problem() {
  Problem problem;
  problem.layout = Layout::kNT;
  problem.m = problem.n = problem.k = 64;
  return with_tight_strides(problem);
}

Proposal make_free() {
  Proposal proposal;
  proposal.family = "free";
  proposal.free_text = "extern \"C\" void mine(long long item, const kw_call* call) {}\n";
  LaunchRecord launch;
  launch.layout = Layout::kNT;
  launch.kernels.push_back({"mine", *Expression::parse("1")});
  proposal.free_launch = launch;
  return proposal;
}

std::string reason_of(const tl::expected<Source, Verdict>& source) {
  if (source) return "accepted";
  EXPECT_EQ(source.error().klass, VerdictClass::kIllegal);
  EXPECT_FALSE(source.error().evidence["message"].get<std::string>().empty());
  return source.error().reason;
}

TEST(MakeSource, prints_a_legal_schedule) {
  Proposal proposal;
  proposal.family = "gemm_cpu";
  proposal.schedule = "avx2 dot r2 v4 s1 u1 pa0 pb0 mcall ncall kcall bx tx pf0 tm1 tn1 tk1";
  const auto source = make_source(make_problem(), proposal, make_device("avx2"));
  ASSERT_TRUE(source) << source.error().evidence.dump();
  EXPECT_NE(source->text.find(proposal.schedule), std::string::npos);
  EXPECT_EQ(source->launch.isa, "avx2");
  EXPECT_EQ(source->launch.layout, Layout::kNT);
}

TEST(MakeSource, refuses_a_schedule_that_is_illegal_or_unreadable) {
  Proposal proposal;
  proposal.family = "gemm_cpu";
  proposal.schedule = "avx512 dot r3 v4 s1 u1 pa0 pb0 mcall ncall kcall bx tx pf0 tm1 tn1 tk1";
  EXPECT_EQ(reason_of(make_source(make_problem(), proposal, make_device("avx2"))), "schedule");
  proposal.schedule = "fastest";
  EXPECT_EQ(reason_of(make_source(make_problem(), proposal, make_device("avx2"))), "schedule");
  proposal.family = "gemm_abacus";
  EXPECT_EQ(reason_of(make_source(make_problem(), proposal, make_device("avx2"))), "family");
}

TEST(MakeSource, passes_a_free_text_through_with_the_abi_in_front) {
  const Proposal proposal = make_free();
  const auto source = make_source(make_problem(), proposal, make_device("avx2"));
  ASSERT_TRUE(source);
  EXPECT_TRUE(source->text.starts_with(get_device_text("cpu_abi.h")));
  EXPECT_TRUE(source->text.ends_with(proposal.free_text));
  EXPECT_EQ(source->launch, *proposal.free_launch);
}

TEST(MakeSource, makes_a_source_into_itself_when_it_comes_back_as_free_text) {
  const DeviceFacts device = make_device("avx512");
  std::vector<Proposal> proposals = {make_free()};
  Random random(3);
  GemmCpuSchedule schedule = enumerate_gemm_cpu(make_problem(), device).front();
  for (int step = 0; step < 40; ++step) {  // a walk through the families of tiles, packs and splits
    Proposal& proposal = proposals.emplace_back();
    proposal.family = "gemm_cpu";
    proposal.schedule = print_gemm_cpu(schedule);
    schedule = mutate_gemm_cpu(schedule, make_problem(), device, random);
  }
  for (const Proposal& proposal : proposals) {
    const auto first = make_source(make_problem(), proposal, device);
    ASSERT_TRUE(first) << first.error().evidence.dump();
    EXPECT_TRUE(has_this_abi(first->text));
    Proposal again = make_free();
    again.free_text = first->text;
    again.free_launch = first->launch;
    const auto second = make_source(make_problem(), again, device);
    ASSERT_TRUE(second) << second.error().evidence.dump();
    EXPECT_EQ(second->text, first->text);
    EXPECT_EQ(second->flags, first->flags);
  }
}

TEST(MakeSource, applies_the_source_rules_to_text_that_brings_the_abi_along) {
  const std::string hostile = "#include \"/etc/passwd\"\n", abi(get_device_text("cpu_abi.h"));
  for (const std::string& text : {abi + "\n#line 1\n" + hostile, abi + hostile, hostile + abi}) {
    Proposal proposal = make_free();
    proposal.free_text = text;
    EXPECT_EQ(reason_of(make_source(make_problem(), proposal, make_device("avx2"))), "include");
  }
}

TEST(MakeSource, refuses_a_free_kernel_whose_launch_does_not_fit) {
  const DeviceFacts device = make_device("avx2");
  Proposal proposal = make_free();
  proposal.free_launch.reset();
  EXPECT_EQ(reason_of(make_source(make_problem(), proposal, device)), "launch");
  proposal = make_free();
  proposal.free_launch->op = "attention";
  EXPECT_EQ(reason_of(make_source(make_problem(), proposal, device)), "launch");
  proposal = make_free();
  proposal.free_launch->layout = Layout::kNN;
  EXPECT_EQ(reason_of(make_source(make_problem(), proposal, device)), "launch");
  proposal = make_free();
  proposal.free_launch->contract.output = Dtype::kF16;
  EXPECT_EQ(reason_of(make_source(make_problem(), proposal, device)), "launch");
  proposal = make_free();
  proposal.free_launch->isa = "avx512";
  EXPECT_EQ(reason_of(make_source(make_problem(), proposal, device)), "isa");
  proposal = make_free();
  proposal.free_launch->target = "cuda";
  EXPECT_EQ(reason_of(make_source(make_problem(), proposal, device)), "launch");
}

}  // namespace
}  // namespace kw
