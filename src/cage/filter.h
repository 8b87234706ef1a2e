// The system-call filter that a worker closes behind itself. In: which kind of code will run, where it lies.
// Called by the worker program after everything is mapped and all threads run. Does not handle the SIGSYS it
// causes.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace kw {

// For untrusted code: only receive and send on `channel`, futex and exit_group remain, and no system-call
// instruction inside [code_begin, code_end) works, whatever its number. A refused call raises SIGSYS with the
// number in si_syscall. Holds for all threads. The processor's store-bypass mitigation is left as it was, so
// that filtered and unfiltered workers run at the same speed.
[[nodiscard]] Status close_for_untrusted(int channel, uint64_t code_begin, uint64_t code_end);

// For vendor routines, which may map memory and start threads: new sockets, programs and tracing fail with
// EPERM.
[[nodiscard]] Status close_for_vendor();

// "socket"; "system call 9999" for a number that has no name here.
[[nodiscard]] std::string print_system_call(int number);

}  // namespace kw
