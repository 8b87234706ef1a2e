#include "target/cuda/vendor_cublaslt.h"

#include <algorithm>
#include <array>
#include <list>

#include "target/cpu/vendor_library.h"
#include "target/cuda/vendor_gemm.h"
#include "target/cuda/vendor_names.h"

namespace kw::cuda {
namespace {

constexpr int kWanted = 64;          // algorithms asked of the heuristic
constexpr uint32_t kAlignment = 16;  // bytes, of every operand
constexpr uint64_t kSmallWorkspaceBytes = uint64_t{32} << 20;
constexpr size_t kKeptLists = 4;

struct Lt {
  LtFunctions call{};
  std::string version;
  LtHandle handle = nullptr;
};

Status check_lt(const Lt& lt, BlasStatus status, const char* what) {
  if (status == kBlasSuccess) return {};
  return fail("cuBLASLt {}: {} gives {} ({})", lt.version, what, lt.call.get_status_name(status),
              lt.call.get_status_string(status));
}

void bind_functions(const Library& library, LtFunctions& call, std::string& missing) {
  library.bind(call.create, "cublasLtCreate", missing);
  library.bind(call.get_version, "cublasLtGetVersion", missing);
  library.bind(call.matmul_desc_create, "cublasLtMatmulDescCreate", missing);
  library.bind(call.matmul_desc_destroy, "cublasLtMatmulDescDestroy", missing);
  library.bind(call.matmul_desc_set_attribute, "cublasLtMatmulDescSetAttribute", missing);
  library.bind(call.matrix_layout_create, "cublasLtMatrixLayoutCreate", missing);
  library.bind(call.matrix_layout_destroy, "cublasLtMatrixLayoutDestroy", missing);
  library.bind(call.matmul_preference_create, "cublasLtMatmulPreferenceCreate", missing);
  library.bind(call.matmul_preference_destroy, "cublasLtMatmulPreferenceDestroy", missing);
  library.bind(call.matmul_preference_set_attribute, "cublasLtMatmulPreferenceSetAttribute", missing);
  library.bind(call.matmul_algo_get_heuristic, "cublasLtMatmulAlgoGetHeuristic", missing);
  library.bind(call.matmul_algo_config_get_attribute, "cublasLtMatmulAlgoConfigGetAttribute", missing);
  library.bind(call.matmul, "cublasLtMatmul", missing);
  library.bind(call.get_status_name, "cublasLtGetStatusName", missing);
  library.bind(call.get_status_string, "cublasLtGetStatusString", missing);
}

Result<Lt> open_library() {
  const LibrarySource source = {
      "KERNELWRIGHT_CUBLASLT",
      {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.13",
       "/usr/local/cuda/lib64/libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"},
      "install the CUDA toolkit 12.4 or newer (Debian package libcublas-12-4 or later)"};
  auto library = Library::load(source);
  if (!library) return with_context(library.error(), "cuBLASLt");
  Lt lt;
  std::string missing;
  bind_functions(*library, lt.call, missing);
  if (!missing.empty())
    return fail("{} has no {}: not a cuBLASLt of CUDA 12; {}", library->path(), missing, source.install);
  const size_t version = lt.call.get_version();
  lt.version = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  return lt;
}

const Result<Lt>& get_library() {
  static const Result<Lt> library = open_library();
  return library;
}

// With the process's one handle, which needs a current context.
Result<const Lt*> get_started() {
  static const Result<Lt> started = []() -> Result<Lt> {
    KW_TRY(Lt lt, get_library());
    KW_TRY_VOID(check_lt(lt, lt.call.create(&lt.handle), "cublasLtCreate"));
    return lt;
  }();
  if (!started) return tl::unexpected(started.error());
  return &*started;
}

// A handle of the library's and how it is given back.
template <class Handle>
class Owned {
 public:
  explicit Owned(BlasStatus (*destroy)(Handle)) : destroy_(destroy) {}
  Owned(Owned&& other) noexcept : destroy_(other.destroy_), handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (handle_ != nullptr) destroy_(handle_);
  }
  Handle* address() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  BlasStatus (*destroy_)(Handle);
  Handle handle_ = nullptr;
};

// The library's description of one GEMM.
struct Description {
  explicit Description(const Lt& lt)
      : operation(lt.call.matmul_desc_destroy),
        first(lt.call.matrix_layout_destroy),
        second(lt.call.matrix_layout_destroy),
        c(lt.call.matrix_layout_destroy) {}
  Owned<LtOperation> operation;
  Owned<LtLayout> first, second, c;
};

Result<Description> describe(const Lt& lt, const ColumnMajorGemm& gemm) {
  Description made(lt);
  const auto set = [&](LtOperationAttribute attribute, BlasOperation operation) {
    const int32_t value = operation;
    return check_lt(lt,
                    lt.call.matmul_desc_set_attribute(made.operation.get(), attribute, &value, sizeof value),
                    "cublasLtMatmulDescSetAttribute");
  };
  const auto lay_out = [&](Owned<LtLayout>& layout, int64_t rows, int64_t cols, int64_t ld) {
    return check_lt(lt,
                    lt.call.matrix_layout_create(layout.address(), gemm.type, static_cast<uint64_t>(rows),
                                                 static_cast<uint64_t>(cols), ld),
                    "cublasLtMatrixLayoutCreate");
  };
  KW_TRY_VOID(check_lt(lt, lt.call.matmul_desc_create(made.operation.address(), kBlasComputeF32, kBlasF32),
                       "cublasLtMatmulDescCreate"));
  KW_TRY_VOID(set(kLtTransposeFirst, gemm.first.operation));
  KW_TRY_VOID(set(kLtTransposeSecond, gemm.second.operation));
  KW_TRY_VOID(lay_out(made.first, gemm.first.rows, gemm.first.cols, gemm.first.ld));
  KW_TRY_VOID(lay_out(made.second, gemm.second.rows, gemm.second.cols, gemm.second.ld));
  KW_TRY_VOID(lay_out(made.c, gemm.m, gemm.n, gemm.ldc));
  return made;
}

Result<Owned<LtPreference>> make_preference(const Lt& lt, uint64_t workspace_bytes, uint32_t reductions) {
  Owned<LtPreference> preference(lt.call.matmul_preference_destroy);
  KW_TRY_VOID(
      check_lt(lt, lt.call.matmul_preference_create(preference.address()), "cublasLtMatmulPreferenceCreate"));
  const auto set = [&](LtPreferenceAttribute attribute, const auto& value) {
    return check_lt(
        lt, lt.call.matmul_preference_set_attribute(preference.get(), attribute, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute");
  };
  KW_TRY_VOID(set(kLtMaxWorkspaceBytes, workspace_bytes));
  KW_TRY_VOID(set(kLtReductionMask, reductions));
  for (const auto attribute :
       {kLtMinAlignmentFirst, kLtMinAlignmentSecond, kLtMinAlignmentC, kLtMinAlignmentD})
    KW_TRY_VOID(set(attribute, kAlignment));
  return preference;
}

Result<LtConfig> read_config(const Lt& lt, const LtAlgorithm& algorithm) {
  LtConfig config;
  const auto read = [&](LtConfigAttribute attribute, auto& value) {
    size_t written = 0;
    return check_lt(
        lt, lt.call.matmul_algo_config_get_attribute(&algorithm, attribute, &value, sizeof value, &written),
        "cublasLtMatmulAlgoConfigGetAttribute");
  };
  KW_TRY_VOID(read(kLtConfigAlgorithm, config.algorithm));
  KW_TRY_VOID(read(kLtConfigTile, config.tile));
  KW_TRY_VOID(read(kLtConfigSplitK, config.split_k));
  KW_TRY_VOID(read(kLtConfigReduction, config.reduction));
  KW_TRY_VOID(read(kLtConfigSwizzle, config.swizzle));
  KW_TRY_VOID(read(kLtConfigCustom, config.custom));
  KW_TRY_VOID(read(kLtConfigStages, config.stages));
  KW_TRY_VOID(read(kLtConfigInnerShape, config.inner_shape));
  KW_TRY_VOID(read(kLtConfigCluster, config.cluster));
  return config;
}

// Appends what the heuristic returns, the fastest by its own estimate first.
Status ask_heuristic(const Lt& lt, const Description& gemm, uint64_t workspace_bytes, uint32_t reductions,
                     std::vector<LtChoice>& choices) {
  KW_TRY(const auto preference, make_preference(lt, workspace_bytes, reductions));
  std::array<LtResult, kWanted> results{};
  int returned = 0;
  const BlasStatus status = lt.call.matmul_algo_get_heuristic(
      lt.handle, gemm.operation.get(), gemm.first.get(), gemm.second.get(), gemm.c.get(), gemm.c.get(),
      preference.get(), kWanted, results.data(), &returned);
  if (status == kBlasNotSupported) return {};  // it has none for this GEMM
  KW_TRY_VOID(check_lt(lt, status, "cublasLtMatmulAlgoGetHeuristic"));
  for (int i = 0; i < std::min(returned, kWanted); ++i) {
    const LtResult& result = results[static_cast<size_t>(i)];
    if (result.state != kBlasSuccess) continue;
    KW_TRY(const LtConfig config, read_config(lt, result.algorithm));
    choices.push_back({"", config, result.algorithm, result.workspace_bytes});
  }
  return {};
}

Result<std::vector<LtChoice>> ask_for_all(const Problem& problem) {
  KW_TRY(const Lt* const lt, get_started());
  KW_TRY(const Description gemm, describe(*lt, make_column_major(problem)));
  // A sum joined in a half type may be refused by the verifier; the f32 ways must then be in the list.
  constexpr uint32_t kInF32 = kLtReductionNone | kLtReductionComputeType;
  std::vector<LtChoice> small, large;
  for (const uint32_t reductions : {uint32_t{kLtReductionAll}, kInF32}) {
    KW_TRY_VOID(ask_heuristic(*lt, gemm, kSmallWorkspaceBytes, reductions, small));
    KW_TRY_VOID(ask_heuristic(*lt, gemm, kVendorWorkspaceBytes, reductions, large));
  }
  return join_choices(std::move(small), std::move(large));
}

class CublasLtRoutine final : public VendorRoutine {
 public:
  CublasLtRoutine(const Lt& lt, Description description, const ColumnMajorGemm& gemm, const LtChoice& choice,
                  DevicePointer workspace, size_t workspace_bytes)
      : lt_(lt),
        description_(std::move(description)),
        gemm_(gemm),
        choice_(choice),
        workspace_(workspace),
        workspace_bytes_(workspace_bytes) {}

  Status enqueue(std::span<const DevicePointer> operands, Stream stream) override {
    for (const DevicePointer address : operands)
      if (address % kAlignment != 0)
        return fail("cuBLASLt {}: an operand lies at {:#x}; this algorithm was chosen for multiples of {}",
                    lt_.version, address, kAlignment);
    const auto at = [&](int operand) {
      return reinterpret_cast<void*>(operands[static_cast<size_t>(operand)]);
    };
    void* const c = at(kOutput);
    return check_lt(
        lt_,
        lt_.call.matmul(lt_.handle, description_.operation.get(), &gemm_.alpha, at(gemm_.first.operand),
                        description_.first.get(), at(gemm_.second.operand), description_.second.get(),
                        &gemm_.beta, c, description_.c.get(), c, description_.c.get(), &choice_.algorithm,
                        reinterpret_cast<void*>(workspace_), workspace_bytes_, stream),
        "cublasLtMatmul");
  }

  std::string identity() const override {
    return fmt::format("cuBLASLt {} {} workspace {}", lt_.version, print_lt_config(choice_.config),
                       choice_.workspace_bytes);
  }

 private:
  static constexpr int kOutput = 2;
  const Lt& lt_;
  Description description_;
  ColumnMajorGemm gemm_;
  LtChoice choice_;
  DevicePointer workspace_;
  size_t workspace_bytes_;
};

}  // namespace

std::string print_lt_config(const LtConfig& config) {
  return fmt::format(
      "algorithm {} tile {} stages {} split-K {} reduction {} cluster {} swizzle {} custom {} "
      "inner {}",
      config.algorithm, print_lt_tile(config.tile), print_lt_stages(config.stages), config.split_k,
      print_lt_reduction(config.reduction), print_lt_cluster(config.cluster), config.swizzle, config.custom,
      config.inner_shape);
}

std::vector<LtChoice> join_choices(std::vector<LtChoice> small_workspace,
                                   std::vector<LtChoice> large_workspace) {
  std::vector<LtChoice> all;
  const auto add = [&](std::vector<LtChoice>& from, const char* name) {
    int place = 0;
    for (LtChoice& choice : from) {
      const auto known = [&](const LtChoice& other) { return other.config == choice.config; };
      if (std::any_of(all.begin(), all.end(), known)) continue;
      choice.name = fmt::format("{}{}", name, place++);
      all.push_back(std::move(choice));
    }
  };
  add(small_workspace, "cublaslt_w32_");
  add(large_workspace, "cublaslt_w256_");
  return all;
}

VendorLibrary find_cublaslt() {
  const Result<Lt>& lt = get_library();
  if (!lt) return {"cublaslt", "", lt.error().message};
  return {"cublaslt", lt->version, ""};
}

Result<std::vector<LtChoice>> list_cublaslt(const Problem& problem) {
  struct Kept {
    Problem problem;
    std::vector<LtChoice> choices;
  };
  static thread_local std::list<Kept> kept;
  for (const Kept& one : kept)
    if (one.problem == problem) return one.choices;
  KW_TRY(std::vector<LtChoice> choices, ask_for_all(problem));
  kept.push_front({problem, choices});
  if (kept.size() > kKeptLists) kept.pop_back();
  return choices;
}

Result<std::unique_ptr<VendorRoutine>> open_cublaslt(const LtChoice& choice, const Problem& problem,
                                                     DevicePointer workspace, size_t workspace_bytes) {
  KW_TRY(const Lt* const lt, get_started());
  if (choice.workspace_bytes > workspace_bytes)
    return fail("{} needs {} bytes of workspace, {} are there", choice.name, choice.workspace_bytes,
                workspace_bytes);
  const ColumnMajorGemm gemm = make_column_major(problem);
  KW_TRY(Description description, describe(*lt, gemm));
  return std::make_unique<CublasLtRoutine>(*lt, std::move(description), gemm, choice, workspace,
                                           workspace_bytes);
}

}  // namespace kw::cuda
