// NVRTC, loaded at run time: kernel text -> cubin. In: text and an architecture. Out: the cubin and the log,
// ptxas' report included. The role `nvrtc` of the program runs it in a process of its own, because the
// compiler is other people's code that reads untrusted text; src/compile starts that process as it starts
// g++.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace kw::cuda {

class Nvrtc {
 public:
  // KERNELWRIGHT_NVRTC, then the usual names and the toolkit's folders. The error says what was looked for.
  [[nodiscard]] static Result<const Nvrtc*> load();

  // "NVRTC 13.0".
  [[nodiscard]] std::string version() const;

  struct Outcome {
    bool ok = false;
    std::string cubin;  // when ok
    std::string log;    // messages of the compiler; with ptxas' report when ok
  };
  // `architecture`: "sm_90a". `options` follow our own (-std=c++17, -default-device, ptxas -v).
  [[nodiscard]] Result<Outcome> compile(const std::string& text, const std::string& architecture,
                                        const std::vector<std::string>& options) const;

 private:
  using ProgramHandle = void*;
  struct Symbols {
    int (*version)(int* major, int* minor);
    int (*create)(ProgramHandle*, const char* text, const char* name, int headers, const char* const* texts,
                  const char* const* names);
    int (*compile)(ProgramHandle, int count, const char* const* options);
    int (*destroy)(ProgramHandle*);
    int (*log_size)(ProgramHandle, size_t*);
    int (*log)(ProgramHandle, char*);
    int (*cubin_size)(ProgramHandle, size_t*);
    int (*cubin)(ProgramHandle, char*);
    const char* (*error_text)(int);
  };
  [[nodiscard]] static Result<Nvrtc> open();
  explicit Nvrtc(const Symbols& symbols) : symbols_(symbols) {}
  Symbols symbols_;
};

// The role: `nvrtc ARCHITECTURE OUT [OPTION...]` reads the text from standard input, writes the cubin to OUT
// and the log to standard error. `nvrtc --version` prints the version. Exit code 0, or 1 with the log.
[[nodiscard]] int run_nvrtc(int argc, char** argv);
inline constexpr const char* kNvrtcArgument = "nvrtc";

}  // namespace kw::cuda
