// A host that misbehaves: full and read-only disks, locked and damaged stores, compilers that flood, sleep or
// lie, no processes, descriptors or memory left. Each is one row of the faults section. In: a battery. Out:
// the line the program gives for it, and which words must be in it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "selftest/battery.h"

namespace kw {

struct HostFault {
  std::string name;
  std::string expected;            // for people
  std::vector<std::string> words;  // all must be in what `run` returns
  std::function<std::string(Battery&)> run;
};

// What `run` returns where this machine does not let the fault be made; counted as skipped.
inline constexpr const char* kCannotInject = "this machine does not allow it";

[[nodiscard]] std::vector<HostFault> list_compiler_faults();
[[nodiscard]] std::vector<HostFault> list_disk_faults();
[[nodiscard]] std::vector<HostFault> list_store_faults();
[[nodiscard]] std::vector<HostFault> list_process_faults();

// A compiler that is a shell script in `folder`: it answers like g++ until it is asked to compile, then does
// what `script` says; "$@" are g++'s arguments.
[[nodiscard]] Result<Compiler> make_script_compiler(const fs::path& folder, const std::string& script,
                                                    CompilePlan plan);
// A right kernel of a text that nothing else compiles.
[[nodiscard]] Source make_host_source(const std::string& mark);
// "compiled", the verdict's code, or the error's line.
[[nodiscard]] std::string describe_compile(const Compiler& compiler, const Source& source);

}  // namespace kw
