#include "target/cuda/vendor_cublas.h"

#include <algorithm>

#include "target/cpu/vendor_library.h"
#include "target/cuda/vendor_gemm.h"

namespace kw::cuda {
namespace {

constexpr size_t kDefaultWorkspaceBytes = size_t{32} << 20;

struct Blas {
  BlasFunctions call{};
  std::string version;
};

Status check_blas(const Blas& blas, BlasStatus status, const std::string& what) {
  if (status == kBlasSuccess) return {};
  return fail("cuBLAS {}: {} gives {} ({})", blas.version, what, blas.call.get_status_name(status),
              blas.call.get_status_string(status));
}

Result<Blas> open_library() {
  const LibrarySource source = {
      "KERNELWRIGHT_CUBLAS",
      {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.13",
       "/usr/local/cuda/lib64/libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"},
      "install the CUDA toolkit 12.4 or newer (Debian package libcublas-12-4 or later)"};
  auto library = Library::load(source);
  if (!library) return with_context(library.error(), "cuBLAS");
  Blas blas;
  std::string missing;
  library->bind(blas.call.create, "cublasCreate_v2", missing);
  library->bind(blas.call.get_property, "cublasGetProperty", missing);
  library->bind(blas.call.set_stream, "cublasSetStream_v2", missing);
  library->bind(blas.call.set_workspace, "cublasSetWorkspace_v2", missing);
  library->bind(blas.call.set_math_mode, "cublasSetMathMode", missing);
  library->bind(blas.call.gemm_ex, "cublasGemmEx", missing);
  library->bind(blas.call.get_status_name, "cublasGetStatusName", missing);
  library->bind(blas.call.get_status_string, "cublasGetStatusString", missing);
  if (!missing.empty())
    return fail("{} has no {}: not a cuBLAS of CUDA 12; {}", library->path(), missing, source.install);
  int major = 0, minor = 0, patch = 0;
  KW_TRY_VOID(check_blas(blas, blas.call.get_property(kBlasMajor, &major), "cublasGetProperty"));
  KW_TRY_VOID(check_blas(blas, blas.call.get_property(kBlasMinor, &minor), "cublasGetProperty"));
  KW_TRY_VOID(check_blas(blas, blas.call.get_property(kBlasPatch, &patch), "cublasGetProperty"));
  blas.version = fmt::format("{}.{}.{}", major, minor, patch);
  return blas;
}

const Result<Blas>& get_library() {
  static const Result<Blas> library = open_library();
  return library;
}

// The process's one handle. Setting its stream takes the workspace away, and costs host time: both are set
// only when they change.
struct Session {
  BlasHandle handle = nullptr;
  bool bound = false;
  Stream stream = nullptr;
  DevicePointer workspace = 0;
  size_t workspace_bytes = 0;
};

Result<Session> open_session(const Blas& blas) {
  Session session;
  KW_TRY_VOID(check_blas(blas, blas.call.create(&session.handle), "cublasCreate"));
  KW_TRY_VOID(
      check_blas(blas, blas.call.set_math_mode(session.handle, kBlasDefaultMath), "cublasSetMathMode"));
  return session;
}

Result<Session*> get_session(const Blas& blas) {
  static Result<Session> session = open_session(blas);
  if (!session) return tl::unexpected(session.error());
  return &*session;
}

class CublasRoutine final : public VendorRoutine {
 public:
  CublasRoutine(const Blas& blas, Session& session, const Problem& problem, DevicePointer workspace,
                size_t workspace_bytes)
      : blas_(blas),
        session_(session),
        gemm_(make_column_major(problem)),
        workspace_(workspace),
        workspace_bytes_(std::min(workspace_bytes, kDefaultWorkspaceBytes)) {}

  Status enqueue(std::span<const DevicePointer> operands, Stream stream) override {
    KW_TRY_VOID(bind(stream));
    const auto at = [&](int operand) {
      return reinterpret_cast<void*>(operands[static_cast<size_t>(operand)]);
    };
    const auto size = [](int64_t value) { return static_cast<int>(value); };
    const auto& [first, second] = std::pair(gemm_.first, gemm_.second);
    return check_blas(
        blas_,
        blas_.call.gemm_ex(session_.handle, first.operation, second.operation, size(gemm_.m), size(gemm_.n),
                           size(gemm_.k), &gemm_.alpha, at(first.operand), gemm_.type, size(first.ld),
                           at(second.operand), gemm_.type, size(second.ld), &gemm_.beta, at(kOutput),
                           gemm_.type, size(gemm_.ldc), kBlasComputeF32, kBlasDefaultAlgorithm),
        "cublasGemmEx");
  }

  std::string identity() const override {
    return fmt::format("cuBLAS {} default algorithm, workspace {} MiB", blas_.version,
                       workspace_bytes_ >> 20);
  }

 private:
  static constexpr int kOutput = 2;

  Status bind(Stream stream) {
    if (session_.bound && session_.stream == stream && session_.workspace == workspace_ &&
        session_.workspace_bytes == workspace_bytes_)
      return {};
    session_.bound = false;
    KW_TRY_VOID(check_blas(blas_, blas_.call.set_stream(session_.handle, stream), "cublasSetStream"));
    if (workspace_bytes_ > 0)
      KW_TRY_VOID(check_blas(
          blas_,
          blas_.call.set_workspace(session_.handle, reinterpret_cast<void*>(workspace_), workspace_bytes_),
          "cublasSetWorkspace"));
    session_.bound = true;
    session_.stream = stream;
    session_.workspace = workspace_;
    session_.workspace_bytes = workspace_bytes_;
    return {};
  }

  const Blas& blas_;
  Session& session_;
  ColumnMajorGemm gemm_;
  DevicePointer workspace_;
  size_t workspace_bytes_;
};

}  // namespace

VendorLibrary find_cublas() {
  const Result<Blas>& blas = get_library();
  if (!blas) return {"cublas", "", blas.error().message};
  return {"cublas", blas->version, ""};
}

Result<std::unique_ptr<VendorRoutine>> open_cublas(const Problem& problem, DevicePointer workspace,
                                                   size_t workspace_bytes) {
  const Result<Blas>& blas = get_library();
  if (!blas) return tl::unexpected(blas.error());
  KW_TRY(Session* const session, get_session(*blas));
  return std::make_unique<CublasRoutine>(*blas, *session, problem, workspace, workspace_bytes);
}

}  // namespace kw::cuda
