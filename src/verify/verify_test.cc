// verify against functions in this process: every way to be wrong gets its own code, the right one passes.
#include "verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "record/measured_family.h"
#include "verify/compare.h"
#include "verify/element.h"
#include "verify/fake_device_test.h"
#include "verify/pattern.h"

namespace kw {
namespace {

using testing::HasSubstr;

constexpr int64_t kM = 13, kN = 11, kK = 37;

// Row-major nn GEMM with pitched operands; contents N(0,1), reference in float64.
Check make_gemm_check(double alpha, double beta, uint64_t seed, const std::string& family = "normal") {
  Problem problem;
  problem.m = kM, problem.n = kN, problem.k = kK;
  problem.lda = kK + 3, problem.ldb = kN + 2, problem.ldc = kN + 1;
  problem.alpha = alpha, problem.beta = beta;
  Check check;
  check.family = family;
  check.seed = seed;
  Workload& workload = check.workload;
  workload.problem = problem;
  workload.operands = {{"a", Dtype::kF32, kM, kK, problem.lda, Access::kIn},
                       {"b", Dtype::kF32, kK, kN, problem.ldb, Access::kIn},
                       {"c", Dtype::kF32, kM, kN, problem.ldc, beta == 0 ? Access::kOut : Access::kInOut}};
  workload.size_names = {"m", "n", "k", "lda", "ldb", "ldc"};
  workload.sizes = {kM, kN, kK, problem.lda, problem.ldb, problem.ldc};
  workload.scalars = {alpha, beta};
  workload.flops = 2.0 * kM * kN * kK;
  Random random(seed);
  for (const Operand& operand : workload.operands) {
    std::vector<std::byte> bytes(static_cast<size_t>(operand.span_bytes()));
    for (int64_t at = 0; at < operand.span(); ++at) store_element(Dtype::kF32, bytes, at, random.normal());
    check.contents.push_back(bytes);
  }
  check.output = 2;
  Patch patch{0, 0, kM, kN, {}, {}};
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      double sum = 0, size = 0;
      for (int64_t p = 0; p < kK; ++p) {
        const double product = load_element(Dtype::kF32, check.contents[0], i * problem.lda + p) *
                               load_element(Dtype::kF32, check.contents[1], p * problem.ldb + j);
        sum += product;
        size += std::fabs(product);
      }
      const double c = load_element(Dtype::kF32, check.contents[2], i * problem.ldc + j);
      patch.value.push_back(alpha * sum + beta * c);
      patch.bound.push_back(0x1p-24 * (kK + 4) * (std::fabs(alpha) * size + std::fabs(beta * c)));
    }
  }
  check.patches.push_back(std::move(patch));
  return check;
}

// What a wrong kernel does differently; each field is one mutation.
struct Mutation {
  int64_t m = kM, n = kN, k = kK, first_k = 0;
  int64_t lda = kK + 3;
  float alpha_power = 1;
  bool ignore_beta = false, read_c = false, negate = false, transpose = false, shift = false, bf16 = false;
};

void multiply(const FakeCall& call, const Mutation& mutation) {
  const auto& scalars = call.workload.scalars;
  const float alpha = std::pow(static_cast<float>(scalars[0]), mutation.alpha_power);
  const float beta = static_cast<float>(scalars[1]);
  const auto cut = [&](float value) {
    return mutation.bf16 ? static_cast<float>(round_to_dtype(Dtype::kBf16, value)) : value;
  };
  for (int64_t i = 0; i < mutation.m; ++i) {
    for (int64_t j = 0; j < mutation.n; ++j) {
      float sum = 0;
      for (int64_t p = mutation.first_k; p < mutation.k; ++p) {
        sum += cut(call.operand[0][i * mutation.lda + p]) * cut(call.operand[1][p * call.n(4) + j]);
      }
      const int64_t col = mutation.shift ? (j + 1) % kN : j;
      float& c = call.operand[2][i * call.n(5) + col];
      float value = alpha * sum * (mutation.negate ? -1 : 1);
      if ((beta != 0 && !mutation.ignore_beta) || mutation.read_c) value += beta * c;
      c = value;
    }
  }
}

