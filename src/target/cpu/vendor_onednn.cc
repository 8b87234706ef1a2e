// oneDNN: a matmul primitive on plain strided layouts, created once, executed per call. In: a GEMM and
// operand sets. Out: a VendorRoutine. Called by vendor.cc. Verified with 2.6.3 (Debian 12) and 3.2.0, both on
// OpenMP.
#include <utility>

#include "base/check.h"
#include "target/cpu/vendor_backend.h"
#include "target/cpu/vendor_onednn_api.h"

namespace kw {
namespace {

using onednn::Api;
using onednn::Descriptor;

Status check_answer(int status, const char* step) {
  if (status == onednn::kSuccess) return {};
  if (status == onednn::kUnimplemented)
    return fail("{}: not implemented for these layouts and scalars", step);
  return fail("{}: status {}", step, status);
}

class OnednnRoutine : public VendorRoutine {
 public:
  explicit OnednnRoutine(Api api) : api_(std::move(api)) {}
  ~OnednnRoutine() override;

  Status prepare(const Problem& problem, OperandSets sets);

  void call(int set) override {
    const std::vector<onednn::Argument>& arguments = arguments_[static_cast<size_t>(set)];
    const int ran =
        api_.primitive_execute(primitive_, stream_, static_cast<int>(arguments.size()), arguments.data());
    const int waited = api_.stream_wait(stream_);
    KW_CHECK(ran == onednn::kSuccess && waited == onednn::kSuccess, "execute {} wait {}", ran, waited);
  }

  std::string algorithm() const override { return implementation_; }

 private:
  Status describe_matrix(Descriptor& descriptor, int64_t rows, int64_t cols, int64_t ld, bool transposed);
  Status describe_scalars(const Problem& problem);
  Status make_primitive(const Descriptor& a, const Descriptor& b, const Descriptor& c);
  Status make_arguments(const Descriptor& a, const Descriptor& b, const Descriptor& c, OperandSets sets);
  Result<onednn::Memory> make_memory(const Descriptor& descriptor, void* data);
  void destroy_descriptor(Descriptor& descriptor);
  const void* get_pointer(const Descriptor& descriptor) const {
    return api_.major == 2 ? static_cast<const void*>(descriptor.bytes) : descriptor.handle;
  }

