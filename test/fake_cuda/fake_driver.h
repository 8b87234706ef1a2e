// What the parts of the fake driver share, and the one function that the fake vendor libraries call. See
// fake_driver.cc.
#pragma once

#include <functional>

#include "target/cuda/driver_abi.h"

namespace kw::fake {

// Numbers of the real driver; those that the program tells apart stand in driver_abi.h.
inline constexpr cuda::DriverResult kInvalidValue = 1, kNotInitialized = 3, kInvalidDevice = 101,
                                    kInvalidHandle = 400, kNotRegistered = 713, kNotSupported = 801,
                                    kCaptureUnsupported = 900, kCaptureInvalidated = 901;

// Device work. The device is the host: it runs in the calling thread, at once or when its graph is started.
using Operation = std::function<void()>;

// Runs an operation or, in a capture, keeps it.
cuda::DriverResult enqueue(cuda::Stream stream, Operation operation);

// The same for what the planned fault counts: kernels, vendor routines, graphs (fake_fault.cc).
cuda::DriverResult launch(cuda::Stream stream, Operation operation);

// kCaptureUnsupported, which also spoils the capture, for a call that may not come while one is open; else
// the fault of the context.
cuda::DriverResult check_idle();

// What the context died of, 0 while it is well: from then on every call gives it.
cuda::DriverResult get_fault();

// A process starts the driver. False where the place to note it cannot be written.
bool note_start();

// A launch is about to run. False where it is the one that is planned to fail: get_fault() then tells.
bool count_launch();

}  // namespace kw::fake

// launch() for other libraries: `run(argument)` every time that the operation runs, `release(argument)` when
// it never will again; also when an error is returned.
extern "C" kw::cuda::DriverResult fake_cuda_launch(kw::cuda::Stream stream, void (*run)(void*),
                                                   void* argument, void (*release)(void*));