FakeKernel make_kernel(Mutation mutation) {
  return [mutation](FakeCall& call) {
    multiply(call, mutation);
    return RunOutcome{};
  };
}

std::vector<Check> make_all_checks() {
  return {make_gemm_check(1, 0, 1, "one"),      make_gemm_check(1, 0, 2, "two"),
          make_gemm_check(1, 0, 3, "three"),    make_gemm_check(1, 0, 4, "four"),
          make_gemm_check(1.5, 0.5, 5, "five"), make_gemm_check(1.5, 0.5, 6, "six")};
}

Verdict run_checks(const FakeKernel& kernel, const std::vector<Check>& checks = make_all_checks(),
                   int threads = 1, bool deterministic = true) {
  FakeDevice device(kernel, threads);
  Binary binary;
  binary.hash = "hash";
  binary.launch.deterministic = deterministic;
  binary.launch.workspace_bytes = *Expression::parse("65536");
  const auto verdict = check_binary(device, binary, checks, {.repeats = 2, .seed = 99});
  EXPECT_TRUE(verdict.has_value());
  return verdict ? *verdict : Verdict{};
}

TEST(CheckBinary, passes_right_kernel_with_margins_per_family) {
  const Verdict verdict = run_checks(make_kernel({}));
  EXPECT_EQ(verdict.code(), "pass") << verdict.evidence.dump();
  EXPECT_EQ(verdict.binary_hash, "hash");
  ASSERT_TRUE(verdict.evidence["margin"].contains("five"));
  const double margin = verdict.evidence["margin"]["five"];
  EXPECT_GT(margin, 0);
  EXPECT_LT(margin, 1);
  EXPECT_EQ(verdict.evidence["workloads"], 2);
}

TEST(CheckBinary, keeps_largest_error_its_bound_and_seed_per_family) {
  const Check check = make_gemm_check(1, 0, 7, "only");
  const Patch& patch = check.patches[0];
  const size_t at = 5 * kN + 3;
  const auto want = static_cast<float>(patch.value[at]);
  const float got = want + static_cast<float>(0.75 * patch.bound[at]);
  const auto off = [&](FakeCall& call) {  // right, but for one element three quarters of its bound away
    for (int64_t i = 0; i < kM; ++i)
      for (int64_t j = 0; j < kN; ++j)
        call.operand[2][i * call.n(5) + j] = static_cast<float>(patch.value[static_cast<size_t>(i * kN + j)]);
    call.operand[2][5 * call.n(5) + 3] = got;
    return RunOutcome{};
  };
  FakeDevice device(off);
  Binary binary;
  const auto verdict = check_binary(device, binary, {&check, 1}, {});
  ASSERT_TRUE(verdict && verdict->passed()) << verdict->evidence.dump();
  const auto families = parse_measured(verdict->evidence["families"], "families");
  ASSERT_TRUE(families && families->size() == 1U);
  const MeasuredFamily& family = families->front();
  EXPECT_EQ(family.name, "only");
  EXPECT_EQ(family.seed, check.seed);
  EXPECT_EQ(family.checks, 1);
  EXPECT_EQ(family.error, std::fabs(got - patch.value[at]));
  EXPECT_EQ(family.bound, patch.bound[at]);
  EXPECT_EQ(family.margin, family.error / family.bound);
  EXPECT_EQ(verdict->evidence["margin"]["only"], family.margin);
}

