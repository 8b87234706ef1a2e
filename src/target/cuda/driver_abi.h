// The part of the CUDA driver's C interface that we call, declared here so that the program builds without
// the toolkit. Layouts and numbers are fixed by the driver's ABI (CUDA 12.4 and newer); driver_abi_test.cc
// holds them against cuda.h where that header is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kw::cuda {

using DriverResult = int;  // 0 = success
using DeviceHandle = int;
using DevicePointer = uint64_t;
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct EventTag;
struct GraphTag;
struct GraphExecTag;
using Context = ContextTag*;
using Module = ModuleTag*;
using Function = FunctionTag*;
using Stream = StreamTag*;
using Event = EventTag*;
using Graph = GraphTag*;
using GraphExec = GraphExecTag*;

enum DeviceAttribute {
  kMaxSharedBytesPerBlock = 97,  // with opt-in
  kMultiprocessors = 16,
  kClockKhz = 13,
  kL2Bytes = 38,
  kComputeMajor = 75,
  kComputeMinor = 76,
};

enum FunctionAttribute {
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicSharedBytes = 8,
  kFunctionCarveout = 9,
  kFunctionNonPortableCluster = 14,
};

enum LaunchAttributeId { kClusterDimension = 4, kProgrammaticSerialization = 6 };

union LaunchAttributeValue {
  char pad[64];
  struct {
    unsigned x, y, z;
  } cluster;
  int flag;
};

struct LaunchAttribute {
  int id = 0;
  char pad[4] = {};
  LaunchAttributeValue value = {};
};

struct LaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

struct alignas(64) EncodedTensorMap {
  uint64_t opaque[16] = {};
};

// Device memory mapped into reserved addresses.
struct MemoryLocation {
  int type = 1, id = 0;  // a device
};
struct AllocationProperties {
  int type = 1;  // pinned
  int handle_types = 0;
  MemoryLocation location;
  void* metadata = nullptr;
  unsigned char flags[8] = {};
};
struct AccessDescriptor {
  MemoryLocation location;
  int flags = 3;  // read and write
};
using AllocationHandle = unsigned long long;

enum TensorType { kTensorF16 = 6, kTensorF32 = 7, kTensorF64 = 8, kTensorBf16 = 9 };
enum TensorSwizzle { kSwizzleNone = 0, kSwizzle32 = 1, kSwizzle64 = 2, kSwizzle128 = 3 };
inline constexpr int kL2Promotion256 = 3;

// Results that we tell apart.
inline constexpr DriverResult kErrorIllegalInstruction = 715, kErrorMisalignedAddress = 716,
                              kErrorIllegalAddress = 700, kErrorLaunchTimeout = 702, kErrorLaunchFailed = 719,
                              kErrorOutOfMemory = 2, kErrorHardwareStack = 714, kErrorInvalidPc = 718,
                              kErrorInvalidAddressSpace = 717, kErrorNoBinaryForGpu = 209,
                              kErrorInvalidImage = 200, kErrorNotFound = 500, kErrorAssert = 710,
                              kErrorUnknown = 999;

inline constexpr unsigned kStreamNonBlocking = 1, kCaptureThreadLocal = 1, kRegisterPortable = 1;

}  // namespace kw::cuda
