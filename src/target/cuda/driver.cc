#include "target/cuda/driver.h"

#include <dlfcn.h>

namespace kw::cuda {
namespace {

// The exported name of each function: the version that stands since CUDA 12.
struct Symbols {
  void* library;
  std::string missing;  // of the first that is not there

  template <class Function>
  void take(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  }
};

void take_memory(Symbols& symbols, Driver& driver) {
  symbols.take(driver.mem_alloc, "cuMemAlloc_v2");
  symbols.take(driver.mem_free, "cuMemFree_v2");
  symbols.take(driver.mem_address_reserve, "cuMemAddressReserve");
  symbols.take(driver.mem_address_free, "cuMemAddressFree");
  symbols.take(driver.mem_create, "cuMemCreate");
  symbols.take(driver.mem_release, "cuMemRelease");
  symbols.take(driver.mem_map, "cuMemMap");
  symbols.take(driver.mem_unmap, "cuMemUnmap");
  symbols.take(driver.mem_set_access, "cuMemSetAccess");
  symbols.take(driver.mem_get_info, "cuMemGetInfo_v2");
  symbols.take(driver.mem_host_register, "cuMemHostRegister_v2");
  symbols.take(driver.mem_host_unregister, "cuMemHostUnregister");
  symbols.take(driver.memcpy_to_device, "cuMemcpyHtoDAsync_v2");
  symbols.take(driver.memcpy_to_host, "cuMemcpyDtoHAsync_v2");
  symbols.take(driver.memcpy_on_device, "cuMemcpyDtoDAsync_v2");
  symbols.take(driver.memset_d32, "cuMemsetD32Async");
}

void take_device(Symbols& symbols, Driver& driver) {
  symbols.take(driver.init, "cuInit");
  symbols.take(driver.driver_get_version, "cuDriverGetVersion");
  symbols.take(driver.device_get_count, "cuDeviceGetCount");
  symbols.take(driver.device_get, "cuDeviceGet");
  symbols.take(driver.device_get_name, "cuDeviceGetName");
  symbols.take(driver.device_get_attribute, "cuDeviceGetAttribute");
  symbols.take(driver.device_total_mem, "cuDeviceTotalMem_v2");
  symbols.take(driver.primary_context_retain, "cuDevicePrimaryCtxRetain");
  symbols.take(driver.context_set_current, "cuCtxSetCurrent");
  symbols.take(driver.context_synchronize, "cuCtxSynchronize");
  symbols.take(driver.get_error_name, "cuGetErrorName");
  symbols.take(driver.get_error_string, "cuGetErrorString");
}

void take_launching(Symbols& symbols, Driver& driver) {
  symbols.take(driver.module_load_data, "cuModuleLoadData");
  symbols.take(driver.module_unload, "cuModuleUnload");
  symbols.take(driver.module_get_function, "cuModuleGetFunction");
  symbols.take(driver.function_get_attribute, "cuFuncGetAttribute");
  symbols.take(driver.function_set_attribute, "cuFuncSetAttribute");
  symbols.take(driver.launch_kernel, "cuLaunchKernelEx");
  symbols.take(driver.tensor_map_encode, "cuTensorMapEncodeTiled");
  symbols.take(driver.stream_create, "cuStreamCreate");
  symbols.take(driver.stream_destroy, "cuStreamDestroy_v2");
  symbols.take(driver.stream_synchronize, "cuStreamSynchronize");
  symbols.take(driver.stream_begin_capture, "cuStreamBeginCapture_v2");
  symbols.take(driver.stream_end_capture, "cuStreamEndCapture");
  symbols.take(driver.graph_instantiate, "cuGraphInstantiateWithFlags");
  symbols.take(driver.graph_upload, "cuGraphUpload");
  symbols.take(driver.graph_launch, "cuGraphLaunch");
  symbols.take(driver.graph_destroy, "cuGraphDestroy");
  symbols.take(driver.graph_exec_destroy, "cuGraphExecDestroy");
  symbols.take(driver.event_create, "cuEventCreate");
  symbols.take(driver.event_record, "cuEventRecord");
  symbols.take(driver.event_synchronize, "cuEventSynchronize");
  symbols.take(driver.event_elapsed_ms, "cuEventElapsedTime");
  symbols.take(driver.event_destroy, "cuEventDestroy_v2");
}

Result<Driver> open() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail("no NVIDIA driver: libcuda.so.1 cannot be loaded ({}); install the driver of the GPU",
                ::dlerror());
  Driver driver{};
  Symbols symbols{library, {}};
  take_device(symbols, driver);
  take_memory(symbols, driver);
  take_launching(symbols, driver);
  if (!symbols.missing.empty())
    return fail("the NVIDIA driver is too old: it has no {}; CUDA 12.4 or newer is needed", symbols.missing);
  if (const DriverResult result = driver.init(0); result != 0)
    return fail("the NVIDIA driver does not start: {}", driver.explain(result));
  return driver;
}

}  // namespace

Result<const Driver*> Driver::load() {
  static const Result<Driver> driver = open();
  if (!driver) return tl::unexpected(driver.error());
  return &*driver;
}

std::string Driver::explain(DriverResult result) const {
  const char *name = nullptr, *text = nullptr;
  if (get_error_name(result, &name) != 0 || name == nullptr) return fmt::format("CUDA error {}", result);
  if (get_error_string(result, &text) != 0 || text == nullptr) return name;
  return fmt::format("{} ({})", name, text);
}

Status check_driver(const Driver& driver, DriverResult result, const char* what) {
  if (result == 0) return {};
  return fail("{}: {}", what, driver.explain(result));
}

}  // namespace kw::cuda
