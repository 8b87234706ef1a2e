// OpenBLAS: cblas_sgemm of a library loaded at run time. In: a GEMM and operand sets. Out: a VendorRoutine.
// Called by vendor.cc. The CBLAS prototypes are declared here, so that the build needs no OpenBLAS.
#include <cstdlib>
#include <cstring>

#include "target/cpu/vendor_backend.h"
#include "target/cpu/vendor_library.h"

namespace kw {
namespace {

// Values of the CBLAS standard.
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
// Answers of openblas_get_parallel.
constexpr int kSerialBuild = 0;

struct OpenblasApi {
  void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a,
                int lda, const float* b, int ldb, float beta, float* c, int ldc) = nullptr;
  void (*set_num_threads)(int threads) = nullptr;
  int (*get_num_threads)() = nullptr;
  int (*get_parallel)() = nullptr;
  char* (*get_config)() = nullptr;
  char* (*get_corename)() = nullptr;
  std::string path;
};

Result<OpenblasApi> load_api() {
  const LibrarySource source = {"KERNELWRIGHT_OPENBLAS",
                                {"libopenblas.so.0", "libopenblasp.so.0", "libopenblas.so"},
                                "install the Debian package libopenblas0-pthread"};
  KW_TRY(const Library library, Library::load(source));
  OpenblasApi api;
  std::string missing;
  library.bind(api.sgemm, "cblas_sgemm", missing);
  library.bind(api.set_num_threads, "openblas_set_num_threads", missing);
  library.bind(api.get_num_threads, "openblas_get_num_threads", missing);
  library.bind(api.get_parallel, "openblas_get_parallel", missing);
  library.bind(api.get_config, "openblas_get_config", missing);
  library.bind(api.get_corename, "openblas_get_corename", missing);
  if (!missing.empty())
    return fail("{} has no {}: not an OpenBLAS; {}", library.path(), missing, source.install);
  if (std::strstr(api.get_config(), "USE64BITINT") != nullptr) {
    return fail("{} was built with 64-bit integers: {}, which has 32-bit ones", library.path(),
                source.install);
  }
  api.path = library.path();
  return api;
}

class OpenblasRoutine : public VendorRoutine {
 public:
  OpenblasRoutine(const OpenblasApi& api, const Problem& problem, OperandSets sets)
      : api_(api), problem_(problem), sets_(make_gemm_pointers(sets)) {}

  void call(int set) override {
    const GemmPointers& at = sets_[static_cast<size_t>(set)];
    api_.sgemm(kRowMajor, trans_a_, trans_b_, m_, n_, k_, alpha_, at.a, lda_, at.b, ldb_, beta_, at.c, ldc_);
  }

  std::string algorithm() const override { return fmt::format("cblas_sgemm, core {}", api_.get_corename()); }

 private:
  OpenblasApi api_;
  Problem problem_;
  std::vector<GemmPointers> sets_;
  const int m_ = static_cast<int>(problem_.m), n_ = static_cast<int>(problem_.n),
            k_ = static_cast<int>(problem_.k);
  const int lda_ = static_cast<int>(problem_.lda), ldb_ = static_cast<int>(problem_.ldb),
            ldc_ = static_cast<int>(problem_.ldc);
  const int trans_a_ = is_a_transposed(problem_.layout) ? kTranspose : kNoTranspose;
  const int trans_b_ = is_b_transposed(problem_.layout) ? kTranspose : kNoTranspose;
  const float alpha_ = static_cast<float>(problem_.alpha), beta_ = static_cast<float>(problem_.beta);
};

VendorInfo find_openblas() {
  VendorInfo info{.name = "openblas"};
  auto api = load_api();
  if (!api) {
    info.missing = api.error().message;
    return info;
  }
  info.path = api->path;
  // The configuration already ends in the core's name on some builds only; "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
  const std::string config = api->get_config(), core = api->get_corename();
  info.version = config.find(core) == std::string::npos ? fmt::format("{} core {}", config, core) : config;
  return info;
}

// cblas_sgemm takes every f32 GEMM whose sizes fit its integers, empty ones included.
std::optional<std::string> find_openblas_refusal(const Problem&) { return std::nullopt; }

Result<std::unique_ptr<VendorRoutine>> open_openblas(const Problem& problem, int threads, OperandSets sets) {
  KW_TRY(const OpenblasApi api, load_api());
  if (threads > 1 && api.get_parallel() == kSerialBuild) {
    return fail(
        "{} is the serial build and cannot use {} threads: install the Debian package libopenblas0-pthread",
        api.path, threads);
  }
  api.set_num_threads(threads);
  if (api.get_num_threads() != threads) {
    return fail("{} uses {} threads where {} were asked for: its build allows no more", api.path,
                api.get_num_threads(), threads);
  }
  return std::make_unique<OpenblasRoutine>(api, problem, sets);
}

}  // namespace

const VendorBackend kOpenblas = {"openblas", find_openblas, find_openblas_refusal, open_openblas};

}  // namespace kw
