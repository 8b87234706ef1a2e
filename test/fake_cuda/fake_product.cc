// See fake_product.h. Inputs become float, sums are float in the order of k, the result is rounded once.
#include "fake_product.h"

#include <memory>
#include <span>
#include <vector>

#include "fake_driver.h"
#include "record/element.h"

namespace kw::fake {
namespace {

using cuda::BlasStatus;
using cuda::ColumnMajorInput;

Dtype find_dtype(int type) {
  if (type == cuda::kBlasF16) return Dtype::kF16;
  return type == cuda::kBlasBf16 ? Dtype::kBf16 : Dtype::kF32;
}

// Elements from `start` on, without an end: the caller knows how many there are.
std::span<std::byte> view(const void* start) {
  constexpr size_t kNoEnd = size_t{1} << 46;
  return {static_cast<std::byte*>(const_cast<void*>(start)), kNoEnd};
}

// op(input), (rows, cols), column-major without gaps.
std::vector<float> load(const ColumnMajorInput& input, const void* start, Dtype dtype, int64_t rows,
                        int64_t cols) {
  const bool transposed = input.operation == cuda::kBlasTransposed;
  std::vector<float> values;
  values.reserve(static_cast<size_t>(rows * cols));
  for (int64_t col = 0; col < cols; ++col)
    for (int64_t row = 0; row < rows; ++row)
      values.push_back(static_cast<float>(
          load_element(dtype, view(start), transposed ? col + row * input.ld : row + col * input.ld)));
  return values;
}

void compute(const Product& product) {
  const cuda::ColumnMajorGemm& gemm = product.gemm;
  const Dtype dtype = find_dtype(gemm.type);
  const std::vector<float> first = load(gemm.first, product.first, dtype, gemm.m, gemm.k);
  const std::vector<float> second = load(gemm.second, product.second, dtype, gemm.k, gemm.n);
  std::vector<float> sums(static_cast<size_t>(gemm.m));
  for (int64_t col = 0; col < gemm.n; ++col) {
    sums.assign(sums.size(), 0);
    for (int64_t at = 0; at < product.summed_k; ++at) {
      const float* const column = first.data() + at * gemm.m;
      const float factor = second[static_cast<size_t>(col * gemm.k + at)];
      for (size_t row = 0; row < sums.size(); ++row) sums[row] += column[row] * factor;
    }
    for (size_t row = 0; row < sums.size(); ++row) {
      const int64_t place = col * gemm.ldc + static_cast<int64_t>(row);
      float value = gemm.alpha * sums[row];
      if (gemm.beta != 0)
        value += gemm.beta * static_cast<float>(load_element(dtype, view(product.c), place));
      store_element(dtype, view(product.c), place, static_cast<double>(value));
    }
  }
}

bool holds(const ColumnMajorInput& input, int64_t rows, int64_t cols) {
  return input.ld >= (input.operation == cuda::kBlasTransposed ? cols : rows);
}

bool is_well_formed(const Product& product) {
  const cuda::ColumnMajorGemm& gemm = product.gemm;
  const bool type_known = find_dtype(gemm.type) != Dtype::kF32 || gemm.type == cuda::kBlasF32;
  return type_known && gemm.m > 0 && gemm.n > 0 && gemm.k > 0 && gemm.ldc >= gemm.m &&
         holds(gemm.first, gemm.m, gemm.k) && holds(gemm.second, gemm.k, gemm.n) &&
         product.first != nullptr && product.second != nullptr && product.c != nullptr;
}

// Computing again changes nothing but the time, as long as C is not read: then once must do.
void run(void* argument) {
  const auto& product = *static_cast<const Product*>(argument);
  const int times = product.gemm.beta == 0 ? product.times_computed : 1;
  for (int done = 0; done < times; ++done) compute(product);
}

void release(void* argument) { delete static_cast<Product*>(argument); }

constexpr struct {
  BlasStatus status;
  const char *name, *text;
} kStatuses[] = {
    {cuda::kBlasSuccess, "CUBLAS_STATUS_SUCCESS", "success"},
    {kBlasNotInitialized, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {kBlasInvalidValue, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter"},
    {kBlasExecutionFailed, "CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"},
    {kBlasInternalError, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {cuda::kBlasNotSupported, "CUBLAS_STATUS_NOT_SUPPORTED", "not supported"}};

}  // namespace

BlasStatus enqueue_product(const Product& product, cuda::Stream stream) {
  if (!is_well_formed(product)) return kBlasInvalidValue;
  const auto result = fake_cuda_launch(stream, run, std::make_unique<Product>(product).release(), release);
  return result == 0 ? cuda::kBlasSuccess : kBlasExecutionFailed;
}

const char* find_status_name(BlasStatus status) {
  for (const auto& one : kStatuses)
    if (one.status == status) return one.name;
  return "unknown status";
}

const char* find_status_text(BlasStatus status) {
  for (const auto& one : kStatuses)
    if (one.status == status) return one.text;
  return "unknown status";
}

}  // namespace kw::fake
