// libcuda, loaded at run time: one binary starts on machines with and without a GPU. In: nothing. Out: a
// table of the driver's functions, or why there is none. Called by the cuda worker, facts and doctor; runs
// nothing itself.
#pragma once

#include <string>

#include "base/result.h"
#include "target/cuda/driver_abi.h"

namespace kw::cuda {

struct Driver {
  // The driver's functions under their own names, without the prefix.
  DriverResult (*init)(unsigned flags);
  DriverResult (*driver_get_version)(int* version);
  DriverResult (*device_get_count)(int* count);
  DriverResult (*device_get)(DeviceHandle* device, int ordinal);
  DriverResult (*device_get_name)(char* name, int length, DeviceHandle device);
  DriverResult (*device_get_attribute)(int* value, int attribute, DeviceHandle device);
  DriverResult (*device_total_mem)(size_t* bytes, DeviceHandle device);
  DriverResult (*primary_context_retain)(Context* context, DeviceHandle device);
  DriverResult (*context_set_current)(Context context);
  DriverResult (*context_synchronize)();
  DriverResult (*mem_alloc)(DevicePointer* pointer, size_t bytes);
  DriverResult (*mem_free)(DevicePointer pointer);
  DriverResult (*mem_address_reserve)(DevicePointer* pointer, size_t bytes, size_t alignment,
                                      DevicePointer wanted, unsigned long long flags);
  DriverResult (*mem_address_free)(DevicePointer pointer, size_t bytes);
  DriverResult (*mem_create)(AllocationHandle* handle, size_t bytes, const AllocationProperties* properties,
                             unsigned long long flags);
  DriverResult (*mem_release)(AllocationHandle handle);
  DriverResult (*mem_map)(DevicePointer pointer, size_t bytes, size_t offset, AllocationHandle handle,
                          unsigned long long flags);
  DriverResult (*mem_unmap)(DevicePointer pointer, size_t bytes);
  DriverResult (*mem_set_access)(DevicePointer pointer, size_t bytes, const AccessDescriptor* access,
                                 size_t count);
  DriverResult (*mem_get_info)(size_t* free_bytes, size_t* total_bytes);
  DriverResult (*mem_host_register)(void* pointer, size_t bytes, unsigned flags);
  DriverResult (*mem_host_unregister)(void* pointer);
  DriverResult (*memcpy_to_device)(DevicePointer to, const void* from, size_t bytes, Stream stream);
  DriverResult (*memcpy_to_host)(void* to, DevicePointer from, size_t bytes, Stream stream);
  DriverResult (*memcpy_on_device)(DevicePointer to, DevicePointer from, size_t bytes, Stream stream);
  DriverResult (*memset_d32)(DevicePointer to, unsigned value, size_t count, Stream stream);
  DriverResult (*module_load_data)(Module* module, const void* image);
  DriverResult (*module_unload)(Module module);
  DriverResult (*module_get_function)(Function* function, Module module, const char* name);
  DriverResult (*function_get_attribute)(int* value, int attribute, Function function);
  DriverResult (*function_set_attribute)(Function function, int attribute, int value);
  DriverResult (*launch_kernel)(const LaunchConfig* config, Function function, void** parameters,
                                void** extra);
  DriverResult (*stream_create)(Stream* stream, unsigned flags);
  DriverResult (*stream_destroy)(Stream stream);
  DriverResult (*stream_synchronize)(Stream stream);
  DriverResult (*stream_begin_capture)(Stream stream, int mode);
  DriverResult (*stream_end_capture)(Stream stream, Graph* graph);
  DriverResult (*graph_instantiate)(GraphExec* exec, Graph graph, unsigned long long flags);
  DriverResult (*graph_upload)(GraphExec exec, Stream stream);
  DriverResult (*graph_launch)(GraphExec exec, Stream stream);
  DriverResult (*graph_destroy)(Graph graph);
  DriverResult (*graph_exec_destroy)(GraphExec exec);
  DriverResult (*event_create)(Event* event, unsigned flags);
  DriverResult (*event_record)(Event event, Stream stream);
  DriverResult (*event_synchronize)(Event event);
  DriverResult (*event_elapsed_ms)(float* ms, Event start, Event stop);
  DriverResult (*event_destroy)(Event event);
  DriverResult (*tensor_map_encode)(EncodedTensorMap* map, int type, uint32_t rank, void* address,
                                    const uint64_t* sizes, const uint64_t* stride_bytes, const uint32_t* box,
                                    const uint32_t* element_strides, int interleave, int swizzle,
                                    int l2_promotion, int fill);
  DriverResult (*get_error_name)(DriverResult result, const char** text);
  DriverResult (*get_error_string)(DriverResult result, const char** text);

  // Loads libcuda and initialises it, once in a process. The error says what is missing and how to get it.
  [[nodiscard]] static Result<const Driver*> load();

  // "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
  [[nodiscard]] std::string explain(DriverResult result) const;
};

// Status of a driver call; `what` was tried.
[[nodiscard]] Status check_driver(const Driver& driver, DriverResult result, const char* what);

}  // namespace kw::cuda
