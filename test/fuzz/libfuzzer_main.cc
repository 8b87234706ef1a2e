// Entry of a libFuzzer binary: one target, named by the build.
#include <cstddef>
#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kw::fuzz::KW_FUZZ_RUN(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