  Api api_;
  onednn::Engine engine_ = nullptr;
  onednn::Stream stream_ = nullptr;
  onednn::Attributes attributes_ = nullptr;
  onednn::PostOps post_ops_ = nullptr;
  onednn::PrimitiveDesc primitive_desc_ = nullptr;
  onednn::Primitive primitive_ = nullptr;
  std::vector<onednn::Memory> memories_;
  std::vector<std::vector<onednn::Argument>> arguments_;  // per set
  Descriptor a_, b_, c_, scalar_;
  float alpha_ = 1;
  std::string implementation_;
};

OnednnRoutine::~OnednnRoutine() {
  if (primitive_ != nullptr) api_.primitive_destroy(primitive_);
  if (primitive_desc_ != nullptr) api_.primitive_desc_destroy(primitive_desc_);
  for (onednn::Memory memory : memories_) api_.memory_destroy(memory);
  for (Descriptor* descriptor : {&a_, &b_, &c_, &scalar_}) destroy_descriptor(*descriptor);
  if (post_ops_ != nullptr) api_.post_ops_destroy(post_ops_);
  if (attributes_ != nullptr) api_.attr_destroy(attributes_);
  if (stream_ != nullptr) api_.stream_destroy(stream_);
  if (engine_ != nullptr) api_.engine_destroy(engine_);
}

void OnednnRoutine::destroy_descriptor(Descriptor& descriptor) {
  if (api_.major == 3 && descriptor.handle != nullptr) api_.memory_desc_destroy_v3(descriptor.handle);
  descriptor.handle = nullptr;
}

// Logical rows x cols; `ld` elements between rows, or between columns when stored transposed.
Status OnednnRoutine::describe_matrix(Descriptor& descriptor, int64_t rows, int64_t cols, int64_t ld,
                                      bool transposed) {
  const int64_t sizes[onednn::kMaxDims] = {rows, cols};
  const int64_t strides[onednn::kMaxDims] = {transposed ? 1 : ld, transposed ? ld : 1};
  if (api_.major == 2) {
    KW_TRY_VOID(check_answer(api_.memory_desc_init_v2(descriptor.bytes, 2, sizes, onednn::kF32, strides),
                             "describe a matrix"));
  } else {
    KW_TRY_VOID(check_answer(api_.memory_desc_create_v3(&descriptor.handle, 2, sizes, onednn::kF32, strides),
                             "describe a matrix"));
  }
  return {};
}

// beta: a sum post-op. alpha: output scales (2), a scale of the source given at execution (3).
Status OnednnRoutine::describe_scalars(const Problem& problem) {
  alpha_ = static_cast<float>(problem.alpha);
  const auto beta = static_cast<float>(problem.beta);
  KW_TRY_VOID(check_answer(api_.attr_create(&attributes_), "create the attributes"));
  if (alpha_ != 1) {
    if (api_.major == 2) {
      KW_TRY_VOID(check_answer(api_.set_output_scales_v2(attributes_, 1, 0, &alpha_), "set alpha"));
    } else {
      KW_TRY_VOID(check_answer(api_.set_scales_mask_v3(attributes_, onednn::kArgSource, 0), "set alpha"));
    }
  }
  if (beta != 0) {
    KW_TRY_VOID(check_answer(api_.post_ops_create(&post_ops_), "create the post-ops"));
    if (api_.major == 2) {
      KW_TRY_VOID(check_answer(api_.append_sum_v2(post_ops_, beta), "set beta"));
    } else {
      KW_TRY_VOID(check_answer(api_.append_sum_v3(post_ops_, beta, 0, onednn::kF32), "set beta"));
    }
    KW_TRY_VOID(check_answer(api_.attr_set_post_ops(attributes_, post_ops_), "set the post-ops"));
  }
  return {};
}

Status OnednnRoutine::make_primitive(const Descriptor& a, const Descriptor& b, const Descriptor& c) {
  if (api_.major == 2) {
    Descriptor matmul;
    KW_TRY_VOID(check_answer(api_.matmul_desc_init_v2(matmul.bytes, a.bytes, b.bytes, nullptr, c.bytes),
                             "describe the matmul"));
    KW_TRY_VOID(check_answer(
        api_.primitive_desc_create_v2(&primitive_desc_, matmul.bytes, attributes_, engine_, nullptr),
        "choose the matmul"));
  } else {
    KW_TRY_VOID(check_answer(api_.matmul_primitive_desc_create_v3(&primitive_desc_, engine_, a.handle,
                                                                  b.handle, nullptr, c.handle, attributes_),
                             "choose the matmul"));
  }
  KW_TRY_VOID(check_answer(api_.primitive_create(&primitive_, primitive_desc_), "create the matmul"));
  const char* name = nullptr;
  KW_TRY_VOID(check_answer(api_.primitive_desc_query(primitive_desc_, onednn::kQueryImplementation, 0, &name),
                           "ask for the implementation"));
  implementation_ = name == nullptr ? "unknown" : name;
  return {};
}

Result<onednn::Memory> OnednnRoutine::make_memory(const Descriptor& descriptor, void* data) {
  onednn::Memory memory = nullptr;
  KW_TRY_VOID(
      check_answer(api_.memory_create(&memory, get_pointer(descriptor), engine_, data), "wrap an operand"));
  memories_.push_back(memory);
  return memory;
}

Status OnednnRoutine::make_arguments(const Descriptor& a, const Descriptor& b, const Descriptor& c,
                                     OperandSets sets) {
  onednn::Memory scale = nullptr;
  if (api_.major == 3 && alpha_ != 1) {
    const int64_t size[onednn::kMaxDims] = {1};
    KW_TRY_VOID(check_answer(api_.memory_desc_create_v3(&scalar_.handle, 1, size, onednn::kF32, size),
                             "describe a matrix"));
    KW_TRY(scale, make_memory(scalar_, &alpha_));
  }
  for (const std::vector<void*>& set : sets) {
    KW_CHECK(set.size() == 3, "a GEMM has 3 operands, got {}", set.size());
    std::vector<onednn::Argument> arguments;
    KW_TRY(const auto source, make_memory(a, set[0]));
    KW_TRY(const auto weights, make_memory(b, set[1]));
    KW_TRY(const auto destination, make_memory(c, set[2]));
    arguments.push_back({onednn::kArgSource, source});
    arguments.push_back({onednn::kArgWeights, weights});
    arguments.push_back({onednn::kArgDestination, destination});
    if (scale != nullptr) arguments.push_back({onednn::kArgScales | onednn::kArgSource, scale});
    arguments_.push_back(std::move(arguments));
  }
  return {};
}

Status OnednnRoutine::prepare(const Problem& problem, OperandSets sets) {
  KW_TRY_VOID(check_answer(api_.engine_create(&engine_, onednn::kEngineCpu, 0), "create the engine"));
  KW_TRY_VOID(
      check_answer(api_.stream_create(&stream_, engine_, onednn::kStreamInOrder), "create the stream"));
  KW_TRY_VOID(describe_matrix(a_, problem.m, problem.k, problem.lda, is_a_transposed(problem.layout)));
  KW_TRY_VOID(describe_matrix(b_, problem.k, problem.n, problem.ldb, is_b_transposed(problem.layout)));
  KW_TRY_VOID(describe_matrix(c_, problem.m, problem.n, problem.ldc, false));
  KW_TRY_VOID(describe_scalars(problem));
  KW_TRY_VOID(make_primitive(a_, b_, c_));
  return make_arguments(a_, b_, c_, sets);
}

// How oneDNN gets its threads; OpenMP's count belongs to the calling thread and is baked into the primitive.
Status set_threads(const Api& api, int threads) {
  const unsigned runtime = api.version()->cpu_runtime;
  if (runtime == onednn::kRuntimeSequential && threads == 1) return {};
  if (runtime != onednn::kRuntimeOpenmp || api.omp_set_num_threads == nullptr ||
      api.omp_get_max_threads == nullptr) {
    return fail(
        "{} was built for CPU runtime {} and cannot be told to use {} thread{}: use a build for OpenMP",
        api.path, runtime, threads, threads == 1 ? "" : "s");
  }
  api.omp_set_num_threads(threads);
  if (api.omp_get_max_threads() != threads) {
    return fail("OpenMP gives {} threads where {} were asked for: raise OMP_THREAD_LIMIT",
                api.omp_get_max_threads(), threads);
  }
  return {};
}

VendorInfo find_onednn() {
  VendorInfo info{.name = "onednn"};
  auto api = onednn::load_api();
  if (!api) {
    info.missing = api.error().message;
    return info;
  }
  const onednn::Version& version = *api->version();
  info.path = api->path;
  info.version = fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  return info;
}

std::optional<std::string> find_onednn_refusal(const Problem& problem) {
  if (problem.m == 0 || problem.n == 0 || problem.k == 0) {
    return "an empty product: oneDNN does no work, so beta * C would be left out; openblas computes it";
  }
  if (static_cast<float>(problem.alpha) == 0) {
    return "alpha = 0: oneDNN multiplies by it where BLAS must not read A and B (NaN); openblas computes it";
  }
  return std::nullopt;
}

Result<std::unique_ptr<VendorRoutine>> open_onednn(const Problem& problem, int threads, OperandSets sets) {
  KW_TRY(Api api, onednn::load_api());
  KW_TRY_VOID(set_threads(api, threads));
  auto routine = std::make_unique<OnednnRoutine>(std::move(api));
  KW_TRY_VOID(routine->prepare(problem, sets));
  return routine;
}

}  // namespace

const VendorBackend kOnednn = {"onednn", find_onednn, find_onednn_refusal, open_onednn};

}  // namespace kw
