// A CUDA driver without a GPU, for tests of the whole cuda target: libcuda.so.1 in a folder of its own, found
// by LD_LIBRARY_PATH. Out: one made-up device whose memory is the host's (fake_memory.cc), whose streams run
// at once (fake_stream.cc) and whose clock is the host's. No kernel runs: candidates' modules are refused,
// the program's own kernels do nothing, as none of them changes what anybody reads. For one thread at a time,
// as the worker calls it. No figure measured on it says anything about any GPU.
#include "fake_driver.h"

#include <cstring>
#include <string_view>

#include "target/cuda/driver.h"

namespace kw::cuda {

struct FunctionTag {
  const char* name;
};

}  // namespace kw::cuda

namespace kw::fake {
namespace {

using cuda::Context;
using cuda::DriverResult;
using cuda::Function;
using cuda::Module;

constexpr int kVersion = 12080;
constexpr const char* kName = "Fake GPU (no figure of it means anything)";

bool started = false;
char context_place, module_place;  // handles are their addresses

// Kernels of the program itself that may do nothing here.
cuda::FunctionTag own_functions[] = {{"kw_empty"}, {"kw_flush"}};

constexpr struct {
  DriverResult result;
  const char *name, *text;
} kErrors[] = {{0, "CUDA_SUCCESS", "no error"},
               {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
               {cuda::kErrorOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
               {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
               {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
               {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
               {cuda::kErrorNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
               {cuda::kErrorIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
                "an illegal memory access was encountered (planned, in the fake driver)"},
               {kNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "memory was not registered"},
               {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "not supported: the fake driver runs no kernels"},
               {kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
                "operation not permitted when stream is capturing"},
               {kCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
                "operation failed due to a previous error during capture"}};

}  // namespace

extern "C" {

DriverResult cuInit(unsigned flags) {
  if (flags != 0 || !note_start()) return kInvalidValue;
  started = true;
  return 0;
}

DriverResult cuDriverGetVersion(int* version) {
  *version = kVersion;
  return 0;
}

DriverResult cuDeviceGetCount(int* count) {
  *count = 1;
  return started ? 0 : kNotInitialized;
}

DriverResult cuDeviceGet(cuda::DeviceHandle* device, int ordinal) {
  *device = 0;
  if (!started) return kNotInitialized;
  return ordinal == 0 ? 0 : kInvalidDevice;
}

DriverResult cuDeviceGetName(char* name, int length, cuda::DeviceHandle device) {
  if (device != 0 || length < 1) return kInvalidDevice;
  const size_t size = std::string_view(kName).copy(name, static_cast<size_t>(length - 1));
  name[size] = '\0';
  return 0;
}

// A small cache, so that few operand sets are needed to be larger than it.
DriverResult cuDeviceGetAttribute(int* value, int attribute, cuda::DeviceHandle device) {
  if (device != 0) return kInvalidDevice;
  switch (attribute) {
    case cuda::kMaxSharedBytesPerBlock:
      return *value = 227 << 10, 0;
    case cuda::kMultiprocessors:
      return *value = 4, 0;
    case cuda::kClockKhz:
      return *value = 1'000'000, 0;
    case cuda::kL2Bytes:
      return *value = 1 << 20, 0;
    case cuda::kComputeMajor:
      return *value = 9, 0;
    case cuda::kComputeMinor:
      return *value = 0, 0;
    default:
      return kInvalidValue;
  }
}

DriverResult cuDevicePrimaryCtxRetain(Context* context, cuda::DeviceHandle device) {
  *context = reinterpret_cast<Context>(&context_place);
  return device == 0 ? 0 : kInvalidDevice;
}

DriverResult cuCtxSetCurrent(Context) { return get_fault(); }

DriverResult cuCtxSynchronize() { return check_idle(); }

// Candidates come as machine code, the program's own kernels as text.
DriverResult cuModuleLoadData(Module* module, const void* image) {
  if (const DriverResult result = check_idle(); result != 0) return result;
  if (std::memcmp(image, "\177ELF", 4) == 0) return kNotSupported;
  *module = reinterpret_cast<Module>(&module_place);
  return 0;
}

DriverResult cuModuleUnload(Module) { return get_fault(); }

DriverResult cuModuleGetFunction(Function* function, Module module, const char* name) {
  if (module != reinterpret_cast<Module>(&module_place)) return kInvalidHandle;
  for (cuda::FunctionTag& own : own_functions)
    if (std::strcmp(own.name, name) == 0) return *function = &own, 0;
  return cuda::kErrorNotFound;
}

DriverResult cuFuncGetAttribute(int* value, int, Function) {
  *value = 0;
  return get_fault();
}

DriverResult cuFuncSetAttribute(Function, int, int) { return get_fault(); }

DriverResult cuLaunchKernelEx(const cuda::LaunchConfig* config, Function function, void**, void**) {
  for (const cuda::FunctionTag& own : own_functions)
    if (function == &own) return launch(config->stream, [] {});
  return kInvalidHandle;
}

DriverResult cuTensorMapEncodeTiled(cuda::EncodedTensorMap*, int, uint32_t, void*, const uint64_t*,
                                    const uint64_t*, const uint32_t*, const uint32_t*, int, int, int, int) {
  return kNotSupported;
}

DriverResult cuGetErrorName(DriverResult result, const char** text) {
  for (const auto& error : kErrors)
    if (error.result == result) return *text = error.name, 0;
  return kInvalidValue;
}

DriverResult cuGetErrorString(DriverResult result, const char** text) {
  for (const auto& error : kErrors)
    if (error.result == result) return *text = error.text, 0;
  return kInvalidValue;
}

}  // extern "C"

namespace {

// Compiles only while these functions are of the types through which the program calls them.
[[maybe_unused]] constexpr cuda::Driver kTypes = {.init = cuInit,
                                                  .driver_get_version = cuDriverGetVersion,
                                                  .device_get_count = cuDeviceGetCount,
                                                  .device_get = cuDeviceGet,
                                                  .device_get_name = cuDeviceGetName,
                                                  .device_get_attribute = cuDeviceGetAttribute,
                                                  .primary_context_retain = cuDevicePrimaryCtxRetain,
                                                  .context_set_current = cuCtxSetCurrent,
                                                  .context_synchronize = cuCtxSynchronize,
                                                  .module_load_data = cuModuleLoadData,
                                                  .module_unload = cuModuleUnload,
                                                  .module_get_function = cuModuleGetFunction,
                                                  .function_get_attribute = cuFuncGetAttribute,
                                                  .function_set_attribute = cuFuncSetAttribute,
                                                  .launch_kernel = cuLaunchKernelEx,
                                                  .tensor_map_encode = cuTensorMapEncodeTiled,
                                                  .get_error_name = cuGetErrorName,
                                                  .get_error_string = cuGetErrorString};

}  // namespace
}  // namespace kw::fake
