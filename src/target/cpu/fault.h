// Fault handlers of a worker: a crash inside a kernel becomes a FaultRecord and a known exit code. Used by
// worker and its pool threads. Judges nothing; the program reads the record.
#pragma once

#include "target/cpu/channel.h"

namespace kw {

// Handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGSYS of the whole process; the record must outlive it.
void install_fault_handlers(FaultRecord* record);

// Gives the calling thread a stack of its own for handlers, so that a stack overflow can be reported, and the
// slot number to report. `stack` holds kFaultStackBytes and must outlive the thread.
inline constexpr size_t kFaultStackBytes = 64 << 10;
void prepare_thread_for_faults(void* stack, int slot);

}  // namespace kw
