// Printed CUDA kernels on the CPU: their text, with the files that hold PTX replaced by
// cuda_emulation_test.h, is compiled by the host compiler and compared bit by bit with a float64 reference.
// Proves index maps, edges, rings, exchanges and stores; not the PTX itself. Operands end at a page that may
// not be touched.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "base/process.h"
#include "base/random.h"
#include "emit/cuda_menu_test.h"
#include "emit/device_text.h"
#include "record/element.h"
#include "schedule/space.h"

namespace kw {
namespace {

// As in cuda_emulation_test.h.
struct MapFacts {
  const void* base;
  int dimensions;
  int64_t sizes[3], stride_bytes[3], box[3], swizzle_bytes;
};
struct EmulatedCall {
  int grid[3], block, cluster;
  int64_t shared_bytes;
  bool late;
  void* operands[3];
  int64_t integers[16];
  float alpha, beta;
  const MapFacts* maps[8];
};
using Runner = void (*)(const EmulatedCall*);

class Guarded {
 public:
  // 16-byte aligned and as near to the forbidden page as that allows.
  explicit Guarded(size_t bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), used = (bytes + page) / page * page;
    mapped_ = used + page;
    base_ = static_cast<char*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    KW_CHECK(base_ != MAP_FAILED && mprotect(base_ + used, page, PROT_NONE) == 0, "mmap of {} bytes",
             mapped_);
    data_ = base_ + (used - bytes) / 16 * 16;
    bytes_ = bytes;
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() { munmap(base_, mapped_); }
  std::span<std::byte> bytes() { return {reinterpret_cast<std::byte*>(data_), bytes_}; }
  void* data() { return data_; }

 private:
  char *base_ = nullptr, *data_ = nullptr;
  size_t mapped_ = 0, bytes_ = 0;
};

std::string replace(std::string text, std::string_view what, std::string_view with) {
  const size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), with);
  return text;
}

// The kernel's call in the order of its launch record.
std::string print_runner(const LaunchRecord& launch) {
  std::string arguments;
  int integers = 0, maps = 0;
  for (const Argument& argument : launch.kernels[0].grid->arguments) {
    if (!arguments.empty()) arguments += ", ";
    switch (argument.kind) {
      case Argument::Kind::kOperand:
        arguments += fmt::format("(u16*)call->operands[{}]", argument.name[0] - 'a');
        break;
      case Argument::Kind::kFloat32:
        arguments += fmt::format("call->{}", argument.name);
        break;
      case Argument::Kind::kTensorMap:
        arguments += fmt::format("TensorMap{{call->maps[{}]}}", maps++);
        break;
      default:
        arguments += fmt::format("call->integers[{}]", integers++);
    }
  }
  return fmt::format(
      "extern \"C\" void run_emulated(const EmulatedCall* call) {{\n"
      "  run_grid(*call, [&] {{ {}({}); }});\n}}\n",
      launch.kernels[0].name, arguments);
}

std::string print_emulated(const Source& source) {
  const std::string header =
      std::filesystem::path(__FILE__).replace_filename("cuda_emulation_test.h").string();
  const bool wgmma = source.launch.isa == "sm_90a";
  std::string text = replace(source.text, get_device_text("cuda_types.h"),
                             fmt::format("{}#include \"{}\"\n", wgmma ? "#define KW_EMULATE_WGMMA\n" : "",
                                         std::filesystem::absolute(header).string()));
  for (const char* file : {"cuda_mma.h", "cuda_loads.h", "cuda_async_copy.h", "cuda_barrier.h",
                           "cuda_cluster.h", "cuda_wgmma.h"})
    text = replace(std::move(text), get_device_text(file), "");
  if (const size_t product = text.find("// sums = X * Y"); product != std::string::npos)
    text.erase(product, text.find("\n}\n", product) + 3 - product);
  EXPECT_EQ(text.find("asm"), std::string::npos) << text.substr(text.find("asm"), 200);
  return text + print_runner(source.launch);
}

