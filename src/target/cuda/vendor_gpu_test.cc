// Every vendor routine that is listed, run once on the GPU and held against float64. Needs a GPU and the
// libraries; says what is missing and is skipped elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/random.h"
#include "target/cuda/vendor.h"

namespace kw::cuda {
namespace {

constexpr int64_t kPad = 8;  // elements behind every row: strides stay multiples of 16 bytes

// Whole numbers from -4 to 4: exact in every type.
std::vector<std::byte> pack(const std::vector<int>& values, Dtype dtype) {
  const auto bytes = static_cast<size_t>(dtype_bytes(dtype));
  std::vector<std::byte> packed(values.size() * bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto single = static_cast<float>(values[i]);
    uint32_t bits = 0;
    std::memcpy(&bits, &single, sizeof bits);
    if (dtype == Dtype::kBf16) bits >>= 16;
    if (dtype == Dtype::kF16)
      bits = values[i] == 0 ? 0 : ((bits >> 16) & 0x8000) | (((bits & 0x7fffffff) - 0x38000000) >> 13);
    std::memcpy(packed.data() + i * bytes, &bits, bytes);
  }
  return packed;
}

double unpack(const std::byte* at, Dtype dtype) {
  uint32_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(dtype_bytes(dtype)));
  if (dtype == Dtype::kF16) {
    const double magnitude =
        (bits & 0x7c00) == 0 ? std::ldexp(bits & 0x3ff, -24)
                             : std::ldexp(1024 + (bits & 0x3ff), static_cast<int>((bits >> 10) & 31) - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
  if (dtype == Dtype::kBf16) bits <<= 16;
  float single = 0;
  std::memcpy(&single, &bits, sizeof single);
  return single;
}

class VendorGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto driver = Driver::load();
    if (!driver) GTEST_SKIP() << driver.error().message;
    driver_ = *driver;
    DeviceHandle device = 0;
    if (driver_->device_get(&device, 0) != 0) GTEST_SKIP() << "no GPU";
    for (const VendorLibrary& library : find_vendor_libraries())
      if (!library.missing.empty()) GTEST_SKIP() << library.missing;
    Context context = nullptr;
    expect_ok(driver_->primary_context_retain(&context, device));
    expect_ok(driver_->context_set_current(context));
    expect_ok(driver_->stream_create(&stream_, kStreamNonBlocking));
    expect_ok(driver_->mem_alloc(&workspace_, kVendorWorkspaceBytes));
  }
  void TearDown() override {
    if (workspace_ != 0) expect_ok(driver_->mem_free(workspace_));
    for (const DevicePointer pointer : operands_) expect_ok(driver_->mem_free(pointer));
  }
  void expect_ok(DriverResult result) { ASSERT_EQ(result, 0) << driver_->explain(result); }

  void make_operands(Workload& workload) {
    const Problem& p = workload.problem;
    const bool at = p.layout == Layout::kTN || p.layout == Layout::kTT;
    const bool bt = p.layout == Layout::kNT || p.layout == Layout::kTT;
    workload.operands = {{"a", p.dtype, at ? p.k : p.m, at ? p.m : p.k, p.lda, Access::kIn},
                         {"b", p.dtype, bt ? p.n : p.k, bt ? p.k : p.n, p.ldb, Access::kIn},
                         {"c", p.dtype, p.m, p.n, p.ldc, Access::kInOut}};
    Random random(5);
    for (const Operand& operand : workload.operands) {
      auto& values = values_.emplace_back(static_cast<size_t>(operand.span()));
      for (int& value : values) value = static_cast<int>(random.between(-4, 4));
      expect_ok(driver_->mem_alloc(&operands_.emplace_back(), static_cast<size_t>(operand.span_bytes())));
    }
  }
  void upload(const Workload& workload) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto packed = pack(values_[i], workload.problem.dtype);
      expect_ok(driver_->memcpy_to_device(operands_[i], packed.data(), packed.size(), stream_));
    }
    expect_ok(driver_->memset_d32(workspace_, 0x7fc0ffee, kVendorWorkspaceBytes / 4, stream_));
    expect_ok(driver_->stream_synchronize(stream_));
  }
  double expected(const Problem& p, int64_t row, int64_t col) const {
    const bool at = p.layout == Layout::kTN || p.layout == Layout::kTT;
    const bool bt = p.layout == Layout::kNT || p.layout == Layout::kTT;
    double sum = 0;
    for (int64_t l = 0; l < p.k; ++l)
      sum += values_[0][static_cast<size_t>(at ? l * p.lda + row : row * p.lda + l)] *
             values_[1][static_cast<size_t>(bt ? col * p.ldb + l : l * p.ldb + col)];
    return p.alpha * sum + p.beta * values_[2][static_cast<size_t>(row * p.ldc + col)];
  }
  // Largest |difference| / (1 + |expected|); gaps of C must be as they were.
  double find_error(const Workload& workload) {
    const Problem& p = workload.problem;
    const auto bytes = static_cast<size_t>(dtype_bytes(p.dtype));
    std::vector<std::byte> got(static_cast<size_t>(workload.operands[2].span_bytes()));
    expect_ok(driver_->memcpy_to_host(got.data(), operands_[2], got.size(), stream_));
    expect_ok(driver_->stream_synchronize(stream_));
    double worst = 0;
    for (size_t i = 0; i < values_[2].size(); ++i) {
      const auto row = static_cast<int64_t>(i) / p.ldc, col = static_cast<int64_t>(i) % p.ldc;
      const double want = col < p.n ? expected(p, row, col) : values_[2][i];
      const double error = std::abs(unpack(got.data() + i * bytes, p.dtype) - want) / (1 + std::abs(want));
      worst = error <= worst ? worst : error;
    }
    return worst;
  }
  void run_all(Problem problem, int64_t pad) {
    problem = with_tight_strides(problem);
    problem.lda += pad, problem.ldb += pad, problem.ldc += pad;
    Workload workload{.problem = problem};
    make_operands(workload);
    const auto names = list_vendor_routines(workload);
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_GE(names->size(), 3u) << describe_problem(problem);
    const double bound = problem.dtype == Dtype::kF32 ? 1e-6 : problem.dtype == Dtype::kF16 ? 2e-3 : 2e-2;
    for (const std::string& name : *names) {
      auto routine = open_vendor_routine(name, workload, workspace_, kVendorWorkspaceBytes);
      ASSERT_TRUE(routine) << routine.error().message;
      upload(workload);
      const Status enqueued = (*routine)->enqueue(operands_, stream_);
      ASSERT_TRUE(enqueued) << name << ": " << enqueued.error().message;
      EXPECT_LE(find_error(workload), bound) << describe_problem(problem) << " " << (*routine)->identity();
    }
    fmt::print("{}: {} routines\n", describe_problem(problem), names->size());
    for (const DevicePointer pointer : operands_) expect_ok(driver_->mem_free(pointer));
    operands_.clear();
    values_.clear();
  }

  const Driver* driver_ = nullptr;
  Stream stream_ = nullptr;
  DevicePointer workspace_ = 0;
  std::vector<DevicePointer> operands_;
  std::vector<std::vector<int>> values_;
};

