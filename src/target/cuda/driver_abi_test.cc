// Our declarations against the toolkit's own, where its header is installed; else only the sizes the ABI
// fixes.
#include "target/cuda/driver_abi.h"

#include <gtest/gtest.h>

#include "target/cuda/driver.h"

#if __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#define KW_HAS_CUDA_H 1
#endif

namespace kw::cuda {
namespace {

TEST(DriverAbi, has_the_sizes_that_the_driver_expects) {
  EXPECT_EQ(sizeof(LaunchAttribute), 72u);
  EXPECT_EQ(sizeof(LaunchConfig), 56u);
  EXPECT_EQ(sizeof(EncodedTensorMap), 128u);
  EXPECT_EQ(alignof(EncodedTensorMap), 64u);
}

TEST(Driver, says_what_is_missing_or_loads) {
  const auto driver = Driver::load();
  if (driver) {
    EXPECT_NE((*driver)->launch_kernel, nullptr);
  } else {
    EXPECT_NE(driver.error().message.find("driver"), std::string::npos) << driver.error().message;
  }
}

#ifdef KW_HAS_CUDA_H
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(EncodedTensorMap) == sizeof(CUtensorMap));
static_assert(+kClusterDimension == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(+kProgrammaticSerialization == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(+kTensorF16 == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 &&
              +kTensorBf16 == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(+kTensorF32 == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 &&
              +kTensorF64 == CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
static_assert(+kSwizzle128 == CU_TENSOR_MAP_SWIZZLE_128B &&
              kL2Promotion256 == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(+kMaxSharedBytesPerBlock == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(+kMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT &&
              +kClockKhz == CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
static_assert(+kL2Bytes == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(+kComputeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(+kComputeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(+kFunctionSharedBytes == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(+kFunctionLocalBytes == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(+kFunctionRegisters == CU_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(+kFunctionMaxDynamicSharedBytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(+kFunctionNonPortableCluster == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(kErrorIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS &&
              kErrorLaunchFailed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(kErrorIllegalInstruction == CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(kErrorMisalignedAddress == CUDA_ERROR_MISALIGNED_ADDRESS &&
              kErrorInvalidPc == CUDA_ERROR_INVALID_PC);
static_assert(kErrorHardwareStack == CUDA_ERROR_HARDWARE_STACK_ERROR);
static_assert(kErrorInvalidAddressSpace == CUDA_ERROR_INVALID_ADDRESS_SPACE);
static_assert(kErrorOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY &&
              kErrorInvalidImage == CUDA_ERROR_INVALID_IMAGE);
static_assert(kErrorNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU && kErrorNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(kErrorLaunchTimeout == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING &&
              kRegisterPortable == CU_MEMHOSTREGISTER_PORTABLE);
static_assert(kCaptureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp) &&
              offsetof(AllocationProperties, location) == offsetof(CUmemAllocationProp, location) &&
              offsetof(AllocationProperties, flags) == offsetof(CUmemAllocationProp, allocFlags));
static_assert(sizeof(AccessDescriptor) == sizeof(CUmemAccessDesc) &&
              offsetof(AccessDescriptor, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(AllocationProperties().type == CU_MEM_ALLOCATION_TYPE_PINNED &&
              MemoryLocation().type == CU_MEM_LOCATION_TYPE_DEVICE &&
              AccessDescriptor().flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(sizeof(AllocationHandle) == sizeof(CUmemGenericAllocationHandle));
static_assert(+kFunctionCarveout == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
static_assert(kErrorAssert == CUDA_ERROR_ASSERT && kErrorUnknown == CUDA_ERROR_UNKNOWN);
#endif

}  // namespace
}  // namespace kw::cuda