TEST(CheckBinary, tells_wrong_addresses_at_wide_strides_from_kernels_that_are_wrong) {
  std::vector<Check> checks = make_all_checks();
  for (const size_t at : {4U, 5U}) {
    checks[at].spread = checks[at].workload;
    checks[at].spread->problem.lda += 1 << 20;
  }
  const auto run = [&](bool everywhere, const RunOutcome& outcome, float error) {
    return run_checks(
        [=](FakeCall& call) {
          multiply(call, {});
          if (!call.spread && !everywhere) return RunOutcome{};
          call.operand[2][5 * call.n(5) + 3] += error;
          return outcome;
        },
        checks);
  };
  using Status = RunOutcome::Status;
  EXPECT_EQ(run(false, {}, 0).code(), "pass");
  EXPECT_EQ(run(false, {}, 0).evidence["spread_checks"], 2);
  const Verdict wrong = run(false, {}, 1);
  EXPECT_EQ(wrong.code(), "wrong_result/index_32_bits");
  EXPECT_EQ(wrong.evidence["seen_first"], "wrong_result/single_element");
  EXPECT_TRUE(wrong.evidence.contains("seen_as"));
  EXPECT_EQ(run(false, {Status::kFault, 11, {}, ""}, 0).code(), "out_of_bounds/index_32_bits");
  EXPECT_EQ(run(false, {Status::kFault, 11, GuardHit{"a", -1}, ""}, 0).code(), "out_of_bounds/index_32_bits");
  EXPECT_EQ(run(false, {Status::kTimeout, 0, {}, ""}, 0).code(), "hang/time_limit");
  EXPECT_EQ(run(true, {}, 1).code(), "wrong_result/single_element");
}

TEST(CheckBinary, runs_every_workload_at_both_placements) {
  FakeDevice device(make_kernel({}));
  ASSERT_TRUE(check_binary(device, Binary{}, make_all_checks(), {}).has_value());
  ASSERT_EQ(device.placements.size(), 4u);
  EXPECT_NE(device.placements[0], device.placements[1]);
  EXPECT_NE(device.placements[2], device.placements[3]);
}

TEST(CheckBinary, names_wrong_results_by_what_is_wrong) {
  const std::pair<Mutation, std::string> cases[] = {
      {{.k = kK - 1}, "wrong_result/k_tail"},     {{.k = kK - 5}, "wrong_result/k_tail"},
      {{.first_k = 1}, "wrong_result/k_head"},    {{.m = kM - 1}, "wrong_result/m_tail"},
      {{.n = kN - 3}, "wrong_result/n_tail"},     {{.m = kM - 2, .n = kN - 3}, "wrong_result/mn_tail"},
      {{.m = 1}, "wrong_result/first_row_only"},  {{.m = 0}, "wrong_result/unwritten"},
      {{.lda = kK}, "wrong_result/wrong_ld_a"},   {{.alpha_power = 2}, "wrong_result/alpha"},
      {{.alpha_power = 0}, "wrong_result/alpha"}, {{.ignore_beta = true}, "wrong_result/beta_ignored"},
      {{.read_c = true}, "wrong_result/reads_c"}, {{.negate = true}, "wrong_result/sign"},
      {{.shift = true}, "wrong_result/shifted"},  {{.bf16 = true}, "precision_downgrade/bf16_inputs"},
  };
  for (const auto& [mutation, code] : cases) {
    const Verdict verdict = run_checks(make_kernel(mutation));
    EXPECT_EQ(verdict.code(), code) << verdict.evidence.dump();
    EXPECT_TRUE(verdict.evidence.contains("family")) << code;
  }
}

TEST(CheckBinary, names_single_wrong_element_and_says_where) {
  const Verdict verdict = run_checks([](FakeCall& call) {
    multiply(call, {});
    call.operand[2][4 * call.n(5) + 7] += 1;
    return RunOutcome{};
  });
  EXPECT_EQ(verdict.code(), "wrong_result/single_element");
  EXPECT_EQ(verdict.evidence["element"], Json({4, 7}));
  EXPECT_EQ(verdict.evidence["wrong"], 1);
}

TEST(CheckBinary, names_one_unwritten_element) {
  const Verdict verdict = run_checks([](FakeCall& call) {
    float& c = call.operand[2][5 * call.n(5) + 5];
    const float before = c;
    multiply(call, {});
    c = before;
    return RunOutcome{};
  });
  EXPECT_EQ(verdict.code(), "wrong_result/unwritten");
}

TEST(CheckBinary, finds_unwritten_element_outside_sampled_patches) {
  auto checks = make_all_checks();
  for (Check& check : checks) {
    Patch& patch = check.patches[0];
    patch.rows = 4;
    patch.value.resize(4 * kN), patch.bound.resize(4 * kN);
  }
  const FakeKernel kernel = [](FakeCall& call) {
    float& c = call.operand[2][8 * call.n(5) + 6];
    const float before = c;
    multiply(call, {});
    c = before;
    return RunOutcome{};
  };
  for (const bool deterministic : {true, false}) {
    const Verdict verdict = run_checks(kernel, checks, 1, deterministic);
    EXPECT_EQ(verdict.code(), "wrong_result/unwritten");
    EXPECT_EQ(verdict.evidence["element"], Json({8, 6}));
  }
  EXPECT_EQ(run_checks(make_kernel({}), checks).code(), "pass");
}