TEST_F(VendorGpuTest, every_routine_is_right_in_every_layout_and_type) {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16, Dtype::kF32})
    for (const Layout layout : {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT})
      run_all({.dtype = dtype, .layout = layout, .m = 72, .n = 136, .k = 264, .alpha = 2, .beta = -1}, kPad);
}

TEST_F(VendorGpuTest, every_routine_is_right_at_odd_sizes_and_where_sums_are_split) {
  run_all({.dtype = Dtype::kF16, .layout = Layout::kNN, .m = 37, .n = 101, .k = 75}, 0);
  run_all({.dtype = Dtype::kF16, .layout = Layout::kNT, .m = 1, .n = 64, .k = 8192}, 0);
  run_all({.dtype = Dtype::kF16, .layout = Layout::kNT, .m = 64, .n = 128, .k = 16384}, 0);
}

TEST_F(VendorGpuTest, routines_can_be_captured_into_a_graph) {
  Workload workload{
      .problem = with_tight_strides(
          {.dtype = Dtype::kF16, .layout = Layout::kNT, .m = 64, .n = 64, .k = 4096, .beta = 1})};
  make_operands(workload);
  const auto names = list_vendor_routines(workload);
  ASSERT_TRUE(names) << names.error().message;
  for (const std::string& name : *names) {
    auto routine = open_vendor_routine(name, workload, workspace_, kVendorWorkspaceBytes);
    ASSERT_TRUE(routine) << routine.error().message;
    upload(workload);
    Graph graph = nullptr;
    GraphExec exec = nullptr;
    expect_ok(driver_->stream_begin_capture(stream_, kCaptureThreadLocal));
    const Status enqueued = (*routine)->enqueue(operands_, stream_);
    expect_ok(driver_->stream_end_capture(stream_, &graph));
    ASSERT_TRUE(enqueued) << name << ": " << enqueued.error().message;
    expect_ok(driver_->graph_instantiate(&exec, graph, 0));
    expect_ok(driver_->graph_launch(exec, stream_));
    expect_ok(driver_->stream_synchronize(stream_));
    EXPECT_LE(find_error(workload), 2e-3) << (*routine)->identity();
    expect_ok(driver_->graph_exec_destroy(exec));
    expect_ok(driver_->graph_destroy(graph));
  }
}

TEST_F(VendorGpuTest, an_operand_at_an_odd_address_is_refused_not_run) {
  const Workload workload{.problem = with_tight_strides(
                              {.dtype = Dtype::kF16, .layout = Layout::kNT, .m = 64, .n = 64, .k = 64})};
  auto routine = open_vendor_routine("cublaslt_heuristic", workload, workspace_, kVendorWorkspaceBytes);
  ASSERT_TRUE(routine) << routine.error().message;
  const DevicePointer odd[] = {workspace_, workspace_ + 16386, workspace_ + 32768};
  const Status enqueued = (*routine)->enqueue(odd, stream_);
  ASSERT_FALSE(enqueued);
  EXPECT_NE(enqueued.error().message.find("multiples of 16"), std::string::npos);
}

}  // namespace
}  // namespace kw::cuda
