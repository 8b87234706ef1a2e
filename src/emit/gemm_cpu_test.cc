// Printed gemm_cpu kernels, compiled by the host compiler and run in this process against a float64
// reference, with operands that end at an inaccessible page. One battery over drawn schedules of every
// layout.
#include "emit/gemm_cpu.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <thread>

#include "base/check.h"
#include "base/file.h"
#include "base/process.h"
#include "base/random.h"
#include "device/cpu_abi.h"
#include "schedule/gemm_cpu.h"

namespace kw {
namespace {

using Kernel = void (*)(long long, const kw_call*);

bool has_avx512() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"); }

DeviceFacts make_device(int threads) {
  DeviceFacts device;
  device.target = "cpu";
  device.isa = has_avx512() ? "avx512" : "avx2";
  device.threads = threads;
  device.l1d_bytes = 48 << 10;
  device.l2_bytes = 2 << 20;
  device.l3_bytes = 32 << 20;
  return device;
}

// Memory whose last byte touches a page that may not be touched; filled with a pattern.
class GuardedFloats {
 public:
  explicit GuardedFloats(size_t count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)),
                 used = (count * sizeof(float) + page - 1) / page * page;
    bytes_ = used + page;
    base_ =
        static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    KW_CHECK(base_ != MAP_FAILED && mprotect(base_ + used, page, PROT_NONE) == 0, "mmap of {} bytes", bytes_);
    data_ = reinterpret_cast<float*>(base_ + used) - count;
  }
  GuardedFloats(const GuardedFloats&) = delete;
  ~GuardedFloats() { munmap(base_, bytes_); }
  float* data() { return data_; }

 private:
  char* base_ = nullptr;
  size_t bytes_ = 0;
  float* data_ = nullptr;
};

struct Loaded {
  std::string key;
  LaunchRecord launch;
  std::vector<Kernel> kernels;
};

bool a_is_transposed(Layout layout) { return layout == Layout::kTN || layout == Layout::kTT; }
bool b_is_transposed(Layout layout) { return layout == Layout::kNT || layout == Layout::kTT; }

Problem make_problem(Layout layout, int64_t m, int64_t n, int64_t k, int64_t gap, double alpha, double beta) {
  Problem problem;
  problem.layout = layout;
  problem.m = m, problem.n = n, problem.k = k;
  problem = with_tight_strides(problem);
  problem.lda += gap, problem.ldb += 2 * gap, problem.ldc += 3 * gap;
  problem.alpha = alpha, problem.beta = beta;
  return problem;
}

size_t span(int64_t rows, int64_t columns, int64_t ld) {
  return rows == 0 || columns == 0 ? 0 : static_cast<size_t>((rows - 1) * ld + columns);
}

void run_kernel(const Loaded& loaded, const Problem& p, const float* a, const float* b, float* c,
                int threads) {
  const Variables variables{{"m", p.m},     {"n", p.n},     {"k", p.k},          {"lda", p.lda},
                            {"ldb", p.ldb}, {"ldc", p.ldc}, {"threads", threads}};
  const auto numbers = evaluate_launch(loaded.launch, variables);
  ASSERT_TRUE(numbers) << numbers.error().message;
  GuardedFloats workspace((static_cast<size_t>(numbers->workspace_bytes) + 63) / 64 * 16);
  GuardedFloats scratch((static_cast<size_t>(numbers->scratch_bytes) + 63) / 64 * 16);
  void* operands[] = {const_cast<float*>(a), const_cast<float*>(b), c};
  const long long sizes[] = {p.m, p.n, p.k, p.lda, p.ldb, p.ldc};
  const double scalars[] = {p.alpha, p.beta};
  const kw_call call{operands,
                     sizes,
                     scalars,
                     reinterpret_cast<char*>(workspace.data()),
                     reinterpret_cast<char*>(scratch.data()),
                     threads,
                     0};
  std::memset(call.scratch, 0xff, static_cast<size_t>(numbers->scratch_bytes));  // NaN
  std::memset(call.workspace, 0xff, static_cast<size_t>(numbers->workspace_bytes));
  for (size_t kernel = 0; kernel < loaded.kernels.size(); ++kernel)
    for (int64_t item = numbers->items[kernel]; item-- > 0;) loaded.kernels[kernel](item, &call);
}