TEST(CheckBinary, finds_answer_kept_by_sample_of_the_inputs) {
  const Verdict verdict = run_checks([](FakeCall& call) {
    auto* kept = reinterpret_cast<float*>(call.workspace.data());
    const float sample = call.operand[0][0] + call.operand[1][0] * 3;
    const size_t bytes = static_cast<size_t>(call.workload.operands[2].span_bytes());
    if (kept[0] != sample || call.workload.scalars[1] != 0) {
      multiply(call, {});
      kept[0] = sample;
      std::memcpy(kept + 1, call.operand[2], bytes);
    }
    for (int64_t i = 0; i < kM; ++i) {
      std::memcpy(call.operand[2] + i * call.n(5), kept + 1 + i * call.n(5), kN * 4);
    }
    return RunOutcome{};
  });
  EXPECT_EQ(verdict.code(), "cheat/cached_output") << verdict.evidence.dump();
}

TEST(CheckBinary, finds_answer_kept_from_earlier_contents) {
  const Verdict verdict = run_checks([](FakeCall& call) {
    auto* kept = reinterpret_cast<float*>(call.workspace.data());
    const size_t bytes = static_cast<size_t>(call.workload.operands[2].span_bytes());
    if (kept[0] == 12345.0f) {
      for (int64_t i = 0; i < kM; ++i) {
        std::memcpy(call.operand[2] + i * call.n(5), kept + 1 + i * call.n(5), kN * 4);
      }
      return RunOutcome{};
    }
    multiply(call, {});
    kept[0] = 12345.0f;
    std::memcpy(kept + 1, call.operand[2], bytes);
    return RunOutcome{};
  });
  EXPECT_EQ(verdict.code(), "cheat/cached_output") << verdict.evidence.dump();
}

TEST(CheckBinary, finds_call_that_goes_wrong_later) {
  const Verdict verdict = run_checks([](FakeCall& call) {
    auto* count = reinterpret_cast<int*>(call.workspace.data());
    if (count[0] != 777) count[0] = 777, count[1] = 0;
    multiply(call, {});
    if (++count[1] == 11) call.operand[2][0] += 1;
    return RunOutcome{};
  });
  EXPECT_EQ(verdict.code(), "wrong_result/later_call") << verdict.evidence.dump();
}

TEST(CheckBinary, checks_again_when_somebody_kills_the_worker_and_believes_a_second_time) {
  int kills = 1, calls = 0;
  const FakeKernel killed = [&](FakeCall& call) {
    multiply(call, {});
    RunOutcome outcome;
    if (++calls >= 5 && kills > 0) {
      --kills;
      outcome.status = RunOutcome::Status::kKilled;
      outcome.signal = 9;
    }
    return outcome;
  };
  EXPECT_EQ(run_checks(killed).code(), "pass");
  kills = 2;
  EXPECT_EQ(run_checks(killed).code(), "crash/killed");
}

TEST(CheckBinary, tells_uninitialised_workspace_from_randomness) {
  const FakeKernel from_workspace = [](FakeCall& call) {
    multiply(call, {});
    call.operand[2][3] += static_cast<float>(call.workspace[0]) / 16 + 1;
    return RunOutcome{};
  };
  EXPECT_EQ(run_checks(from_workspace).code(), "wrong_result/uninitialised_workspace");
  int call_number = 0;
  const FakeKernel random = [&](FakeCall& call) {
    multiply(call, {});
    call.operand[2][3] *= call_number++ % 3 == 0 ? 1.0f : 1.0000002f;
    return RunOutcome{};
  };
  EXPECT_EQ(run_checks(random).code(), "nondeterministic/repeat");
  EXPECT_EQ(run_checks(random, make_all_checks(), 1, false).code(), "pass");
}

