// Links a code image for the address at which a worker has mapped it.
#include <cstring>
#include <limits>

#include "base/check.h"
#include "target/cpu/object.h"

namespace kw {
namespace {

template <class T>
void store(std::span<std::byte> out, uint64_t position, T value) {
  KW_CHECK(position + sizeof(T) <= out.size(), "fixup at {} of {}", position, out.size());
  std::memcpy(out.data() + position, &value, sizeof(T));
}

template <class T>
bool store_if_fits(std::span<std::byte> out, uint64_t position, __int128 value) {
  const bool fits = value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  if (fits) store(out, position, static_cast<T>(value));
  return fits;
}

bool apply(const Fixup& fixup, uint64_t base, std::span<std::byte> out) {
  const __int128 value = static_cast<__int128>(base + fixup.target) + fixup.addend;
  const __int128 distance = value - static_cast<__int128>(base + fixup.position);
  switch (fixup.kind) {
    case Fixup::Kind::kAbsolute64:
      store(out, fixup.position, static_cast<uint64_t>(value));
      return true;
    case Fixup::Kind::kAbsolute32:
      return store_if_fits<uint32_t>(out, fixup.position, value);
    case Fixup::Kind::kSigned32:
      return store_if_fits<int32_t>(out, fixup.position, value);
    case Fixup::Kind::kRelative32:
      return store_if_fits<int32_t>(out, fixup.position, distance);
    case Fixup::Kind::kRelative64:
      store(out, fixup.position, static_cast<uint64_t>(distance));
      return true;
  }
  return false;
}

}  // namespace

tl::expected<void, Verdict> link_image(const CodeImage& image, uint64_t base, uint64_t memcpy_address,
                                       uint64_t memset_address, std::span<std::byte> out) {
  KW_CHECK(out.size() >= image.bytes.size(), "{} bytes for an image of {}", out.size(), image.bytes.size());
  std::memcpy(out.data(), image.bytes.data(), image.bytes.size());
  const uint64_t addresses[] = {memcpy_address, memset_address};
  for (size_t i = 0; i < 2; ++i)
    if (image.import_slots[i] != 0) store(out, image.import_slots[i], addresses[i]);
  for (const Fixup& fixup : image.fixups)
    if (!apply(fixup, base, out))
      return refuse(VerdictClass::kIllegal, "relocation",
                    fmt::format("the value for offset {:#x} does not fit its 32 bits", fixup.position));
  return {};
}

}  // namespace kw
