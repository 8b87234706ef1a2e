// LIBXSMM: a kernel generated for one small GEMM, through the plug-in library. In: a GEMM and operand sets.
// Out: a VendorRoutine. Called by vendor.cc. The kernel runs on the calling thread whatever the number of
// threads.
#include <filesystem>
#include <system_error>

#include "target/cpu/vendor_backend.h"
#include "target/cpu/vendor_library.h"
#include "target/cpu/vendor_xsmm_plugin.h"

namespace kw {
namespace {

// LIBXSMM's own dispatch stops at 64^3 (LIBXSMM_MAX_MNK of Debian's build), but a kernel asked for directly
// stays ahead for longer, and the bar is the best baseline. Seen on a Xeon with AVX-512 (2.0 MiB L2), one
// thread, nn, rotated operands, best of 25, 2026-12, GFLOP/s against oneDNN: 128^3 204 / 197, 257x130x515 179
// / 174, 256^3 224 / 218, 512^3 213 / 211, 16x896x896 80 / 136. Above, a kernel that blocks for no cache has
// nothing left to win.
constexpr int64_t kMaxProduct = int64_t{512} * 512 * 512;

struct XsmmApi {
  decltype(&kw_xsmm_interface) interface = nullptr;
  decltype(&kw_xsmm_version) version = nullptr;
  decltype(&kw_xsmm_instruction_set) instruction_set = nullptr;
  decltype(&kw_xsmm_make_kernel) make_kernel = nullptr;
  std::string path;
};

Result<XsmmApi> load_api() {
  constexpr const char* kFile = "libkernelwright_xsmm.so";
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const LibrarySource source = {
      "KERNELWRIGHT_XSMM",
      {(folder / kFile).string(), (folder / "../lib/kernelwright" / kFile).lexically_normal().string()},
      "install the Debian package libxsmm-dev and build again"};
  KW_TRY(const Library library, Library::load(source));
  XsmmApi api;
  std::string missing;
  library.bind(api.interface, "kw_xsmm_interface", missing);
  library.bind(api.version, "kw_xsmm_version", missing);
  library.bind(api.instruction_set, "kw_xsmm_instruction_set", missing);
  library.bind(api.make_kernel, "kw_xsmm_make_kernel", missing);
  if (!missing.empty()) return fail("{} has no {}: build it again", library.path(), missing);
  if (api.interface() != KW_XSMM_INTERFACE) {
    return fail("{} has interface {} where {} is needed: build it again", library.path(), api.interface(),
                KW_XSMM_INTERFACE);
  }
  api.path = library.path();
  return api;
}

class XsmmRoutine : public VendorRoutine {
 public:
  XsmmRoutine(kw_xsmm_kernel kernel, std::string instruction_set, OperandSets sets)
      : kernel_(kernel), instruction_set_(std::move(instruction_set)), sets_(make_gemm_pointers(sets)) {}

  void call(int set) override {
    const GemmPointers& at = sets_[static_cast<size_t>(set)];
    kernel_(at.b, at.a, at.c);
  }

  std::string algorithm() const override { return "generated kernel, " + instruction_set_; }

 private:
  kw_xsmm_kernel kernel_;
  std::string instruction_set_;
  std::vector<GemmPointers> sets_;
};

VendorInfo find_xsmm() {
  VendorInfo info{.name = "libxsmm"};
  auto api = load_api();
  if (!api) {
    info.missing = api.error().message;
    return info;
  }
  info.path = api->path;
  info.version = fmt::format("{} ({})", api->version(), api->instruction_set());
  return info;
}

std::optional<std::string> find_xsmm_refusal(const Problem& problem) {
  if (problem.m == 0 || problem.n == 0 || problem.k == 0)
    return "an empty product: LIBXSMM has no kernel for it";
  if (is_b_transposed(problem.layout)) {
    return fmt::format("layout {}: LIBXSMM reads B only as it is used", print_layout(problem.layout));
  }
  if (problem.alpha != 1) return fmt::format("alpha = {}: LIBXSMM has only 1", problem.alpha);
  if (problem.beta != 0 && problem.beta != 1) {
    return fmt::format("beta = {}: LIBXSMM has only 0 and 1", problem.beta);
  }
  // check_problem keeps the product below 2^62.
  if (problem.m * problem.n * problem.k > kMaxProduct) {
    return fmt::format("m*n*k = {} is above {}: LIBXSMM is for small products",
                       problem.m * problem.n * problem.k, kMaxProduct);
  }
  return std::nullopt;
}

Result<std::unique_ptr<VendorRoutine>> open_xsmm(const Problem& problem, int, OperandSets sets) {
  KW_TRY(const XsmmApi api, load_api());
  const KwXsmmGemm gemm = {.m = static_cast<int>(problem.m),
                           .n = static_cast<int>(problem.n),
                           .k = static_cast<int>(problem.k),
                           .lda = static_cast<int>(problem.lda),
                           .ldb = static_cast<int>(problem.ldb),
                           .ldc = static_cast<int>(problem.ldc),
                           .a_transposed = is_a_transposed(problem.layout) ? 1 : 0,
                           .beta = problem.beta == 1 ? 1 : 0};
  const kw_xsmm_kernel kernel = api.make_kernel(&gemm);
  if (kernel == nullptr) return fail("no kernel could be generated for {}", describe_problem(problem));
  return std::make_unique<XsmmRoutine>(kernel, api.instruction_set(), sets);
}

}  // namespace

const VendorBackend kXsmm = {"libxsmm", find_xsmm, find_xsmm_refusal, open_xsmm};

}  // namespace kw