TEST(CheckBinary, calls_sometimes_wrong_a_race_only_with_several_threads) {
  int call_number = 0;
  const FakeKernel sometimes = [&](FakeCall& call) {
    multiply(call, {});
    if (call_number++ % 5 == 3) call.operand[2][3] += 1;
    return RunOutcome{};
  };
  EXPECT_EQ(run_checks(sometimes, make_all_checks(), 2).code(), "race/between_items");
  call_number = 0;
  const Verdict verdict = run_checks(sometimes, {make_gemm_check(1, 0, 1)}, 1);
  EXPECT_EQ(verdict.code(), "nondeterministic/repeat") << verdict.evidence.dump();
}

TEST(CheckBinary, finds_writes_where_none_belong) {
  const std::pair<std::function<int64_t(const FakeCall&)>, std::string> cases[] = {
      {[](const FakeCall& call) { return call.workload.operands[2].span(); }, "out_of_bounds/write_past_c"},
      {[](const FakeCall&) { return -1; }, "out_of_bounds/write_before_c"},
      {[](const FakeCall&) { return kN; }, "out_of_bounds/write_gap_c"},
  };
  for (const auto& [where, code] : cases) {
    const Verdict verdict = run_checks([where = where](FakeCall& call) {
      multiply(call, {});
      call.operand[2][where(call)] = 1;
      return RunOutcome{};
    });
    EXPECT_EQ(verdict.code(), code);
  }
  const Verdict verdict = run_checks([](FakeCall& call) {
    multiply(call, {});
    call.operand[1][5] += 1;
    return RunOutcome{};
  });
  EXPECT_EQ(verdict.code(), "input_modified/b");
}

TEST(CheckBinary, maps_outcomes_of_the_worker_to_classes) {
  using Status = RunOutcome::Status;
  const std::pair<RunOutcome, std::string> cases[] = {
      {{Status::kTimeout, 0, {}, ""}, "hang/time_limit"},
      {{Status::kForbiddenCall, 0, {}, "open"}, "cheat/forbidden_syscall"},
      {{Status::kFault, 11, GuardHit{"a", kM * kK * 2}, ""}, "out_of_bounds/past_a"},
      {{Status::kFault, 11, GuardHit{"b", -1}, ""}, "out_of_bounds/before_b"},
      {{Status::kFault, 11, GuardHit{"b", 3}, ""}, "input_modified/b"},
      {{Status::kFault, 11, {}, ""}, "crash/segfault"},
      {{Status::kFault, 8, {}, ""}, "crash/arithmetic"},
      {{Status::kKilled, 9, {}, ""}, "crash/killed"},
      {{Status::kExit, 0, {}, ""}, "crash/exit"},
  };
  for (const auto& [outcome, code] : cases) {
    EXPECT_EQ(run_checks([outcome = outcome](FakeCall&) { return outcome; }).code(), code);
  }
}

TEST(CheckBinary, skips_checks_outside_the_domain_and_counts_them) {
  FakeDevice device(make_kernel({}));
  Binary binary;
  binary.launch.domain = {{"lda", 0, INT64_MAX, 64}};
  const auto none = check_binary(device, binary, make_all_checks(), {});
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->code(), "skipped/no_check_in_domain");
  EXPECT_EQ(none->evidence["skipped"], 6);
}

TEST(CheckBaseline, passes_and_names_the_routine) {
  FakeDevice device(make_kernel({}));
  const auto verdict = check_baseline(device, "fake", make_all_checks(), {});
  ASSERT_TRUE(verdict.has_value());
  EXPECT_TRUE(verdict->passed());
  EXPECT_EQ(verdict->evidence["baseline"], "fake");
  const auto missing = check_baseline(device, "other", make_all_checks(), {});
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->code(), "skipped/no_check_in_domain");
}

TEST(CompareOutput, holds_special_values_to_their_rules) {
  const double nan = std::nan(""), inf = INFINITY;
  EXPECT_TRUE(is_right(nan, nan, 0));
  EXPECT_FALSE(is_right(inf, nan, 0));
  EXPECT_TRUE(is_right(inf, nan, inf));
  EXPECT_TRUE(is_right(nan, inf, inf));
  EXPECT_FALSE(is_right(1, nan, inf));
  EXPECT_TRUE(is_right(inf, inf, 0));
  EXPECT_FALSE(is_right(-inf, inf, 0));
  EXPECT_FALSE(is_right(nan, 1, 1e30));
  EXPECT_FALSE(is_right(nan, 1, inf));
  EXPECT_TRUE(is_right(1.5, 1, 0.5));
  EXPECT_FALSE(is_right(1.5, 1, 0.25));
}