class EmulatedKernel {
 public:
  explicit EmulatedKernel(const Source& source) : launch_(source.launch) {
    const auto folder = TempFolder::make();
    KW_CHECK(folder, "{}", folder.error().message);
    const fs::path text = folder->path() / "kernel.cc", object = folder->path() / "kernel.so";
    KW_CHECK(write_file_atomically(text, print_emulated(source)), "{}", text.string());
    Command command;
    command.argv = {"g++", "-std=c++20",    "-O1",        "-w", "-fPIC", "-shared", "-D__constant__=",
                    "-o",  object.string(), text.string()};
    const auto compiled = run_command(command);
    KW_CHECK(compiled && compiled->ok(), "{}", compiled ? compiled->errors : compiled.error().message);
    void* library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    KW_CHECK(library != nullptr, "{}", dlerror());
    run_ = reinterpret_cast<Runner>(dlsym(library, "run_emulated"));
    KW_CHECK(run_ != nullptr, "{} has no run_emulated", object.string());
  }

  const LaunchRecord& launch() const { return launch_; }

  void run(const Problem& p, const std::array<void*, 3>& operands, bool late) const {
    const Variables variables = {{"m", p.m},     {"n", p.n},     {"k", p.k},
                                 {"lda", p.lda}, {"ldb", p.ldb}, {"ldc", p.ldc}};
    const auto numbers = evaluate_launch(launch_, variables);
    ASSERT_TRUE(numbers) << numbers.error().message;
    const GridNumbers& grid = numbers->grids[0];
    EmulatedCall call = {};
    std::vector<MapFacts> maps;
    maps.reserve(8);
    for (int d = 0; d < 3; ++d) call.grid[d] = static_cast<int>(grid.grid[static_cast<size_t>(d)]);
    call.block = static_cast<int>(grid.block[0]), call.cluster = static_cast<int>(grid.cluster[0]);
    call.shared_bytes = grid.shared_bytes;
    call.late = late;
    call.alpha = static_cast<float>(p.alpha), call.beta = static_cast<float>(p.beta);
    std::copy(operands.begin(), operands.end(), call.operands);
    size_t integers = 0;
    for (const ArgumentNumbers& argument : grid.arguments) {
      if (argument.kind == Argument::Kind::kInt32 || argument.kind == Argument::Kind::kInt64)
        call.integers[integers++] = argument.value;
      if (argument.kind != Argument::Kind::kTensorMap) continue;
      const TensorMapNumbers& map = argument.map;
      MapFacts facts = {operands[static_cast<size_t>(map.operand[0] - 'a')],
                        static_cast<int>(map.sizes.size()),
                        {},
                        {},
                        {},
                        map.swizzle_bytes};
      for (size_t d = 0; d < map.sizes.size(); ++d) {
        facts.sizes[d] = map.sizes[d], facts.box[d] = map.box[d];
        if (d > 0) facts.stride_bytes[d] = map.stride_bytes[d - 1];
      }
      maps.push_back(facts);
      call.maps[maps.size() - 1] = &maps.back();
    }
    run_(&call);
  }

 private:
  LaunchRecord launch_;
  Runner run_ = nullptr;
};

size_t count_bytes(int64_t rows, int64_t columns, int64_t ld) {
  return rows == 0 || columns == 0 ? 0 : static_cast<size_t>(2 * ((rows - 1) * ld + columns));
}

// Small integers: every sum is exact, so the only rounding is the last one. Gaps between rows hold NaN.
void fill(Dtype dtype, std::span<std::byte> bytes, int64_t rows, int64_t columns, int64_t ld, Random& random,
          bool poison) {
  for (size_t i = 0; i < bytes.size() / 2; ++i)
    store_element(dtype, bytes, static_cast<int64_t>(i), std::numeric_limits<double>::quiet_NaN());
  for (int64_t i = 0; i < rows && !poison; ++i)
    for (int64_t j = 0; j < columns; ++j)
      store_element(dtype, bytes, i * ld + j, static_cast<double>(random.between(-3, 3)));
}

