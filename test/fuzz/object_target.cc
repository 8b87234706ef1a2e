// Object file: what is accepted links inside its image at any address; what is refused says why in plain
// text.
#include <array>
#include <vector>

#include "base/check.h"
#include "target.h"
#include "target/cpu/object.h"

namespace kw::fuzz {
namespace {

constexpr uint64_t kUserSpaceEnd = uint64_t{1} << 47;
constexpr std::array<uint64_t, 4> kBases = {0x1000, 0x7fff'f000, 0x7f00'0000'0000,
                                            kUserSpaceEnd - (32 << 20)};

void demand_readable(const Verdict& verdict) {
  KW_CHECK(!verdict.passed() && !verdict.reason.empty(), "{}", verdict.code());
  demand_text(verdict.evidence.dump(), kMaxPrintedBytes);
}

}  // namespace

void run_object(std::string_view input) {
  const std::vector<std::string> kernels = {"kernel"};
  const auto image = parse_object(input, kernels);
  if (!image) return demand_readable(image.error());
  KW_CHECK(image->bytes.size() <= 2 * kMaxCodeBytes, "{} bytes", image->bytes.size());
  KW_CHECK(image->entries.size() == 1 && image->entries[0] < image->bytes.size(), "entry outside the image");
  for (const Fixup& fixup : image->fixups)
    KW_CHECK(fixup.position < image->bytes.size() && fixup.target <= image->bytes.size(),
             "fixup {} to {} of {}", fixup.position, fixup.target, image->bytes.size());
  std::vector<std::byte> out(image->bytes.size());
  for (const uint64_t base : kBases)
    if (const auto linked = link_image(*image, base, base + 1, kUserSpaceEnd - 1, out); !linked)
      demand_readable(linked.error());
}

}  // namespace kw::fuzz