// Runs the kernel and compares every element and every gap.
void expect_right(const Loaded& loaded, const Problem& p, uint64_t seed, int threads, bool poison_c) {
  SCOPED_TRACE(loaded.key + " | " + print_problem(p));
  const bool ta = a_is_transposed(p.layout), tb = b_is_transposed(p.layout);
  const size_t a_size = span(ta ? p.k : p.m, ta ? p.m : p.k, p.lda),
               b_size = span(tb ? p.n : p.k, tb ? p.k : p.n, p.ldb);
  const size_t c_size = span(p.m, p.n, p.ldc);
  GuardedFloats a(a_size), b(b_size), c(c_size);
  Random random(seed);
  for (size_t i = 0; i < a_size; ++i) a.data()[i] = static_cast<float>(random.uniform() - 0.5);
  for (size_t i = 0; i < b_size; ++i) b.data()[i] = static_cast<float>(random.uniform() - 0.5);
  for (size_t i = 0; i < c_size; ++i)
    c.data()[i] =
        poison_c ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random.uniform() - 0.5);
  const std::vector<float> before(c.data(), c.data() + c_size);
  run_kernel(loaded, p, a.data(), b.data(), c.data(), threads);
  std::vector<bool> element(c_size, false);
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0, size = 0;
      for (int64_t q = 0; q < p.k; ++q) {
        const double product = static_cast<double>(a.data()[ta ? q * p.lda + i : i * p.lda + q]) *
                               b.data()[tb ? j * p.ldb + q : q * p.ldb + j];
        sum += product;
        size += std::fabs(product);
      }
      const size_t at = static_cast<size_t>(i * p.ldc + j);
      element[at] = true;
      const double old = p.beta == 0 ? 0 : p.beta * before[at];
      const double want = p.alpha * sum + old, got = c.data()[at];
      const double bound =
          1.2e-7 * (static_cast<double>(p.k) + 4) * (std::fabs(p.alpha) * size + std::fabs(old)) + 1e-30;
      const bool ok = std::fabs(got - want) <= bound;
      ASSERT_TRUE(ok) << "row " << i << " column " << j << " got " << got << " want " << want;
    }
  for (size_t at = 0; at < c_size; ++at) {
    const bool kept = element[at] || std::memcmp(&c.data()[at], &before[at], sizeof(float)) == 0;
    ASSERT_TRUE(kept) << "gap element " << at << " was written";
  }
}

// Compiles every source to an object with its own symbol names, links all into one library and loads it.
class GemmCpuKernels : public testing::Test {
 protected:
  static constexpr std::array<Layout, 4> kLayouts = {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT};
  static constexpr int kThreads = 2;

  static void SetUpTestSuite() {
    if (!__builtin_cpu_supports("avx2")) return;
    auto made = TempFolder::make();
    KW_CHECK(made, "temporary folder");
    folder_ = new TempFolder(std::move(*made));
    std::vector<Source> sources = draw_sources();
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i; (i = next++) < sources.size();) compile(sources[i], i);
    };
    std::thread other(work);
    work();
    other.join();
    std::vector<std::string> link = {"g++", "-shared", "-o", (folder_->path() / "all.so").string()};
    for (size_t i = 0; i < sources.size(); ++i)
      link.push_back((folder_->path() / fmt::format("{}.o", i)).string());
    const auto linked = run_command({.argv = link});
    KW_CHECK(linked && linked->ok(), "link: {}", linked ? linked->errors : linked.error().message);
    void* library = dlopen((folder_->path() / "all.so").c_str(), RTLD_NOW);
    KW_CHECK(library != nullptr, "dlopen: {}", dlerror());
    for (size_t i = 0; i < sources.size(); ++i) {
      Loaded loaded{keys_[i], sources[i].launch, {}};
      for (const KernelLaunch& kernel : sources[i].launch.kernels)
        loaded.kernels.push_back(
            reinterpret_cast<Kernel>(dlsym(library, fmt::format("{}_{}", kernel.name, i).c_str())));
      loaded_.push_back(std::move(loaded));
    }
  }
  static void TearDownTestSuite() { delete folder_; }
  void SetUp() override {
    if (loaded_.empty()) GTEST_SKIP() << "this machine has no AVX2";
  }

  // Schedules that differ in instruction set, tile kind, packing and blocks; from several problem sizes, so
  // that small tiles and unblocked loops come too.
  static std::vector<Source> draw_sources() {
    std::vector<Source> sources;
    Random random(20250101);
    for (const Layout layout : kLayouts) {
      std::set<std::string> kinds;
      for (const auto& [m, n, k] :
           {std::array<int64_t, 3>{90, 120, 300}, {1, 200, 150}, {150, 1, 90}, {7, 9, 33}}) {
        const Problem problem = make_problem(layout, m, n, k, 0, 1, 0);
        for (const int threads : {1, kThreads}) {
          const auto all = enumerate_gemm_cpu(problem, make_device(threads));
          for (int attempt = 0, taken = 0; attempt < 400 && taken < 2; ++attempt) {
            const GemmCpuSchedule s = all[random.below(all.size())];
            if (threads > 1 && s.split_m * s.split_n * s.split_k == 1) continue;
            const std::string kind = fmt::format("{}{}{}{}{}", s.avx512, static_cast<int>(s.micro), s.pack_a,
                                                 s.pack_b, s.split_k > 1);
            if (!kinds.insert(kind).second) continue;
            ++taken;
            keys_.push_back(print_gemm_cpu(s));
            sources.push_back(print_gemm_cpu_kernel(s, layout));
          }
        }
      }
    }
    return sources;
  }

  static void compile(const Source& source, size_t index) {
    const fs::path text = folder_->path() / fmt::format("{}.cc", index);
    KW_CHECK(write_file_atomically(text, source.text), "write");
    Command command;
    command.argv = {"g++",
                    "-x",
                    "c++",
                    "-std=c++20",
                    "-O2",
                    "-fPIC",
                    "-ffreestanding",
                    "-fno-exceptions",
                    "-fno-rtti",
                    "-fno-asynchronous-unwind-tables",
                    "-fno-stack-protector",
                    "-fvisibility=hidden",
                    "-Wall",
                    "-Wextra",
                    "-Wno-psabi",
                    "-Wno-unused-function",
                    "-Werror",
                    "-c",
                    text.string(),
                    "-o",
                    (folder_->path() / fmt::format("{}.o", index)).string()};
    for (const std::string& flag : source.flags) command.argv.push_back(flag);
    for (const KernelLaunch& kernel : source.launch.kernels)
      command.argv.push_back(fmt::format("-D{0}={0}_{1}", kernel.name, index));
    const auto compiled = run_command(command);
    KW_CHECK(compiled && compiled->ok(), "{}: {}", keys_[index],
             compiled ? compiled->errors : compiled.error().message);
  }

  inline static TempFolder* folder_ = nullptr;
  inline static std::vector<std::string> keys_;
  inline static std::vector<Loaded> loaded_;
};

