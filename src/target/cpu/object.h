// Reads a candidate's relocatable object (ELF64, x86-64) and decides whether it may be loaded. In: untrusted
// bytes and the kernel names of the launch record. Out: a code image with everything that linking must still
// fill in, or a Verdict. Called by device before any process is started; never maps or runs the code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/candidate.h"

namespace kw {

// Functions of ours that a kernel may call.
enum class Import { kMemcpy, kMemset };

// A place of the image that holds an address or a distance.
struct Fixup {
  enum class Kind { kAbsolute64, kAbsolute32, kSigned32, kRelative32, kRelative64 };
  Kind kind = Kind::kRelative32;
  uint64_t position = 0;  // in the image
  uint64_t target = 0;    // in the image
  int64_t addend = 0;
};

struct CodeImage {
  std::string bytes;  // sections, then stubs and address table; zero where fixups write
  std::vector<Fixup> fixups;
  std::vector<uint64_t> entries;      // one a kernel name, offsets in the image
  uint64_t import_slots[2] = {0, 0};  // where the addresses of memcpy and memset go; 0 = not used
};

inline constexpr size_t kMaxObjectBytes = size_t{64} << 20;
inline constexpr size_t kMaxCodeBytes = size_t{16} << 20;

// Refusals: illegal/ object_format, writable_static_data, static_initialiser, unknown_section,
// undefined_symbol, ifunc, relocation; launch_error/missing_kernel. The evidence names the section, symbol or
// relocation.
[[nodiscard]] tl::expected<CodeImage, Verdict> parse_object(std::string_view object,
                                                            std::span<const std::string> kernels);

// Writes the image as it must read at address `base` into `out` (at least image.bytes.size() long). Refusal:
// illegal/relocation when a 32-bit field cannot hold its value there.
[[nodiscard]] tl::expected<void, Verdict> link_image(const CodeImage& image, uint64_t base,
                                                     uint64_t memcpy_address, uint64_t memset_address,
                                                     std::span<std::byte> out);

// A verdict before running: class, reason, and one line for people.
[[nodiscard]] tl::unexpected<Verdict> refuse(VerdictClass klass, std::string reason, std::string detail);

}  // namespace kw
