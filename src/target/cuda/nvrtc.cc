#include "target/cuda/nvrtc.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "base/file.h"

namespace kw::cuda {
namespace {

constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                  "/usr/local/cuda/lib64/libnvrtc.so",
                                  "/usr/local/cuda/targets/x86_64-linux/lib/libnvrtc.so"};

void* open_library() {
  if (const char* wanted = std::getenv("KERNELWRIGHT_NVRTC"); wanted != nullptr && *wanted != '\0')
    return ::dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
  for (const char* name : kNames)
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

std::string read_input() {
  std::string text;
  char block[1 << 16];
  for (size_t got = 0; (got = std::fread(block, 1, sizeof block, stdin)) > 0;) text.append(block, got);
  return text;
}

}  // namespace

Result<Nvrtc> Nvrtc::open() {
  void* library = open_library();
  if (library == nullptr)
    return fail(
        "no NVRTC: libnvrtc.so.13 or .12 cannot be loaded; install the CUDA toolkit or name the library in "
        "KERNELWRIGHT_NVRTC");
  Symbols symbols{};
  const char* missing = nullptr;
  const auto take = [&](auto*& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr) missing = name;
  };
  take(symbols.version, "nvrtcVersion");
  take(symbols.create, "nvrtcCreateProgram");
  take(symbols.compile, "nvrtcCompileProgram");
  take(symbols.destroy, "nvrtcDestroyProgram");
  take(symbols.log_size, "nvrtcGetProgramLogSize");
  take(symbols.log, "nvrtcGetProgramLog");
  take(symbols.cubin_size, "nvrtcGetCUBINSize");
  take(symbols.cubin, "nvrtcGetCUBIN");
  take(symbols.error_text, "nvrtcGetErrorString");
  if (missing != nullptr) return fail("NVRTC has no {}; CUDA 12.4 or newer is needed", missing);
  return Nvrtc(symbols);
}

Result<const Nvrtc*> Nvrtc::load() {
  static const Result<Nvrtc> nvrtc = open();
  if (!nvrtc) return tl::unexpected(nvrtc.error());
  return &*nvrtc;
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  if (symbols_.version(&major, &minor) != 0) return "NVRTC";
  return fmt::format("NVRTC {}.{}", major, minor);
}

Result<Nvrtc::Outcome> Nvrtc::compile(const std::string& text, const std::string& architecture,
                                      const std::vector<std::string>& options) const {
  std::vector<std::string> words = {"--gpu-architecture=" + architecture, "-std=c++17", "-default-device",
                                    "--ptxas-options=-v"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());

  ProgramHandle program = nullptr;
  if (const int code = symbols_.create(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr); code != 0)
    return fail("NVRTC takes no program: {}", symbols_.error_text(code));
  const int code = symbols_.compile(program, static_cast<int>(pointers.size()), pointers.data());
  Outcome outcome;
  size_t size = 0;
  if (symbols_.log_size(program, &size) == 0 && size > 1) {
    outcome.log.resize(size);
    symbols_.log(program, outcome.log.data());
    outcome.log.resize(size - 1);  // its own end mark
  }
  if (code == 0 && symbols_.cubin_size(program, &size) == 0 && size > 0) {
    outcome.cubin.resize(size);
    outcome.ok = symbols_.cubin(program, outcome.cubin.data()) == 0;
  }
  if (!outcome.ok && outcome.log.empty()) outcome.log = symbols_.error_text(code);
  symbols_.destroy(&program);
  return outcome;
}

int run_nvrtc(int argc, char** argv) {
  const auto nvrtc = Nvrtc::load();
  if (!nvrtc) return std::fprintf(stderr, "%s\n", nvrtc.error().message.c_str()), 1;
  if (argc == 1 && std::string(argv[0]) == "--version")
    return std::printf("%s\n", (*nvrtc)->version().c_str()) > 0 ? 0 : 1;
  if (argc < 2) return std::fprintf(stderr, "nvrtc: ARCHITECTURE and OUT are needed\n"), 1;
  const auto outcome = (*nvrtc)->compile(read_input(), argv[0], {argv + 2, argv + argc});
  if (!outcome) return std::fprintf(stderr, "%s\n", outcome.error().message.c_str()), 1;
  std::fprintf(stderr, "%s", outcome->log.c_str());
  if (!outcome->ok) return 1;
  if (const Status written = write_file_atomically(argv[1], outcome->cubin); !written)
    return std::fprintf(stderr, "%s\n", written.error().message.c_str()), 1;
  return 0;
}

}  // namespace kw::cuda