TEST_F(GemmCpuKernels, cover_every_tile_kind_and_packing) {
  std::set<std::string> micros;
  size_t split_k = 0;
  for (const Loaded& loaded : loaded_) {
    micros.insert(loaded.key.substr(0, loaded.key.find(" r")));
    split_k += loaded.kernels.size() == 2;
  }
  EXPECT_EQ(micros.size(), has_avx512() ? 6u : 3u);
  EXPECT_GE(split_k, 2u);
  EXPECT_GE(loaded_.size(), 36u);
}

TEST_F(GemmCpuKernels, are_right_for_tile_edges_and_primes) {
  uint64_t seed = 1;
  for (const Loaded& loaded : loaded_)
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                  {2, 3, 5},
                                  {3, 2, 17},
                                  {13, 17, 19},
                                  {16, 16, 16},
                                  {15, 33, 31},
                                  {17, 31, 64},
                                  {1, 67, 130},
                                  {71, 1, 45},
                                  {64, 5, 3},
                                  {5, 101, 2},
                                  {97, 59, 269},
                                  {28, 48, 32},
                                  {130, 140, 7}}) {
      expect_right(loaded, make_problem(loaded.launch.layout, m, n, k, 0, 1, 0), ++seed, kThreads, true);
      if (HasFatalFailure()) return;
    }
}

TEST_F(GemmCpuKernels, are_right_for_strides_and_scalars) {
  uint64_t seed = 1000;
  for (const Loaded& loaded : loaded_)
    for (const auto& [alpha, beta] : {std::array<double, 2>{1, 1}, {-0.5, 2}, {1.5, 0}, {0, 0.5}, {0, 0}}) {
      expect_right(loaded, make_problem(loaded.launch.layout, 29, 45, 37, 3, alpha, beta), ++seed, kThreads,
                   beta == 0);
      expect_right(loaded, make_problem(loaded.launch.layout, 6, 50, 9, 1, alpha, beta), ++seed, kThreads,
                   beta == 0);
      if (HasFatalFailure()) return;
    }
}