void expect_right(const EmulatedKernel& kernel, const Problem& p, uint64_t seed) {
  SCOPED_TRACE(print_problem(p));
  const Dtype dtype = p.dtype;
  const bool nt = p.layout == Layout::kNT;
  Guarded a(count_bytes(p.m, p.k, p.lda)), c(count_bytes(p.m, p.n, p.ldc));
  Guarded b(nt ? count_bytes(p.n, p.k, p.ldb) : count_bytes(p.k, p.n, p.ldb));
  Random random(seed);
  fill(dtype, a.bytes(), p.m, p.k, p.lda, random, p.alpha == 0);
  fill(dtype, b.bytes(), nt ? p.n : p.k, nt ? p.k : p.n, p.ldb, random, p.alpha == 0);
  fill(dtype, c.bytes(), p.m, p.n, p.ldc, random, p.beta == 0);
  const std::vector<std::byte> before(c.bytes().begin(), c.bytes().end());
  std::vector<std::byte> want = before;
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t q = 0; q < p.k && p.alpha != 0; ++q)
        sum += load_element(dtype, a.bytes(), i * p.lda + q) *
               load_element(dtype, b.bytes(), nt ? j * p.ldb + q : q * p.ldb + j);
      double value = p.alpha * sum;
      if (p.beta != 0) value += p.beta * load_element(dtype, before, i * p.ldc + j);
      store_element(dtype, want, i * p.ldc + j, value == 0 ? 0.0 : value);
    }
  kernel.run(p, {a.data(), b.data(), c.data()}, seed % 2 == 1);
  for (int64_t i = 0; i < static_cast<int64_t>(want.size() / 2); ++i) {
    const double got = load_element(dtype, c.bytes(), i), right = load_element(dtype, want, i);
    ASSERT_TRUE(got == right || (std::isnan(got) && std::isnan(right) &&
                                 std::memcmp(&c.bytes()[static_cast<size_t>(2 * i)],
                                             &before[static_cast<size_t>(2 * i)], 2) == 0))
        << "element " << i / p.ldc << ", " << i % p.ldc << ": " << got << " instead of " << right;
  }
}

Problem make_shape(int64_t m, int64_t n, int64_t k, Layout layout, Dtype dtype, int64_t unit, int64_t gap,
                   double alpha, double beta) {
  Problem p = make_cuda_problem(m, n, k, layout, dtype);
  for (int64_t* ld : {&p.lda, &p.ldb}) *ld = (*ld + unit - 1) / unit * unit + gap * unit;
  p.ldc += gap;
  p.alpha = alpha, p.beta = beta;
  return p;
}

void run_battery(std::string_view family, std::string_view key, const Problem& legal, int64_t unit) {
  SCOPED_TRACE(fmt::format("{} {} {}", family, key, print_layout(legal.layout)));
  const EmulatedKernel kernel(print_menu_entry({family, key, legal}));
  const auto tile = (*make_space(family, legal, make_cuda_device()))->tile(key);
  const int64_t m = tile[0], n = tile[1], k = tile[2];
  struct Shape {
    int64_t m, n, k, gap;
    double alpha, beta;
  };
  uint64_t seed = 0;
  for (const Shape& s : {Shape{m, n, k, 0, 1, 0},
                         {m + 1, n + 3, k + 1, 0, 1, 1},
                         {m - 1, n - 1, 3 * k - 1, 1, -0.5, 0},
                         {1, 1, 1, 0, 1, 0},
                         {5, 2 * n + 8, 2 * k + 65, 3, 1, 0},
                         {3, 8, 7 * k + 13, 0, 1.5, 0.5},
                         {m, 2, 9, 8, 0, 0.5},
                         {2, n, 40, 2, 0, 0},
                         {7, 9, 0, 1, 1, 0.5}}) {
    if (s.m < 1 || s.n < 1) continue;
    const Problem p = make_shape(s.m, s.n, s.k, legal.layout, legal.dtype, unit, s.gap, s.alpha, s.beta);
    const Variables sizes = {{"m", p.m},     {"n", p.n},     {"k", p.k},
                             {"lda", p.lda}, {"ldb", p.ldb}, {"ldc", p.ldc}};
    const auto outside = find_domain_violation(kernel.launch(), sizes);
    EXPECT_EQ(outside.has_value(), family == "gemm_wgmma" && s.k == 0) << outside.value_or("inside");
    if (outside) continue;
    for (int copies = 0; copies < 2; ++copies) expect_right(kernel, p, ++seed);
  }
}

