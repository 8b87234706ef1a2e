// Records with every field filled, and a store in a private folder, for the tests of src/store.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/hash.h"
#include "store/query.h"
#include "store/store.h"

namespace kw::test {

inline constexpr const char* kProblem = "gemm f32 nt m128 n896 k4864 lda4864 ldb4864 ldc896 alpha1 beta0";
inline constexpr const char* kOtherProblem = "gemm f32 nn m257 n130 k515 lda515 ldb130 ldc130 alpha1 beta0.5";

inline DeviceFacts make_device(int threads = 1) {
  DeviceFacts device;
  device.target = "cpu";
  device.name = "Model \"X\", 2.5 GHz";
  device.isa = "avx512";
  device.cores = 2;
  device.threads = threads;
  device.l1d_bytes = 32768;
  device.l2_bytes = 1 << 20;
  device.l3_bytes = int64_t{1} << 33;
  device.peak_gflops = 115.25;
  device.bandwidth_gbs = 0.1;
  device.launch_floor_us = 1.0 / 3;
  device.os = "Linux 6.1";
  device.compiler = "g++ 12.2.0";
  return device;
}

inline RunRecord make_run(int threads = 1) {
  return {"tune --model 'a b.json'", std::numeric_limits<uint64_t>::max(), make_device(threads), "0.1.0"};
}

inline LaunchRecord make_launch() {
  LaunchRecord launch;
  launch.layout = Layout::kNT;
  launch.isa = "avx512";
  launch.kernels = {{"kw_pack", *Expression::parse("ceil_div(n,16)")},
                    {"kw_gemm", *Expression::parse("ceil_div(m,8)")}};
  launch.workspace_bytes = *Expression::parse("n*k*4");
  launch.domain = {{"m", 1, 4096, 2}};
  return launch;
}

inline std::string make_hash(const std::string& name) { return hash_parts({"binary", name}); }

// A pass with ratio `ratio`, every field filled; its binary is make_hash(schedule).
inline Evaluation make_pass(const std::string& schedule, double ratio = 1.1,
                            const std::string& problem = kProblem) {
  Evaluation e;
  e.problem = problem;
  e.proposal.proposer = "evolve";
  e.proposal.family = "gemm_cpu";
  e.proposal.schedule = schedule;
  e.proposal.parents = {make_hash("mother"), make_hash("father")};
  e.proposal.note = "mutate mr, \"twice\"";
  e.proposal.seed = 0xfedcba9876543210u;
  e.kernel_name = "gemm_cpu_" + schedule;
  e.source_text = std::string("// source of ") + schedule + std::string("\n\0 \xff\xfe end", 11);
  e.source_hash = hash_parts({"source", schedule});
  e.binary_hash = make_hash(schedule);
  e.compiler = "g++ 12.2.0";
  e.compile_us = 123456.75;
  e.from_cache = true;
  e.launch = make_launch();
  e.verdict.klass = VerdictClass::kPass;
  e.verdict.evidence = {
      {"zeta", 0.1}, {"alpha", {{"largest_error", 1e-300}, {"text", "a\"b\n\u00e4"}}}, {"n", UINT64_MAX}};
  e.verdict.binary_hash = e.binary_hash;
  Timing t;
  t.binary_hash = e.binary_hash;
  t.baseline = "onednn";
  t.mode = "server";
  t.cache = "warm";
  t.threads = 2;
  t.latency_us = {0.1, 1.0 / 3, 5e-324, 1e308};
  t.baseline_latency_us = {0.2, std::numeric_limits<double>::infinity(), -0.0, 7};
  t.median_us = 1.0 / 3;
  t.baseline_median_us = 0.7;
  t.ratio = ratio;
  t.ratio_low = ratio - 0.01;
  t.ratio_high = ratio + 0.1;
  t.disturbed = true;
  t.note = "bimodal, \"load\" 3";
  e.timing = t;
  e.finished_s = 12.125;
  return e;
}

// Built and ran, but wrong.
inline Evaluation make_failure(const std::string& schedule, const std::string& reason = "k_tail") {
  Evaluation e = make_pass(schedule);
  e.verdict.klass = VerdictClass::kWrongResult;
  e.verdict.reason = reason;
  e.timing.reset();
  return e;
}

// Nothing was built.
inline Evaluation make_compile_error(const std::string& schedule) {
  Evaluation e = make_failure(schedule, "error: expected ';', got \"x\"");
  e.verdict.klass = VerdictClass::kCompileError;
  e.verdict.binary_hash.clear();
  e.binary_hash.clear();
  e.launch.reset();
  return e;
}

inline void expect_same(const std::optional<Timing>& got, const std::optional<Timing>& want,
                        bool with_samples = true) {
  ASSERT_EQ(got.has_value(), want.has_value());
  if (!want) return;
  EXPECT_EQ(got->binary_hash, want->binary_hash);
  EXPECT_EQ(got->baseline, want->baseline);
  EXPECT_EQ(got->mode, want->mode);
  EXPECT_EQ(got->cache, want->cache);
  EXPECT_EQ(got->threads, want->threads);
  EXPECT_EQ(got->median_us, want->median_us);
  EXPECT_EQ(got->baseline_median_us, want->baseline_median_us);
  EXPECT_EQ(got->ratio, want->ratio);
  EXPECT_EQ(got->ratio_low, want->ratio_low);
  EXPECT_EQ(got->ratio_high, want->ratio_high);
  EXPECT_EQ(got->confirmed, want->confirmed);
  EXPECT_EQ(got->disturbed, want->disturbed);
  EXPECT_EQ(got->note, want->note);
  if (!with_samples) {
    EXPECT_TRUE(got->latency_us.empty() && got->baseline_latency_us.empty());
    return;
  }
  const auto bits = [](const std::vector<double>& v) {
    return std::string(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(double));
  };
  EXPECT_EQ(bits(got->latency_us), bits(want->latency_us));
  EXPECT_EQ(bits(got->baseline_latency_us), bits(want->baseline_latency_us));
}

// Every field; `full`: with samples, texts and launch record, else these must be absent.
inline void expect_same(const Evaluation& got, const Evaluation& want, bool full = true) {
  EXPECT_EQ(got.problem, want.problem);
  EXPECT_EQ(got.proposal.proposer, want.proposal.proposer);
  EXPECT_EQ(got.proposal.family, want.proposal.family);
  EXPECT_EQ(got.proposal.schedule, want.proposal.schedule);
  EXPECT_EQ(got.proposal.free_text, full ? want.proposal.free_text : "");
  EXPECT_EQ(got.proposal.free_language, want.proposal.free_language);
  EXPECT_EQ(got.proposal.free_launch, want.proposal.free_launch);
  EXPECT_EQ(got.proposal.parents, want.proposal.parents);
  EXPECT_EQ(got.proposal.note, want.proposal.note);
  EXPECT_EQ(got.proposal.seed, want.proposal.seed);
  EXPECT_EQ(got.kernel_name, want.kernel_name);
  EXPECT_EQ(got.source_text, full ? want.source_text : "");
  EXPECT_EQ(got.source_hash, want.source_hash);
  EXPECT_EQ(got.binary_hash, want.binary_hash);
  EXPECT_EQ(got.compiler, want.compiler);
  EXPECT_EQ(got.compile_us, want.compile_us);
  EXPECT_EQ(got.from_cache, want.from_cache);
  EXPECT_EQ(got.verdict.code(), want.verdict.code());
  EXPECT_EQ(got.verdict.evidence, want.verdict.evidence);
  EXPECT_EQ(got.verdict.evidence.dump(), want.verdict.evidence.dump());  // order of keys too
  EXPECT_EQ(got.verdict.binary_hash, want.verdict.binary_hash);
  EXPECT_EQ(got.verdict.promoted, want.verdict.promoted);
  EXPECT_EQ(got.finished_s, want.finished_s);
  EXPECT_EQ(got.launch, full ? want.launch : std::nullopt);
  expect_same(got.timing, want.timing, full);
}

// A folder of its own with stores inside.
class StoreFiles : public ::testing::Test {
 protected:
  fs::path path(const std::string& name = "store.db") const { return folder_.path() / name; }
  Store open(const std::string& name = "store.db") const {
    auto store = Store::open(path(name));
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  static int64_t start_run(Store& store, int threads = 1) {
    auto run = store.add_run(make_run(threads));
    EXPECT_TRUE(run) << run.error().message;
    return *run;
  }
  static void add(Store& store, int64_t run, const std::vector<Evaluation>& evaluations) {
    const Status done = store.add_evaluations(run, evaluations);
    EXPECT_TRUE(done) << done.error().message;
  }
  static std::vector<Evaluation> find(const Store& store, bool full = true,
                                      const std::string& problem = kProblem, int threads = 1) {
    auto found = find_evaluations(store, problem, make_device(threads).key(), full);
    EXPECT_TRUE(found) << found.error().message;
    return std::move(*found);
  }

 private:
  TempFolder folder_ = *TempFolder::make();
};

}  // namespace kw::test