TEST(CompareOutput, finds_nan_and_lost_nan) {
  Check check = make_gemm_check(1, 0, 1);
  std::vector<std::byte> output = check.contents[2];
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      store_element(Dtype::kF32, output, i * (kN + 1) + j,
                    check.patches[0].value[static_cast<size_t>(i * kN + j)]);
    }
  }
  EXPECT_FALSE(compare_output(check, output).has_value());
  auto spoiled = output;
  store_element(Dtype::kF32, spoiled, 2, std::nan(""));
  EXPECT_EQ(compare_output(check, spoiled)->code(), "wrong_result/nan");
  check.patches[0].value[5] = std::nan("");
  EXPECT_EQ(compare_output(check, output)->code(), "wrong_result/special_lost");
}

TEST(NullKernels, are_refused_by_good_families_and_found_in_bad_ones) {
  const auto checks = make_all_checks();
  EXPECT_TRUE(check_families_are_admitted(checks).has_value());
  const auto counts = count_null_refusals(checks);
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->refused, 6 * 9 - 2);  // no previous answer for the first check of either workload
  EXPECT_EQ(counts->not_applicable, 2);

  auto loose = checks;
  loose[1].patches[0].bound.assign(kM * kN, INFINITY);
  const auto status = check_families_are_admitted(loose);
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().message, HasSubstr("two"));
  EXPECT_THAT(status.error().message, HasSubstr("does nothing"));
}

TEST(Admission, sees_every_spoiled_element) {
  const auto checks = make_all_checks();
  const auto seen = count_seen_errors(checks);
  ASSERT_TRUE(seen.has_value()) << seen.error().message;
  EXPECT_GE(*seen, 6 * (4 + 4));  // corners, and random places that may coincide
}

TEST(Admission, refuses_values_that_noise_could_replace) {
  auto checks = make_all_checks();
  Patch& patch = checks[2].patches[0];
  for (size_t at = 0; at < patch.bound.size(); ++at)
    if (at % 3 != 0) patch.bound[at] = 10;
  const Status noisy = check_families_are_admitted(checks);
  ASSERT_FALSE(noisy.has_value());
  EXPECT_THAT(noisy.error().message, HasSubstr("three"));
  EXPECT_THAT(noisy.error().message, HasSubstr("noise"));
}

TEST(Admission, refuses_equal_rows_and_equal_columns) {
  for (const bool rows : {true, false}) {
    auto checks = make_all_checks();
    Patch& patch = checks[0].patches[0];
    for (int64_t i = 0; i < kM; ++i)
      for (int64_t j = 0; j < kN; ++j)
        patch.value[static_cast<size_t>(i * kN + j)] = patch.value[static_cast<size_t>(rows ? j : i * kN)];
    const Status status = check_families_are_admitted({checks.data(), 1});
    ASSERT_FALSE(status.has_value());
    EXPECT_THAT(status.error().message, HasSubstr(rows ? "first row everywhere" : "first column everywhere"));
  }
}

TEST(Element, rounds_like_the_formats) {
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 2049), 2048);
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 65520), INFINITY);
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 65519), 65504);
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 0x1p-25), 0);
  EXPECT_EQ(round_to_dtype(Dtype::kF16, 0x1.8p-24), 0x1p-23);
  EXPECT_EQ(round_to_dtype(Dtype::kBf16, 257), 256);
  for (uint64_t bits = 0; bits < 0x7c00; ++bits) {
    std::byte bytes[2];
    write_bits(Dtype::kF16, bytes, 0, bits);
    store_element(Dtype::kF16, bytes, 0, load_element(Dtype::kF16, bytes, 0));
    ASSERT_EQ(read_bits(Dtype::kF16, bytes, 0), bits);
  }
}

}  // namespace
}  // namespace kw