TEST_F(GemmCpuKernels, scale_c_when_k_is_zero_and_leave_it_when_m_or_n_is_zero) {
  for (const Loaded& loaded : loaded_) {
    expect_right(loaded, make_problem(loaded.launch.layout, 5, 7, 0, 2, 1, 0.5), 7, kThreads, false);
    expect_right(loaded, make_problem(loaded.launch.layout, 5, 7, 0, 2, 1, 0), 8, kThreads, true);
    expect_right(loaded, make_problem(loaded.launch.layout, 0, 7, 4, 2, 1, 0), 9, kThreads, true);
    expect_right(loaded, make_problem(loaded.launch.layout, 5, 0, 4, 2, 1, 0), 10, kThreads, true);
    if (HasFatalFailure()) return;
  }
}

TEST_F(GemmCpuKernels, do_not_read_a_and_b_when_alpha_is_zero) {
  for (const Loaded& loaded : loaded_) {
    const Problem p = make_problem(loaded.launch.layout, 9, 11, 13, 0, 0, 2);
    std::vector<float> c(99, 1.5f);
    run_kernel(loaded, p, nullptr, nullptr, c.data(), kThreads);
    EXPECT_EQ(c, std::vector<float>(99, 3.0f)) << loaded.key;
  }
}

TEST_F(GemmCpuKernels, pass_nan_and_inf_to_the_outputs_that_depend_on_them_only) {
  constexpr int64_t kM = 19, kN = 37, kK = 21;
  for (const Loaded& loaded : loaded_) {
    const Problem p = make_problem(loaded.launch.layout, kM, kN, kK, 0, 1, 0);
    std::vector<float> a(kM * kK, 1), b(kN * kK, 1), c(kM * kN);
    a[a_is_transposed(p.layout) ? 20 * p.lda + 18 : 18 * p.lda + 20] =
        std::numeric_limits<float>::quiet_NaN();
    b[b_is_transposed(p.layout) ? 36 * p.ldb + 20 : 20 * p.ldb + 36] = std::numeric_limits<float>::infinity();
    run_kernel(loaded, p, a.data(), b.data(), c.data(), kThreads);
    for (int64_t i = 0; i < kM; ++i)
      for (int64_t j = 0; j < kN; ++j) {
        const float got = c[static_cast<size_t>(i * kN + j)];
        if (i == 18) {
          EXPECT_TRUE(std::isnan(got)) << loaded.key << " " << i << " " << j;
        } else {
          EXPECT_EQ(got, j == 36 ? std::numeric_limits<float>::infinity() : kK)
              << loaded.key << " " << i << " " << j;
        }
      }
  }
}

TEST_F(GemmCpuKernels, give_the_same_bits_twice) {
  for (const Loaded& loaded : loaded_) {
    const Problem p = make_problem(loaded.launch.layout, 33, 47, 65, 0, 1, 0);
    std::vector<float> a(33 * 65), b(47 * 65), first(33 * 47), second(33 * 47, 5);
    Random random(3);
    for (float& value : a) value = static_cast<float>(random.normal());
    for (float& value : b) value = static_cast<float>(random.normal());
    run_kernel(loaded, p, a.data(), b.data(), first.data(), kThreads);
    run_kernel(loaded, p, a.data(), b.data(), second.data(), kThreads);
    EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(float)), 0) << loaded.key;
  }
}

TEST(GemmCpuLaunch, asks_for_the_scratch_the_schedule_counts) {
  const Problem p = make_problem(Layout::kTT, 90, 120, 300, 0, 1, 0);
  const Variables variables{{"m", 90}, {"n", 120}, {"k", 300}, {"threads", 1}};
  Random random(5);
  const auto all = enumerate_gemm_cpu(p, make_device(1));
  for (int i = 0; i < 200; ++i) {
    const GemmCpuSchedule& s = all[random.below(all.size())];
    const auto numbers = evaluate_launch(print_gemm_cpu_kernel(s, p.layout).launch, variables);
    ASSERT_TRUE(numbers);
    const int64_t counted = 4 * gemm_cpu_scratch_floats(s, view_tile(p, s));
    EXPECT_GE(numbers->scratch_bytes, counted) << print_gemm_cpu(s);
    EXPECT_LE(numbers->scratch_bytes, counted + 64) << print_gemm_cpu(s);
  }
}

TEST(GemmCpuText, names_its_schedule_first_and_includes_nothing) {
  const Problem p = make_problem(Layout::kNN, 90, 120, 300, 0, 1, 0);
  for (const GemmCpuSchedule& s : {enumerate_gemm_cpu(p, make_device(1)).front()}) {
    const std::string text = print_gemm_cpu_kernel(s, p.layout).text;
    EXPECT_TRUE(text.starts_with("// gemm f32 nn: " + print_gemm_cpu(s))) << text.substr(0, 200);
    EXPECT_EQ(text.find("#include"), std::string::npos);
    EXPECT_EQ(text.find("\n\n\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace kw