struct Kernel {
  std::string_view key;
  int64_t m, n, k, unit;
  Layout layout;
  Dtype dtype = Dtype::kF16;
};

void run_batteries(std::string_view family, const std::vector<Kernel>& kernels) {
  for (const Kernel& one : kernels)
    run_battery(family, one.key,
                make_shape(one.m, one.n, one.k, one.layout, one.dtype, one.unit, one.unit == 8 ? 0 : 1, 1, 0),
                one.unit);
}

TEST(EmulatedCuda, gemm_direct_is_right) {
  run_batteries("gemm_direct", {{"mt1 nt2 wm1 wn1 wk4 c2 pdl0", 64, 64, 512, 8, Layout::kNT},
                                {"mt1 nt2 wm1 wn1 wk4 c2 pdl0", 64, 64, 512, 8, Layout::kNN, Dtype::kBf16},
                                {"mt2 nt4 wm2 wn1 wk2 c4 pdl0", 128, 64, 512, 8, Layout::kNN},
                                {"mt1 nt8 wm1 wn2 wk1 c1 pdl0", 64, 256, 64, 8, Layout::kNT},
                                {"mt2 nt8 wm1 wn1 wk2 c1 pdl0", 64, 256, 128, 8, Layout::kNN}});
}

TEST(EmulatedCuda, gemm_async_is_right) {
  run_batteries("gemm_async",
                {{"ca16 cb16 m64 n32 k64 wm2 wn1 wk2 st3 pdl0", 128, 128, 512, 8, Layout::kNT},
                 {"ca16 cb16 m32 n64 k64 wm1 wn2 wk1 st4 pdl0", 128, 128, 512, 8, Layout::kNN, Dtype::kBf16},
                 {"ca8 cb8 m16 n16 k32 wm1 wn1 wk1 st2 pdl0", 128, 128, 512, 4, Layout::kNN},
                 {"ca4 cb4 m32 n32 k128 wm1 wn1 wk4 st2 pdl0", 128, 128, 512, 2, Layout::kNT},
                 {"ca2 cb2 m16 n128 k32 wm1 wn4 wk1 st3 pdl0", 128, 256, 512, 1, Layout::kNN},
                 {"ca2 cb2 m64 n16 k64 wm4 wn1 wk1 st2 pdl0", 128, 128, 512, 1, Layout::kNT}});
}

TEST(EmulatedCuda, gemm_wgmma_is_right) {
  run_batteries("gemm_wgmma",
                {{"g1 n32 k128 st3 s1 swap0 pdl0", 256, 256, 512, 8, Layout::kNT},
                 {"g1 n32 k128 st2 s4 swap0 pdl1", 128, 128, 4096, 8, Layout::kNN, Dtype::kBf16},
                 {"g1 n64 k64 st4 s1 swap0 pdl1", 256, 256, 512, 8, Layout::kNN},
                 {"g2 n16 k64 st2 s2 swap0 pdl0", 256, 256, 512, 8, Layout::kNT},
                 {"g2 n128 k64 st3 s8 swap0 pdl0", 256, 256, 4096, 8, Layout::kNN},
                 {"g1 n8 k128 st3 s1 swap1 pdl0", 8, 256, 512, 8, Layout::kNT},
                 {"g2 n16 k128 st2 s16 swap1 pdl0", 16, 512, 4096, 8, Layout::kNN}});
}

}  // namespace
}  // namespace kw
